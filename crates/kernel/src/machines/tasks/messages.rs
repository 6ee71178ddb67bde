//! What the agent is told.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write as _;

use super::check::{List, Problem};
use super::draft::Status;
use super::task_list::{Entry, Source, TaskList};

/// The longest text for a list. `mainspring tasks list` shows the rest.
const MOST_TOLD: usize = 6_000;
/// Further problems are only counted.
pub const MOST_PROBLEMS: usize = 100;

/// The list as text, for an agent whose client does not show it.
pub fn laid_out(skill: &str, list: &List, after: &TaskList) -> String {
    // The new entries are in the list's own order.
    let new = |entry: &&Entry| entry.source != Source::Found;
    let laid_out: Vec<(&Entry, &str)> = after
        .tasks
        .iter()
        .filter(new)
        .zip(list.items.iter().map(|item| item.subject.as_str()))
        .collect();
    let mut text = match laid_out.len() {
        0 => return format!("The skill '{skill}' emptied its task list."),
        1 => format!("The skill '{skill}' laid out 1 task:\n"),
        count => format!("The skill '{skill}' laid out {count} tasks, in this order:\n"),
    };
    for (told, (entry, subject)) in laid_out.iter().enumerate() {
        let line = line(entry, subject);
        if text.len() + line.len() > MOST_TOLD {
            let rest = laid_out.len() - told;
            let _ = writeln!(text, "… and {rest} more: `mainspring tasks list`");
            break;
        }
        text.push_str(&line);
    }
    text.push_str(
        "Work through them and keep the list as you go. If you have no task tools: \
         `mainspring tasks next` shows what can start now, `mainspring tasks start ID` and \
         `mainspring tasks done ID` move a task.",
    );
    text
}

fn line(entry: &Entry, subject: &str) -> String {
    let mut line = format!("#{} {subject}", entry.id);
    if entry.status != Status::Pending {
        let _ = write!(line, " [{}]", entry.status.as_str());
    }
    if !entry.blocked_by.is_empty() {
        let _ = write!(line, " (after {})", numbers(&entry.blocked_by));
    }
    line.push('\n');
    line
}

/// `#1, #2`.
pub fn numbers(ids: &[u64]) -> String {
    let ids: Vec<String> = ids.iter().map(|id| format!("#{id}")).collect();
    ids.join(", ")
}

/// The first line of the text about a refused list.
const INVALID: &str = "Validation failed:";

/// Is this the text about a list with faults in its tasks?
pub fn is_invalid(cause: &str) -> bool {
    cause.starts_with(INVALID)
}

/// A refused list, with everything that is wrong with it.
pub fn invalid(problems: &[Problem], more: usize) -> String {
    let mut lines = alloc::vec![INVALID.to_string()];
    lines.extend(problems.iter().map(|problem| format!("  {problem}")));
    if more > 0 {
        lines.push(format!("  … and {more} more"));
    }
    lines.join("\n")
}

/// How the first line of a refusal ends.
const UNCHANGED: &str = "was not laid out, and no task was changed.";

/// The refusal for the agent: nothing was changed, and why.
pub fn refused(skill: &str, cause: &str) -> String {
    format!("The task list of the skill '{skill}' {UNCHANGED}\n{cause}")
}

pub fn is_refusal(text: &str) -> bool {
    let first = text.lines().next();
    first.is_some_and(|line| line.ends_with(UNCHANGED))
}

/// A refusal without its first line, for a reader who asked for exactly this list.
pub fn cause(text: &str) -> &str {
    match text.split_once('\n') {
        Some((_, cause)) if is_refusal(text) => cause,
        Some(_) | None => text,
    }
}

/// The guard's refusal, with the tasks that would be removed.
pub fn guarded(active: &[u64]) -> String {
    format!(
        "Related active task(s) must be resolved and verified first. In progress: {}.",
        numbers(active)
    )
}
