//! Changes to one task, under the client's locks and recorded in the journal.

use std::path::Path;

use mainspring_json::{Fields, list, list_lines, row};
use mainspring_kernel::Name;
use mainspring_kernel::machines::tasks::task_list::TaskList;
use mainspring_kernel::machines::tasks::text::excerpt;
use mainspring_kernel::machines::tasks::verbs::{self, Refused};
use mainspring_store::atomic;

use crate::command::{CommandContext, Result};
use crate::hosts::task_files::list::NOTES;
use crate::machines::tasks::take_in;

pub(super) fn start(cmd: &CommandContext, folder: &Path, id: u64) -> Result {
    let command = format!("tasks start {id}");
    change(cmd, folder, id, &command, |list, fields| {
        set_status(fields, &verbs::start(list, id)?.state, id);
        Ok("started")
    })
}

pub(super) fn done(cmd: &CommandContext, folder: &Path, id: u64) -> Result {
    let command = format!("tasks done {id}");
    change(cmd, folder, id, &command, |list, fields| {
        set_status(fields, &verbs::done(list, id)?.state, id);
        Ok("completed")
    })
}

pub(super) fn note(cmd: &CommandContext, folder: &Path, id: u64, text: &str) -> Result {
    let command = format!("tasks note {id} …");
    change(cmd, folder, id, &command, |list, fields| {
        verbs::note(list, id)?;
        let found = fields.get("metadata").unwrap_or_default().to_owned();
        let mut metadata = Fields::read(&found).unwrap_or_default();
        append(&mut metadata, NOTES, text, 2);
        fields.set_text("metadata", metadata.lines(1).into());
        Ok("noted")
    })
}

fn set_status(fields: &mut Fields<'_>, after: &TaskList, id: u64) {
    if let Some(entry) = after.entry(id) {
        fields.set("status", entry.status.as_str());
    }
}

/// Appends a text to a list, which is created if there is none.
fn append(fields: &mut Fields<'_>, name: &'static str, text: &str, depth: usize) {
    let (_, text) = row(name, text);
    let mut all = fields.get(name).and_then(list).unwrap_or_default();
    all.push(&text);
    let now = list_lines(&all, depth);
    fields.set_text(name, now.into());
}

/// Reads the task under its lock, changes it, and says what was done.
fn change(
    cmd: &CommandContext,
    folder: &Path,
    id: u64,
    command: &str,
    edit: impl FnOnce(&TaskList, &mut Fields<'_>) -> std::result::Result<&'static str, Refused>,
) -> Result {
    // Until the change is made.
    let mut locks = None;
    let mut subject = String::new();
    let did = cmd.commit(Name::Tasks, command, |_| {
        let (found, held) = take_in(folder, &[id])?;
        locks = Some(held);
        let task = found.tasks.get(&id).ok_or(Refused::NoTask(id))?;
        let mut fields = task.document()?;
        let became = edit(&found.task_list(), &mut fields)?;
        let now = fields.lines(0);
        let change = atomic::change(&found.path(id), Some(&task.bytes), Some(now));
        subject = excerpt(task.text("subject"));
        Ok((vec![change], format!("{became} #{id}")))
    })?;
    drop(locks);
    Ok(format!("{did} {subject}\n"))
}

pub(super) fn add(
    cmd: &CommandContext,
    folder: &Path,
    subject: &str,
    description: &str,
    after: &[u64],
) -> Result {
    let mut locks = None;
    let did = cmd.commit(Name::Tasks, "tasks add …", |_| {
        let (found, held) = take_in(folder, after)?;
        locks = Some(held);
        let (added, _) = verbs::add(&found.task_list(), subject, after)?;
        let id = added.id;
        let mut task = Fields::default();
        task.set("id", &id.to_string());
        task.set("subject", subject);
        task.set("description", description);
        task.set("status", added.status.as_str());
        task.set_text("blocks", "[]".into());
        task.set_text("blockedBy", "[]".into());
        for blocker in &added.blocked_by {
            append(&mut task, "blockedBy", &blocker.to_string(), 1);
        }
        let mut files = vec![atomic::change(&found.path(id), None, Some(task.lines(0)))];
        // Both tasks name each other, as when the client adds one.
        for blocker in after {
            if let Some(task) = found.tasks.get(blocker) {
                let mut fields = task.document()?;
                append(&mut fields, "blocks", &id.to_string(), 1);
                files.push(atomic::change(
                    &found.path(*blocker),
                    Some(&task.bytes),
                    Some(fields.lines(0)),
                ));
            }
        }
        Ok((files, format!("added #{id}")))
    })?;
    drop(locks);
    Ok(format!("{did} {}\n", excerpt(subject)))
}
