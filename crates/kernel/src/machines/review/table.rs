//! Reads `tasks.md` and a task's file.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize, Serializer};

use super::phase::TaskId;

/// `tasks.md`, reduced to what decisions need.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Tasks {
    pub rows: Vec<Row>,
}

/// A record contains every row of the table at every stop, so a row is stored as a pair without
/// field names.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(from = "(TaskId, Status)")]
pub struct Row {
    pub id: TaskId,
    pub status: Status,
}

impl From<(TaskId, Status)> for Row {
    fn from((id, status): (TaskId, Status)) -> Self {
        Self { id, status }
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.id, self.status).serialize(serializer)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    Pending,
    InProgress,
    Done,
    Cancelled,
    Postponed,
    /// An unknown status: the task counts as unfinished.
    Unknown,
}

/// How a table may spell the statuses.
const WORDS: [(&str, Status); 8] = [
    ("pending", Status::Pending),
    ("in-progress", Status::InProgress),
    ("in progress", Status::InProgress),
    ("done", Status::Done),
    ("completed", Status::Done),
    ("cancelled", Status::Cancelled),
    ("canceled", Status::Cancelled),
    ("postponed", Status::Postponed),
];

impl Status {
    fn parse(text: &str) -> Self {
        WORDS
            .iter()
            .find(|(word, _)| text.eq_ignore_ascii_case(word))
            .map_or(Self::Unknown, |(_, status)| *status)
    }

    const fn is_open(self) -> bool {
        match self {
            Self::Pending | Self::InProgress | Self::Unknown => true,
            Self::Done | Self::Cancelled | Self::Postponed => false,
        }
    }
}

impl Tasks {
    /// The rows below the header. Id and status are the columns that the header calls so, or
    /// else the first two.
    pub fn parse(text: &str) -> Self {
        let mut lines = text
            .lines()
            .map(|line| line.trim_ascii_start().trim_start())
            .filter(|line| line.starts_with('|'));
        let columns = lines.next().map_or(Columns::FIRST, Columns::of);
        let rows = lines
            .filter(|line| !is_rule(line))
            .filter_map(|line| row(line, columns))
            .collect();
        Self { rows }
    }

    /// The tasks whose files a reviewer gets: those with a number.
    pub fn numbered(&self) -> impl Iterator<Item = &TaskId> {
        self.rows
            .iter()
            .map(|row| &row.id)
            .filter(|id| id.is_number())
    }

    /// Is it a task of the plan? Without a table, nobody knows.
    pub fn may_have(&self, task: &TaskId) -> bool {
        self.rows.is_empty() || self.rows.iter().any(|row| row.id == *task)
    }

    /// Is anything left to do besides the current task?
    pub fn remain_beside(&self, current: Option<&TaskId>) -> bool {
        self.open_beside(current).next().is_some()
    }

    /// What is left to do besides the current task.
    pub fn open_beside<'a>(
        &'a self,
        current: Option<&'a TaskId>,
    ) -> impl Iterator<Item = &'a TaskId> {
        let open = move |row: &&Row| Some(&row.id) != current && row.status.is_open();
        self.rows.iter().filter(open).map(|row| &row.id)
    }

    /// The tasks that are done.
    pub fn done(&self) -> impl Iterator<Item = &TaskId> {
        let done = |row: &&Row| row.status == Status::Done;
        self.rows.iter().filter(done).map(|row| &row.id)
    }

    /// Was something built, and is nothing left to build?
    pub fn are_finished(&self) -> bool {
        self.done().next().is_some() && !self.remain_beside(None)
    }

    /// The task to continue with: the one in progress, or else the first pending one.
    pub fn next(&self) -> Option<&Row> {
        let with = |status| self.rows.iter().find(move |row| row.status == status);
        with(Status::InProgress)
            .or_else(|| with(Status::Pending))
            .or_else(|| with(Status::Unknown))
    }
}

/// Where a table has the id and the status of a task.
#[derive(Debug, Clone, Copy)]
struct Columns {
    id: usize,
    status: usize,
}

impl Columns {
    const FIRST: Self = Self { id: 0, status: 1 };

    fn of(header: &str) -> Self {
        let find = |name: &str| cells(header).position(|cell| cell.eq_ignore_ascii_case(name));
        match (find("id"), find("status")) {
            (id, Some(status)) if id != Some(status) => Self {
                id: id.unwrap_or(0),
                status,
            },
            _ => Self::FIRST,
        }
    }
}

fn row(line: &str, columns: Columns) -> Option<Row> {
    let cell = |at| cells(line).nth(at);
    Some(Row {
        id: TaskId::parse(link_text(cell(columns.id)?))?,
        status: Status::parse(words(cell(columns.status).unwrap_or_default())),
    })
}

/// `[1](task-1.md)` is 1.
fn link_text(cell: &str) -> &str {
    let text = cell.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    text.map_or(cell, |(text, _)| bare(text))
}

/// A status without the signs around it: `✅ done` is done.
fn words(cell: &str) -> &str {
    cell.trim_matches(|c: char| !c.is_alphanumeric())
}

/// `|---|:--:|`: the line between header and rows.
fn is_rule(line: &str) -> bool {
    line.bytes()
        .all(|byte| matches!(byte, b'|' | b'-' | b':' | b' ' | b'\t'))
}

fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.strip_prefix('|').unwrap_or(line).split('|').map(bare)
}

/// A cell without surrounding blanks and marks.
fn bare(cell: &str) -> &str {
    // A table may have many cells, and most contain only blanks and plain letters.
    let cell = cell.trim_ascii();
    let is_plain = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    if is_plain(cell.as_bytes().first()) && is_plain(cell.as_bytes().last()) {
        return cell;
    }
    cell.trim().trim_matches(['`', '*']).trim()
}

/// How far the task is, according to its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subtasks {
    /// There is no such file, or it names no subtask.
    Unknown,
    Open,
    /// Every subtask is built; reviews may follow.
    Built,
}

impl Subtasks {
    /// Looks at `Status:` lines, at table cells that are a status, and at check boxes.
    pub fn parse(text: &str) -> Self {
        let (mut open, mut built) = (false, false);
        for line in text.lines() {
            match subtask(line.trim()) {
                Self::Unknown => {}
                Self::Open => open = true,
                Self::Built => built = true,
            }
        }
        match (open, built) {
            (true, _) => Self::Open,
            (false, true) => Self::Built,
            (false, false) => Self::Unknown,
        }
    }
}

fn subtask(line: &str) -> Subtasks {
    if line.starts_with('|') {
        return cells(line)
            .map(status_word)
            .find(|status| *status != Subtasks::Unknown)
            .unwrap_or(Subtasks::Unknown);
    }
    let item = line.trim_start_matches(['-', '*', '+', ' ']);
    match item.get(..3) {
        Some("[ ]") => return Subtasks::Open,
        Some("[x]" | "[X]") => return Subtasks::Built,
        _ => {}
    }
    let Some((key, value)) = item.split_once(':') else {
        return Subtasks::Unknown;
    };
    let bare = |text: &str| {
        text.trim()
            .trim_matches(['*', '_', '`'])
            .trim()
            .to_ascii_lowercase()
    };
    if bare(key) != "status" {
        return Subtasks::Unknown;
    }
    match status_word(&bare(value)) {
        Subtasks::Unknown => Subtasks::Open,
        known => known,
    }
}

fn status_word(text: &str) -> Subtasks {
    match text.to_ascii_lowercase().as_str() {
        "pending" | "in-progress" | "in progress" | "review-changes-requested" => Subtasks::Open,
        "completed" | "complete" | "done" | "postponed" | "cancelled" | "awaiting-review" => {
            Subtasks::Built
        }
        _ => Subtasks::Unknown,
    }
}

/// How far `plan.md` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Document {
    Missing,
    /// Half-written.
    Partial,
    Whole,
}

impl Document {
    /// A plan has an overview, or is long.
    const LONG: usize = 50;

    pub fn of_plan(text: Option<&str>) -> Self {
        let Some(text) = text else {
            return Self::Missing;
        };
        let overview = text
            .lines()
            .any(|line| line.trim_end().eq_ignore_ascii_case("## overview"));
        if overview || text.lines().count() > Self::LONG {
            Self::Whole
        } else {
            Self::Partial
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TABLE: &str = "\
| Id | Status | Priority | Description | Test strategy |\r
|----|:------:|----------|-------------|---------------|\r
| 1  | done | high | first | unit |\r
| 2 | In-Progress | low | second | unit |
  | `3` | pending | low | | |
| x y | pending | bad id | | |
| later-1 | postponed | low | | |
| 9 | ??? | low | | |
";

    fn id(text: &str) -> TaskId {
        TaskId::parse(text).expect("an id")
    }

    #[test]
    fn rows_are_read_below_the_header() {
        let tasks = Tasks::parse(TABLE);
        let rows: Vec<(&str, Status)> = tasks
            .rows
            .iter()
            .map(|row| (row.id.as_str(), row.status))
            .collect();
        assert_eq!(
            rows,
            [
                ("1", Status::Done),
                ("2", Status::InProgress),
                ("3", Status::Pending),
                ("later-1", Status::Postponed),
                ("9", Status::Unknown),
            ]
        );
        let numbered: Vec<&str> = tasks.numbered().map(TaskId::as_str).collect();
        assert_eq!(numbered, ["1", "2", "3", "9"]);
    }

    #[test]
    fn what_remains_is_open_and_not_the_current_task() {
        let table = |rows: &str| Tasks::parse(&["| Id | Status |\n|--|--|\n", rows].concat());
        let current = id("1");
        for (rows, remain) in [
            ("| 1 | pending |", false),
            ("| 1 | done |\n| 2 | done |", false),
            ("| 1 | done |\n| 2 | cancelled |\n| 3 | postponed |", false),
            ("| 1 | done |\n| 2 | pending |", true),
            ("| 1 | done |\n| 2 | in-progress |", true),
            ("| 1 | done |\n| 2 | half done |", true),
        ] {
            assert_eq!(table(rows).remain_beside(Some(&current)), remain, "{rows}");
        }
        assert!(table("| 1 | pending |").remain_beside(None));
    }

    #[test]
    fn subtasks_are_built_when_none_is_open() {
        for (text, expected) in [
            ("# Task\nwords only", Subtasks::Unknown),
            (
                "- **Status**: pending\n- **Status**: completed",
                Subtasks::Open,
            ),
            (
                "- **Status**: completed\n- **Status**: awaiting-review",
                Subtasks::Built,
            ),
            ("Status: `review-changes-requested`", Subtasks::Open),
            ("- Status: nearly", Subtasks::Open),
            (
                "| 1.1 | completed | x |\n| 1.2 | postponed | y |",
                Subtasks::Built,
            ),
            ("| 1.1 | completed |\n| 1.2 | pending |", Subtasks::Open),
            ("- [x] one\n- [ ] two", Subtasks::Open),
            ("- [x] one\n* [X] two", Subtasks::Built),
        ] {
            assert_eq!(Subtasks::parse(text), expected, "{text}");
        }
    }

    #[test]
    fn a_plan_is_whole_with_an_overview_or_fifty_lines() {
        assert_eq!(Document::of_plan(None), Document::Missing);
        assert_eq!(Document::of_plan(Some("# Plan\n")), Document::Partial);
        assert_eq!(
            Document::of_plan(Some("# Plan\n## Overview\n")),
            Document::Whole
        );
        assert_eq!(
            Document::of_plan(Some(&"line\n".repeat(50))),
            Document::Partial
        );
        assert_eq!(
            Document::of_plan(Some(&"line\n".repeat(51))),
            Document::Whole
        );
    }

    proptest! {
        #[test]
        fn garbage_is_read_without_a_panic(text in "\\PC*|([|\\-: \nx1\\[\\]*]{0,200})") {
            let tasks = Tasks::parse(&text);
            prop_assert!(tasks.rows.len() <= text.lines().count());
            let _ = Subtasks::parse(&text);
        }
    }
}
