//! Ground rules 1 to 7: which files a plan's directory may contain. Pure functions over names and
//! one text.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::phase::TaskId;
use crate::hidden;

/// What the shell found in a plan's directory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Directory<'a> {
    /// The Markdown files directly in it, sorted.
    pub names: &'a [String],
    pub nested: Nested,
    /// The text of `tasks.md`, if it exists.
    pub tasks: Option<&'a str>,
}

/// Is there Markdown below the directory?
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Nested {
    #[default]
    Nothing,
    Markdown,
}

/// Every rule that the directory breaks, in the order of the rules.
pub fn violations(directory: Directory<'_>) -> Vec<String> {
    let has = |name: &str| directory.names.iter().any(|held| held == name);
    let kinds: Vec<(&String, Kind)> = directory
        .names
        .iter()
        .map(|name| (name, Kind::of(name)))
        .collect();
    let mut broken = Vec::new();
    if !has("plan.md") {
        broken.push("Missing required file: plan.md".to_string());
    }
    for (name, kind) in &kinds {
        if *kind == Kind::Other {
            broken.push(format!("Invalid filename: {}", hidden::name(name)));
        }
    }
    if directory.nested == Nested::Markdown {
        broken.push("Files found in nested directories".to_string());
    }
    for (name, kind) in &kinds {
        if let Kind::Review { of, .. } = kind
            && let Some(base) = of.base_file()
            && !has(base)
        {
            broken.push(format!("{} requires {base}", hidden::name(name)));
        }
    }
    for (name, kind) in &kinds {
        if let Kind::PostReview { of, number } = kind {
            let review = format!("{}-review-{number}.md", of.stem());
            if !has(&review) {
                broken.push(format!("{} requires {review}", hidden::name(name)));
            }
        }
    }
    if !has("tasks.md") && directory.names.iter().any(|name| name.starts_with("task-")) {
        broken.push("Task files exist but tasks.md is missing".to_string());
    }
    if let Some(text) = directory.tasks {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let (mut rows, mut prose) = (false, false);
        for line in lines {
            if line.starts_with('|') {
                rows = true;
            } else {
                prose = true;
            }
        }
        if prose {
            broken.push("tasks.md contains non-table content".to_string());
        }
        if !rows {
            broken.push("tasks.md has no table rows".to_string());
        }
    }
    broken
}

/// That no rule is broken.
pub fn approval(plan: &str) -> String {
    format!("Plan '{plan}' structure validated successfully")
}

/// All violations, as the agent reads them.
pub fn complaint(plan: &str, violations: &[String]) -> String {
    format!("Plan '{plan}': {}", violations.join("; "))
}

/// What a file name of a plan means.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Document,
    Task,
    Review { of: Subject, number: String },
    PostReview { of: Subject, number: String },
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Subject {
    Plan,
    Design,
    Tasks,
    AllCode,
    /// Written by later public versions. We accept it and never write it.
    Code,
    Task(TaskId),
}

impl Kind {
    fn of(name: &str) -> Self {
        let Some(stem) = name.strip_suffix(".md") else {
            return Self::Other;
        };
        if let "plan" | "design" | "tasks" = stem {
            return Self::Document;
        }
        let (front, number) = stem.split_at(stem.trim_end_matches(is_digit).len());
        if !number.is_empty()
            && let Some(subject) = front.strip_suffix("-review-")
        {
            let number = number.to_owned();
            if let Some(of) = subject.strip_suffix("-post").and_then(Subject::of) {
                return Self::PostReview { of, number };
            }
            if let Some(of) = Subject::of(subject) {
                return Self::Review { of, number };
            }
        }
        match stem.strip_prefix("task-").and_then(TaskId::parse) {
            Some(_) => Self::Task,
            None => Self::Other,
        }
    }
}

fn is_digit(letter: char) -> bool {
    letter.is_ascii_digit()
}

impl Subject {
    /// What `plan-review-3` is about: the part before `-review-`.
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "plan" => Self::Plan,
            "design" => Self::Design,
            "tasks" => Self::Tasks,
            "all-code" => Self::AllCode,
            "code" => Self::Code,
            other => Self::Task(TaskId::parse(other.strip_prefix("task-")?)?),
        })
    }

    /// The file that a review of it requires.
    const fn base_file(&self) -> Option<&'static str> {
        match self {
            Self::Plan => Some("plan.md"),
            Self::Design => Some("design.md"),
            Self::Tasks => Some("tasks.md"),
            Self::AllCode | Self::Code | Self::Task(_) => None,
        }
    }

    fn stem(&self) -> String {
        match self {
            Self::Plan => "plan".to_owned(),
            Self::Design => "design".to_owned(),
            Self::Tasks => "tasks".to_owned(),
            Self::AllCode => "all-code".to_owned(),
            Self::Code => "code".to_owned(),
            Self::Task(id) => format!("task-{id}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    const TABLE: &str = "| Id | Status |\n|----|--------|\n| 1 | pending |\n";

    fn broken(names: &[&str], tasks: Option<&str>) -> Vec<String> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        violations(Directory {
            names: &names,
            nested: Nested::Nothing,
            tasks,
        })
    }

    #[test]
    fn suite_1_6_a_valid_plan_breaks_nothing() {
        assert!(broken(&["plan.md", "tasks.md"], Some(TABLE)).is_empty());
    }

    #[test]
    fn suite_1_7_no_plan_and_a_stray_file() {
        assert_eq!(
            broken(&["invalid-file.md"], None),
            [
                "Missing required file: plan.md",
                "Invalid filename: invalid-file.md"
            ]
        );
    }

    #[test]
    fn suite_1_8_nested_markdown() {
        let directory = Directory {
            names: &["plan.md".to_string()],
            nested: Nested::Markdown,
            tasks: None,
        };
        assert_eq!(violations(directory), ["Files found in nested directories"]);
    }

    #[test]
    fn suite_1_9_a_review_without_its_base() {
        assert_eq!(
            broken(&["plan.md", "design-review-1.md"], None),
            ["design-review-1.md requires design.md"]
        );
        assert_eq!(
            broken(&["plan.md", "tasks-review-2.md"], None),
            ["tasks-review-2.md requires tasks.md"]
        );
    }

    #[test]
    fn suite_1_10_a_post_review_without_its_review() {
        let names = [
            "all-code-post-review-1.md",
            "plan-post-review-1.md",
            "plan.md",
            "task-3-post-review-2.md",
            "tasks.md",
        ];
        assert_eq!(
            broken(&names, Some(TABLE)),
            [
                "all-code-post-review-1.md requires all-code-review-1.md",
                "plan-post-review-1.md requires plan-review-1.md",
                "task-3-post-review-2.md requires task-3-review-2.md",
            ]
        );
    }

    #[test]
    fn suite_1_11_tasks_without_a_table() {
        assert_eq!(
            broken(&["plan.md", "task-1.md"], None),
            ["Task files exist but tasks.md is missing"]
        );
    }

    #[test]
    fn suite_1_12_prose_in_tasks_md() {
        let prose = format!("{TABLE}\nand some words\n");
        assert_eq!(
            broken(&["plan.md", "tasks.md"], Some(&prose)),
            ["tasks.md contains non-table content"]
        );
    }

    #[test]
    fn suite_1_13_an_empty_tasks_md() {
        assert_eq!(
            broken(&["plan.md", "tasks.md"], Some(" \r\n")),
            ["tasks.md has no table rows"]
        );
    }

    #[test]
    fn carriage_returns_and_spaces_are_no_content() {
        let table = "  | Id | Status |  \r\n\t|--|--|\r\n\r\n| 1 | done |\r\n";
        assert!(broken(&["plan.md", "tasks.md"], Some(table)).is_empty());
    }

    #[test]
    fn every_name_of_the_rules_is_valid_and_others_are_not() {
        let valid = [
            "all-code-post-review-1.md",
            "all-code-review-1.md",
            "code-review-1.md",
            "design-post-review-1.md",
            "design-review-1.md",
            "design.md",
            "plan-post-review-1.md",
            "plan-review-1.md",
            "plan.md",
            "task-1-code-review-1.md",
            "task-1-post-review-1.md",
            "task-1-review-1.md",
            "task-1.md",
            "task-A_b-2.md",
            "tasks-post-review-1.md",
            "tasks-review-1.md",
            "tasks.md",
        ];
        assert!(broken(&valid, Some(TABLE)).is_empty());
        for name in [
            "plan-review.md",
            "plan-review-.md",
            "plan-review-x.md",
            "planreview-1.md",
            "review-1.md",
            "task-.md",
            "task-a b.md",
            "notes.md",
            "PLAN.md",
            "all-code.md",
        ] {
            assert!(
                broken(&["plan.md", name, "tasks.md"], Some(TABLE))
                    .contains(&format!("Invalid filename: {name}")),
                "{name}"
            );
        }
    }

    #[test]
    fn a_name_is_on_one_line_and_quoted_if_it_could_be_taken_for_more() {
        let found = broken(&["plan.md", "x\n\nmainspring: PASS.md"], None);
        assert_eq!(
            found,
            ["Invalid filename: \"x\\u000a\\u000amainspring: PASS.md\""]
        );
    }

    #[test]
    fn all_violations_are_one_message() {
        let message = complaint("review-of-reviews", &broken(&["x.md"], None));
        assert_eq!(
            message,
            "Plan 'review-of-reviews': Missing required file: plan.md; Invalid filename: x.md"
        );
    }
}
