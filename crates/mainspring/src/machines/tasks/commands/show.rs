//! The list, for a person or for an agent whose client does not show it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use mainspring_kernel::machines::tasks::draft::Status;
use mainspring_kernel::machines::tasks::messages::numbers;
use mainspring_kernel::machines::tasks::task_list::{Entry, Maker, TaskList};
use mainspring_kernel::machines::tasks::text::excerpt;
use serde_json::{Value, json};

use crate::command::Result;
use crate::hosts::task_files::list::{ClientList, NOTES, Task};

pub(super) fn list(found: &ClientList) -> String {
    let list = found.task_list();
    if list.tasks.is_empty() {
        return "no tasks\n".into();
    }
    let open = list.open();
    let mut out = String::new();
    for entry in &list.tasks {
        if let Some(task) = found.tasks.get(&entry.id) {
            line(&mut out, entry, task, &open);
        }
    }
    out
}

fn line(out: &mut String, entry: &Entry, task: &Task, open: &BTreeSet<u64>) {
    let status = match entry.status {
        Status::Pending => "pending",
        Status::InProgress => "in progress",
        Status::Completed => "completed",
    };
    let number = format!("#{}", entry.id);
    let _ = write!(
        out,
        "{number:<5} {status:<11} {}",
        excerpt(task.text("subject"))
    );
    let waits = waits_for(entry, open);
    if entry.status != Status::Completed && !waits.is_empty() {
        let _ = write!(out, "  (waits for {})", numbers(&waits));
    }
    out.push('\n');
    if entry.status != Status::Completed && !task.text("description").is_empty() {
        let _ = writeln!(out, "        {}", excerpt(task.text("description")));
    }
    for note in notes(task) {
        let _ = writeln!(out, "        note: {}", excerpt(note));
    }
}

fn waits_for(entry: &Entry, open: &BTreeSet<u64>) -> Vec<u64> {
    let waits = entry.blocked_by.iter().filter(|id| open.contains(id));
    waits.copied().collect()
}

fn notes(task: &Task) -> impl Iterator<Item = &str> {
    let notes = task
        .fields
        .get("metadata")
        .and_then(|metadata| metadata.get(NOTES));
    let notes = notes.and_then(Value::as_array).into_iter().flatten();
    notes.filter_map(Value::as_str)
}

pub(super) fn list_json(found: &ClientList) -> Result {
    json(found, found.task_list().tasks.iter())
}

pub(super) fn next_json(found: &ClientList) -> Result {
    let list = found.task_list();
    json(found, current(&list).into_iter())
}

fn json<'a>(found: &ClientList, entries: impl Iterator<Item = &'a Entry>) -> Result {
    let open = found.task_list().open();
    let tasks = entries.filter_map(|entry| {
        let task = found.tasks.get(&entry.id)?;
        Some(json!({
            "id": entry.id,
            "subject": task.text("subject"),
            "description": task.text("description"),
            "status": entry.status.as_str(),
            "skill": match &entry.maker {
                Maker::Hand => None,
                Maker::Skill(skill) => Some(skill),
            },
            "waitsFor": waits_for(entry, &open),
            "notes": notes(task).collect::<Vec<_>>(),
        }))
    });
    crate::command::json_list("tasks", &tasks.collect::<Vec<Value>>())
}

/// Tasks that are in progress or can be started.
fn current(list: &TaskList) -> Vec<&Entry> {
    let ready: BTreeSet<u64> = list.ready().map(|entry| entry.id).collect();
    let now = |entry: &&Entry| entry.status == Status::InProgress || ready.contains(&entry.id);
    list.tasks.iter().filter(now).collect()
}

pub(super) fn next(found: &ClientList) -> String {
    let list = found.task_list();
    let open = BTreeSet::new();
    let mut out = String::new();
    for entry in current(&list) {
        if let Some(task) = found.tasks.get(&entry.id) {
            line(&mut out, entry, task, &open);
        }
    }
    if out.is_empty() {
        out = nothing_next(&list);
    }
    out
}

fn nothing_next(list: &TaskList) -> String {
    let open = list.open();
    match (list.tasks.len(), open.len()) {
        (0, _) => "no tasks\n".into(),
        (_, 0) => "all tasks are completed\n".into(),
        (_, left) => format!("no task can be started: the {left} open tasks wait for each other\n"),
    }
}
