//! Changes to one task, under the client's locks and in our journal.

use std::path::Path;

use mainspring_kernel::machines::tasks::draft::Status;
use mainspring_kernel::machines::tasks::task_list::MOST_ID;
use mainspring_kernel::machines::tasks::text::excerpt;
use mainspring_kernel::machines::tasks::words::numbers;
use mainspring_store::atomic;
use serde_json::{Map, Value, json};

use crate::error::CliError;
use crate::machine::tasks::list::{ClientList, NOTES};
use crate::machine::tasks::{changes, take_in};
use crate::verb::{CommandContext, Result};

pub(super) fn start(cmd: &CommandContext, folder: &Path, id: u64) -> Result {
    change(cmd, folder, id, &format!("tasks start {id}"), |found| {
        let list = found.task_list();
        let open = list.open();
        let entry = list.entry(id);
        let waits: Vec<u64> = entry
            .iter()
            .flat_map(|entry| &entry.blocked_by)
            .copied()
            .filter(|blocker| open.contains(blocker))
            .collect();
        if waits.is_empty() {
            return Ok(("started", set(Status::InProgress)));
        }
        Err(
            CliError::new(format!("#{id} waits for {}", numbers(&waits)))
                .hint("`mainspring tasks next` shows what can be started"),
        )
    })
}

pub(super) fn done(cmd: &CommandContext, folder: &Path, id: u64) -> Result {
    change(cmd, folder, id, &format!("tasks done {id}"), |_| {
        Ok(("completed", set(Status::Completed)))
    })
}

pub(super) fn note(cmd: &CommandContext, folder: &Path, id: u64, text: &str) -> Result {
    let command = format!("tasks note {id} {:?}", excerpt(text));
    change(cmd, folder, id, &command, |_| {
        Ok(("noted", |fields: &mut Map<String, Value>| {
            let metadata = fields.entry("metadata").or_insert_with(|| json!({}));
            if !metadata.is_object() {
                *metadata = json!({});
            }
            match metadata.get_mut(NOTES) {
                Some(Value::Array(notes)) => notes.push(text.into()),
                Some(_) | None => metadata[NOTES] = json!([text]),
            }
        }))
    })
}

fn set(status: Status) -> impl FnOnce(&mut Map<String, Value>) {
    move |fields| {
        fields.insert("status".into(), status.as_str().into());
    }
}

/// Reads the task under its lock, changes it, and says what became of it.
fn change<E: FnOnce(&mut Map<String, Value>)>(
    cmd: &CommandContext,
    folder: &Path,
    id: u64,
    command: &str,
    plan: impl FnOnce(&ClientList) -> Result<(&'static str, E)>,
) -> Result {
    let did = cmd.commit(command, |context| {
        let found = take_in(context, folder, &[id])?;
        let Some(task) = found.tasks.get(&id) else {
            return Err(CliError::new(format!("there is no task #{id}"))
                .hint("`mainspring tasks list` shows all"));
        };
        let (became, edit) = plan(&found)?;
        let mut fields = task.fields.clone();
        edit(&mut fields);
        let now = changes::text(&fields)?;
        let change = atomic::change(&found.path(id), Some(&task.bytes), Some(now));
        let subject = excerpt(task.text("subject"));
        Ok((vec![change], format!("{became} #{id} {subject}")))
    })?;
    Ok(format!("{did}\n"))
}

pub(super) fn add(
    cmd: &CommandContext,
    folder: &Path,
    subject: &str,
    description: &str,
    after: &[u64],
) -> Result {
    if subject.trim().is_empty() {
        return Err(CliError::new("a task needs a subject"));
    }
    let command = format!("tasks add {:?}", excerpt(subject));
    let did = cmd.commit(&command, |context| {
        let found = take_in(context, folder, after)?;
        if let Some(none) = after.iter().find(|id| !found.tasks.contains_key(id)) {
            return Err(CliError::new(format!("there is no task #{none}"))
                .hint("`mainspring tasks list` shows them"));
        }
        let id = found.task_list().highest().saturating_add(1);
        if id > MOST_ID {
            return Err(CliError::new("no number is left in this list"));
        }
        let names = |ids: &[u64]| -> Value { ids.iter().map(u64::to_string).collect() };
        let task = json!({
            "id": id.to_string(),
            "subject": subject,
            "description": description,
            "status": Status::default().as_str(),
            "blocks": [],
            "blockedBy": names(after),
        });
        let mut files = Vec::new();
        if let Value::Object(fields) = &task {
            files.push(atomic::change(
                &found.path(id),
                None,
                Some(changes::text(fields)?),
            ));
        }
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
    Ok(format!("{did}\n"))
}
