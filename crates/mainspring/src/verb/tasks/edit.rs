//! Changes to one task, under the client's locks and in our journal.

use std::path::Path;

use mainspring_kernel::Name;
use mainspring_kernel::machines::tasks::task_list::TaskList;
use mainspring_kernel::machines::tasks::text::excerpt;
use mainspring_kernel::machines::tasks::verbs::{self, Refused};
use mainspring_store::atomic;
use serde_json::{Map, Value, json};

use crate::host::task_files::list::NOTES;
use crate::machine::tasks::{changes, take_in};
use crate::verb::{CommandContext, Result};

type Fields = Map<String, Value>;

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
    let command = format!("tasks note {id} {:?}", excerpt(text));
    change(cmd, folder, id, &command, |list, fields| {
        verbs::note(list, id)?;
        let metadata = fields.entry("metadata").or_insert_with(|| json!({}));
        if !metadata.is_object() {
            *metadata = json!({});
        }
        match metadata.get_mut(NOTES) {
            Some(Value::Array(notes)) => notes.push(text.into()),
            Some(_) | None => metadata[NOTES] = json!([text]),
        }
        Ok("noted")
    })
}

fn set_status(fields: &mut Fields, after: &TaskList, id: u64) {
    if let Some(entry) = after.entry(id) {
        fields.insert("status".into(), entry.status.as_str().into());
    }
}

/// Reads the task under its lock, changes it, and says what became of it.
fn change(
    cmd: &CommandContext,
    folder: &Path,
    id: u64,
    command: &str,
    edit: impl FnOnce(&TaskList, &mut Fields) -> std::result::Result<&'static str, Refused>,
) -> Result {
    // Until the change is made.
    let mut locks = None;
    let did = cmd.commit(Name::Tasks, command, |_| {
        let (found, held) = take_in(folder, &[id])?;
        locks = Some(held);
        let task = found.tasks.get(&id).ok_or(Refused::NoTask(id))?;
        let mut fields = task.fields.clone();
        let became = edit(&found.task_list(), &mut fields)?;
        let now = changes::text(&fields)?;
        let change = atomic::change(&found.path(id), Some(&task.bytes), Some(now));
        let subject = excerpt(task.text("subject"));
        Ok((vec![change], format!("{became} #{id} {subject}")))
    })?;
    drop(locks);
    Ok(format!("{did}\n"))
}

pub(super) fn add(
    cmd: &CommandContext,
    folder: &Path,
    subject: &str,
    description: &str,
    after: &[u64],
) -> Result {
    let command = format!("tasks add {:?}", excerpt(subject));
    let mut locks = None;
    let did = cmd.commit(Name::Tasks, &command, |_| {
        let (found, held) = take_in(folder, after)?;
        locks = Some(held);
        let (added, _) = verbs::add(&found.task_list(), subject, after)?;
        let id = added.id;
        let names = |ids: &[u64]| -> Value { ids.iter().map(u64::to_string).collect() };
        let task = [
            ("id", json!(id.to_string())),
            ("subject", json!(subject)),
            ("description", json!(description)),
            ("status", json!(added.status.as_str())),
            ("blocks", json!([])),
            ("blockedBy", names(&added.blocked_by)),
        ];
        let task: Fields = task
            .map(|(key, value)| (key.into(), value))
            .into_iter()
            .collect();
        let text = changes::text(&task)?;
        let mut files = vec![atomic::change(&found.path(id), None, Some(text))];
        // Both sides know of it, as when the client adds one.
        for blocker in after {
            if let Some(task) = found.tasks.get(blocker) {
                let mut fields = task.fields.clone();
                match fields.get_mut("blocks") {
                    Some(Value::Array(blocks)) => blocks.push(id.to_string().into()),
                    Some(_) | None => {
                        fields.insert("blocks".into(), names(&[id]));
                    }
                }
                let now = changes::text(&fields)?;
                files.push(atomic::change(
                    &found.path(*blocker),
                    Some(&task.bytes),
                    Some(now),
                ));
            }
        }
        Ok((files, format!("added #{id} {}", excerpt(subject))))
    })?;
    drop(locks);
    Ok(format!("{did}\n"))
}
