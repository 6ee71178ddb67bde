//! Turns a task list before and after into the files that change.

use mainspring_json::{Fields, list_lines};
use mainspring_kernel::journal::FileChange;
use mainspring_kernel::machines::tasks::draft::Key;
use mainspring_kernel::machines::tasks::task_list::{Entry, Maker, Source as Text, TaskList};
use mainspring_store::{Trouble, atomic};
use serde_json::{Map, Value, json};

use super::source::Source;
use crate::hosts::task_files::list::{self, ClientList, MARK};

/// New tasks come first, starting with the highest id; then deletions; then references that are
/// dropped. So a reader always sees every task that exists both before and after, and if we
/// crash in between, a task that the client adds gets an id above ours.
pub(super) fn changes(
    found: &ClientList,
    source: &Source,
    after: &TaskList,
) -> Result<Vec<FileChange>, Trouble> {
    let mut laid_out = Vec::new();
    let mut kept = Vec::new();
    for entry in &after.tasks {
        match entry.source {
            Text::Found => kept.push(entry),
            Text::Local(local) => {
                let task = source.task(local).ok_or_else(|| {
                    Trouble::Other(format!("internal: no task has the local id {local}"))
                })?;
                laid_out.push((entry, render(task, entry)));
            }
        }
    }
    laid_out.sort_by_key(|(entry, _)| std::cmp::Reverse(entry.id));
    let change = |id: u64, now: Option<String>| {
        let was = found.tasks.get(&id).map(|task| task.bytes.as_slice());
        atomic::change(&found.path(id), was, now)
    };
    let mut changes = Vec::with_capacity(laid_out.len());
    for (entry, fields) in laid_out {
        changes.push(change(entry.id, Some(text(&fields)?)));
    }
    let before = found.task_list();
    let stays: std::collections::BTreeSet<u64> = after.tasks.iter().map(|entry| entry.id).collect();
    let gone = before
        .tasks
        .iter()
        .filter(|entry| !stays.contains(&entry.id));
    changes.extend(gone.map(|entry| change(entry.id, None)));
    let was: std::collections::BTreeMap<u64, &Entry> =
        before.tasks.iter().map(|entry| (entry.id, entry)).collect();
    for entry in kept {
        if was.get(&entry.id).is_some_and(|was| *was != entry)
            && let Some(task) = found.tasks.get(&entry.id)
        {
            let mut fields = task.document()?;
            keep_references(&mut fields, Key::BlockedBy, &entry.blocked_by);
            keep_references(&mut fields, Key::Blocks, &entry.blocks);
            changes.push(change(entry.id, Some(fields.lines(0))));
        }
    }
    Ok(changes)
}

/// A task file as the client writes it.
fn text(fields: &Map<String, Value>) -> Result<String, Trouble> {
    serde_json::to_string_pretty(fields).map_err(|error| Trouble::Other(error.to_string()))
}

/// A task as a file of the client's: every field that the client knows, then the other fields
/// as their author wrote them.
fn render(task: &Map<String, Value>, entry: &Entry) -> Map<String, Value> {
    let given = |key: Key| task.get(key.as_str()).cloned().unwrap_or_else(|| "".into());
    let ids = |ids: &[u64]| -> Value { ids.iter().map(u64::to_string).collect() };
    let mut metadata = match task.get(Key::Metadata.as_str()) {
        Some(Value::Object(metadata)) => metadata.clone(),
        Some(_) | None => Map::new(),
    };
    if let Maker::Skill(skill) = &entry.maker {
        metadata.insert(MARK.into(), skill.as_str().into());
    }
    let mut fields = Map::new();
    for (key, value) in [
        (Key::Id, json!(entry.id.to_string())),
        (Key::Subject, given(Key::Subject)),
        (Key::Description, given(Key::Description)),
        (Key::ActiveForm, given(Key::ActiveForm)),
        (Key::Owner, given(Key::Owner)),
        (Key::Status, json!(entry.status.as_str())),
        (Key::Blocks, ids(&entry.blocks)),
        (Key::BlockedBy, ids(&entry.blocked_by)),
        (Key::Metadata, metadata.into()),
    ] {
        fields.insert(key.as_str().into(), value);
    }
    for (key, value) in task {
        if !fields.contains_key(key) {
            fields.insert(key.clone(), value.clone());
        }
    }
    fields
}

/// Keeps the references that are still valid, and everything that is not an id.
fn keep_references(fields: &mut Fields<'_>, key: Key, meant: &[u64]) {
    let is_meant = |text: &str| {
        let value: Option<Value> = mainspring_json::read(text.as_bytes()).ok();
        let id = value.as_ref().and_then(list::reference);
        id.is_none_or(|id| meant.contains(&id))
    };
    let found = fields.get(key.as_str()).and_then(mainspring_json::list);
    let Some(found) = found else { return };
    let kept: Vec<&str> = found.iter().copied().filter(|one| is_meant(one)).collect();
    if kept.len() < found.len() {
        let now = list_lines(&kept, 1);
        fields.set_text(key.as_str(), now.into());
    }
}
