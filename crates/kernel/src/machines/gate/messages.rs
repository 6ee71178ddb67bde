//! What the agent reads when the gate holds it.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Checklist, Facts, RecentErrors};

/// The document's sentence, what stands in the way of the token, and the checklist, if the agent
/// has it nowhere else.
pub(super) fn reason(count: u32, facts: &Facts) -> String {
    let number = match facts.max {
        0 => format!("{count}"),
        max => format!("{count}/{max}"),
    };
    let status = match facts.errors {
        RecentErrors::NotSeen => "Stop blocked.",
        RecentErrors::Seen => "Stop blocked: there are recent errors, resolve them first.",
    };
    let mut reason = format!(
        "TASKMASTER ({number}): {status}{}{} Follow the taskmaster completion checklist. \
         Done signal: {}",
        facts.heard.near_miss(),
        open_tasks(&facts.open_tasks.ids),
        facts.token
    );
    if count == 1 && facts.checklist == Checklist::InReason {
        reason.push_str(CHECKLIST);
    }
    reason
}

/// The numbers of at most this many tasks are named.
const MOST_NAMED: usize = 10;

/// The sentence about open tasks, after a space; empty if there are none.
fn open_tasks(ids: &[u64]) -> String {
    let named: Vec<String> = ids
        .iter()
        .take(MOST_NAMED)
        .map(|id| format!("#{id}"))
        .collect();
    let named = named.join(", ");
    match ids {
        [] => String::new(),
        [_] => format!(" Task {named} is open."),
        _ if ids.len() > MOST_NAMED => {
            let more = ids.len() - MOST_NAMED;
            format!(" Tasks {named} and {more} more are open.")
        }
        _ => format!(" Tasks {named} are open."),
    }
}

/// The short form of the skill `completion-checklist`.
const CHECKLIST: &str = "

1. Requests: read every message of the user again. Each request is done, or was withdrawn.
2. Task list: no task of this work is pending or in progress.
3. Plan: every step is carried out, or the user knows why not.
4. Errors: run the build, tests and linters that the work touches. Every error is resolved.
5. Loose ends: no half-made edit, placeholder, debugging output, skipped test or stray file is left.
6. Blockers: try another way. Only what you cannot remove yourself and can name is a blocker.
7. Honesty: each claim rests on something you saw. If all seven hold, say the done signal, bare, on a line of its own; else go on.";
