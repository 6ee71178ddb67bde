//! `mainspring tasks validate`: every problem of a skill's list, with line and column.

use std::collections::BTreeSet;
use std::path::Path;

use mainspring_kernel::machines::tasks::advice::{Advice, advise};
use mainspring_kernel::machines::tasks::check::{List, check};
use mainspring_kernel::machines::tasks::draft::{Key, Row};
use mainspring_store::{ShownPath as _, atomic};

use super::file;
use super::spans::{self, Element};
use crate::command::{CommandContext, Result};
use crate::error::CliError;
use crate::hosts::text::excerpt;
use crate::limits;
use crate::machines::tasks::FILE;
use crate::machines::tasks::source::{Fault, Source};

pub(super) fn run(cmd: &CommandContext, path: &Path) -> Result {
    let path = file(cmd, path);
    let parsed = Source::read(&path).and_then(|bytes| {
        let source = Source::parse(&path, &bytes)?;
        Ok((bytes, source))
    });
    let (bytes, source) = match parsed {
        Ok(parsed) => parsed,
        Err(Fault::File(cause)) => {
            return Err(
                CliError::damaged(cause).hint(format!("name a skill's folder, or its {FILE}"))
            );
        }
        Err(Fault::Tasks(_)) => return Err(CliError::new("internal: checked too early")),
    };
    let report = Report {
        path: path.shown(),
        text: String::from_utf8_lossy(&bytes).into_owned(),
    };
    let elements = spans::elements(&report.text);
    let rows = source.rows();
    match check(&rows) {
        Err(problems) => {
            let lines: Vec<String> = problems
                .iter()
                .map(|problem| {
                    let at = place(&elements, problem.task - 1, problem.key);
                    report.line(at, &format!("error: {problem}"))
                })
                .collect();
            let count = problems.len();
            Err(CliError::damaged(format!(
                "{count} problems\n{}",
                lines.join("\n")
            )))
        }
        Ok(list) => {
            let mut lines = warnings(&report, &elements, &rows, &list);
            lines.extend(skill_text(&path));
            let tasks = list.items.len();
            let mut out = match lines.len() {
                0 => format!("{}: {tasks} tasks, nothing to warn about\n", report.path),
                count => format!("{}: {tasks} tasks, {count} warnings\n", report.path),
            };
            for line in lines {
                out += &line;
                out.push('\n');
            }
            Ok(out)
        }
    }
}

struct Report {
    path: String,
    text: String,
}

impl Report {
    fn line(&self, at: usize, said: &str) -> String {
        let (line, column) = spans::place(&self.text, at);
        format!("{}:{line}:{column}: {said}", self.path)
    }
}

/// Where a field is; if it is not there, where its task is.
fn place(elements: &[Element], index: usize, key: Option<Key>) -> usize {
    let Some(element) = elements.get(index) else {
        return 0;
    };
    let field = element
        .fields
        .iter()
        .rfind(|(name, _)| key.is_some_and(|key| key.as_str() == name));
    field.map_or(element.at, |(_, at)| *at)
}

fn warnings(report: &Report, elements: &[Element], rows: &[Row], list: &List) -> Vec<String> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let index = |local: u64| list.items.iter().position(|item| item.local == local);
    for advice in advise(list) {
        let (about, key, said) = match advice {
            Advice::Circle(ids) => {
                let first = ids.first().copied().unwrap_or_default();
                let way = ids.iter().chain([&first]).map(|id| format!("id {id}"));
                let way = way.collect::<Vec<_>>().join(" waits for ");
                (
                    first,
                    Key::BlockedBy,
                    format!("{way}: none of them can start"),
                )
            }
            Advice::Unreachable(id) => (
                id,
                Key::BlockedBy,
                format!("id {id} can never start: it waits for tasks that wait for each other"),
            ),
        };
        let at = place(elements, index(about).unwrap_or(0), Some(key));
        found.push((at, said));
    }
    for (element, row) in elements.iter().zip(rows) {
        let mut seen = BTreeSet::new();
        for (name, at) in &element.fields {
            if !seen.insert(name) {
                found.push((*at, format!("'{name}' appears twice: the last one counts")));
            }
            found.extend(unknown(name).map(|said| (*at, said)));
        }
        if let Row::Task(draft) = row
            && draft
                .description
                .given()
                .is_none_or(|text| text.trim().is_empty())
        {
            let id = draft.id.given().copied().unwrap_or_default();
            found.push((element.at, format!("id {id} has no description")));
        }
    }
    found.sort();
    let line = |(at, said): (usize, String)| report.line(at, &format!("warning: {said}"));
    found.into_iter().map(line).collect()
}

/// What to say about a field that a list does not have. It is kept, but nothing reads it.
fn unknown(name: &str) -> Option<String> {
    let mut known = Key::ALL.into_iter().map(Key::as_str);
    if known.any(|known| known == name) {
        return None;
    }
    let near = Key::ALL
        .into_iter()
        .map(|key| (distance(name, key.as_str()), key.as_str()))
        .min()
        .filter(|(distance, known)| *distance <= known.len() / 3 + 1);
    let shown = excerpt(name);
    Some(match near {
        Some((_, known)) => format!("'{shown}' is no field of a task: is '{known}' meant?"),
        None => format!("'{shown}' is no field of a task: it is kept, but nothing reads it"),
    })
}

/// How many characters must be added, removed or replaced to turn one name into the other; case
/// and dashes do not matter.
fn distance(one: &str, other: &str) -> usize {
    let plain = |text: &str| -> Vec<char> {
        let chars = text.chars().filter(|c| !matches!(c, '_' | '-' | ' '));
        chars.take(40).map(|c| c.to_ascii_lowercase()).collect()
    };
    let (one, other) = (plain(one), plain(other));
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, left) in one.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], at + 1);
        for (index, right) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(left != right);
            diagonal = row[index + 1];
            row[index + 1] = replaced.min(diagonal + 1).min(row[index] + 1);
        }
    }
    row[other.len()]
}

/// The agent works from the skill's text. If that mentions the file, the agent reads it too.
fn skill_text(path: &Path) -> Vec<String> {
    let beside = path.with_file_name("SKILL.md");
    let text = atomic::read_text(&beside, limits::STATE_FILE);
    let text = text.ok().flatten().unwrap_or_default();
    let lines = text.lines().enumerate();
    lines
        .filter(|(_, line)| line.contains(FILE))
        .map(|(at, _)| {
            let path = beside.shown();
            format!(
                "{path}:{}:1: warning: mentions {FILE}: the agent would read it, and fill its context",
                at + 1
            )
        })
        .collect()
}
