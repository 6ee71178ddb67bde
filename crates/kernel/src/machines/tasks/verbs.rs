//! The commands of `tasks`.

use alloc::string::String;
use alloc::vec::Vec;

use super::Tasks;
use super::draft::Status;
use super::messages::numbers;
use super::task_list::{Entry, MOST_ID, Maker, Source, TaskList};
use crate::machine::{Nothing, Step};
use crate::verbs::{Refusal, VerbStep};

#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refused {
    #[error("there is no task #{0}")]
    NoTask(u64),
    #[error("#{id} waits for {}", numbers(waits_for))]
    Waits { id: u64, waits_for: Vec<u64> },
    #[error("a task needs a subject")]
    NoSubject,
    #[error("no number is left in this list")]
    NoNumber,
}

impl Refusal for Refused {
    fn next(&self) -> Vec<String> {
        Vec::from([match self {
            Self::NoTask(_) => "`mainspring tasks list` shows all".into(),
            Self::Waits { .. } => "`mainspring tasks next` shows what can be started".into(),
            Self::NoSubject => "`mainspring tasks add \"What to do\"`".into(),
            Self::NoNumber => "remove the task with the huge number, then add again".into(),
        }])
    }
}

/// A task may start when nothing that it waits for is open.
pub fn start(list: &TaskList, id: u64) -> Result<VerbStep<Tasks>, Refused> {
    let entry = list.entry(id).ok_or(Refused::NoTask(id))?;
    let open = list.open();
    let waits_for: Vec<u64> = entry
        .blocked_by
        .iter()
        .copied()
        .filter(|blocker| open.contains(blocker))
        .collect();
    if !waits_for.is_empty() {
        return Err(Refused::Waits { id, waits_for });
    }
    set_status(list, id, "start", Status::InProgress)
}

pub fn done(list: &TaskList, id: u64) -> Result<VerbStep<Tasks>, Refused> {
    set_status(list, id, "done", Status::Completed)
}

/// A note is text in the task's own file; the list does not change.
pub fn note(list: &TaskList, id: u64) -> Result<VerbStep<Tasks>, Refused> {
    list.entry(id).ok_or(Refused::NoTask(id))?;
    Ok(Step::take("note", list.clone(), Nothing))
}

/// Adds a task after those that it waits for. Both sides refer to each other, as when the client
/// adds one. No skill's layout replaces it.
pub fn add(
    list: &TaskList,
    subject: &str,
    after: &[u64],
) -> Result<(Entry, VerbStep<Tasks>), Refused> {
    if subject.trim().is_empty() {
        return Err(Refused::NoSubject);
    }
    if let Some(none) = after.iter().find(|id| list.entry(**id).is_none()) {
        return Err(Refused::NoTask(*none));
    }
    let id = list.highest().saturating_add(1);
    if id > MOST_ID {
        return Err(Refused::NoNumber);
    }
    let mut next = list.clone();
    for entry in &mut next.tasks {
        if after.contains(&entry.id) {
            entry.blocks.push(id);
        }
    }
    let added = Entry {
        id,
        maker: Maker::Hand,
        status: Status::default(),
        blocked_by: after.into(),
        blocks: Vec::new(),
        source: Source::Found,
    };
    next.tasks.push(added.clone());
    Ok((added, Step::take("add", next, Nothing)))
}

fn set_status(
    list: &TaskList,
    id: u64,
    rule: &'static str,
    status: Status,
) -> Result<VerbStep<Tasks>, Refused> {
    let mut next = list.clone();
    let entry = next.tasks.iter_mut().find(|entry| entry.id == id);
    entry.ok_or(Refused::NoTask(id))?.status = status;
    Ok(Step::take(rule, next, Nothing))
}
