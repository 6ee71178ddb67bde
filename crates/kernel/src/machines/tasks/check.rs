//! Is a draft a task list? All faults are found at once, each with its task and field.

use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};

use super::draft::{Draft, Field, Key, Row, Status};
use super::text::excerpt;
use crate::reduce::Reducer;

/// The largest file that is read.
pub const MOST_BYTES: u64 = 1024 * 1024;
pub const MOST_TASKS: usize = 1_000;
/// The limit for local ids. They are offsets, so a larger one would waste the client's numbers.
pub const MOST_LOCAL: u64 = 1_000_000;

/// A task list that can be laid out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct List {
    pub items: Vec<Item>,
}

impl List {
    /// The list in which `blockedBy` says everything that `blocks` says, because the client looks
    /// only at the first.
    #[must_use]
    pub fn mirrored(mut self) -> Self {
        let blocks: Vec<(u64, u64)> = self
            .items
            .iter()
            .flat_map(|item| item.blocks.iter().map(|blocked| (item.local, *blocked)))
            .collect();
        for (blocker, blocked) in blocks {
            let mut items = self.items.iter_mut();
            if let Some(item) = items.find(|item| item.local == blocked)
                && !item.blocked_by.contains(&blocker)
            {
                item.blocked_by.push(blocker);
            }
        }
        self
    }
}

/// One task of it. Ids are local: they are offsets from where the list will begin.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Item {
    pub local: u64,
    /// An excerpt: the whole text stays in the file.
    pub subject: String,
    #[serde(default)]
    pub status: Status,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_by: Vec<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<u64>,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Problem {
    /// The task's position in the file, from 1. Its id may be what is wrong, so the id alone cannot
    /// name it.
    pub task: usize,
    /// Its id, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    pub key: Option<Key>,
    pub fault: Fault,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    NotATask(String),
    Missing,
    Wrong(String),
    /// An element of a list of ids is not an id.
    NotAnId(String),
    Duplicate(u64),
    Dangling(u64),
}

impl Fault {
    pub(super) fn reduce(&mut self, reducer: Reducer) {
        match self {
            // Only a text of the file is in quotes. What else was found is said in our own words.
            Self::NotATask(found) | Self::Wrong(found) | Self::NotAnId(found)
                if found.starts_with('"') =>
            {
                reducer.text(found);
            }
            Self::NotATask(_)
            | Self::Wrong(_)
            | Self::NotAnId(_)
            | Self::Missing
            | Self::Duplicate(_)
            | Self::Dangling(_) => {}
        }
    }
}

impl Problem {
    /// The same without the id, as the document has it.
    #[must_use]
    pub fn without_id(self) -> Self {
        Self { id: None, ..self }
    }

    /// Its id, if that is another number than its position.
    fn other_number(&self) -> Option<u64> {
        let position = u64::try_from(self.task).ok();
        self.id.filter(|id| Some(*id) != position)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = self.key.map_or("", Key::as_str);
        let wants = self.key.map_or("", Key::wants);
        match self.other_number() {
            Some(id) => write!(f, "Task {} (id {id}): ", self.task)?,
            None => write!(f, "Task {}: ", self.task)?,
        }
        match &self.fault {
            Fault::NotATask(found) => write!(f, "must be an object, found {found}"),
            Fault::Missing => write!(f, "missing required field '{key}'"),
            Fault::Wrong(found) => write!(f, "'{key}' must be {wants}, found {found}"),
            Fault::NotAnId(found) => write!(f, "{key} must hold ids, found {found}"),
            Fault::Duplicate(id) => write!(f, "duplicate {key} {id}"),
            Fault::Dangling(id) => write!(f, "{key} references non-existent id {id}"),
        }
    }
}

/// The list, or all its faults.
pub fn check(rows: &[Row]) -> Result<List, Vec<Problem>> {
    let known: BTreeSet<u64> = rows.iter().filter_map(local_id).collect();
    let mut problems = Vec::new();
    let mut seen = BTreeSet::new();
    let mut items = Vec::with_capacity(rows.len());
    for (index, row) in rows.iter().enumerate() {
        let task = index + 1;
        match row {
            Row::Other(found) => problems.push(Problem {
                task,
                id: None,
                key: None,
                fault: Fault::NotATask(found.clone()),
            }),
            Row::Task(draft) => {
                let mut faults = Vec::new();
                if let Some(id) = local_id(row)
                    && !seen.insert(id)
                {
                    faults.push((Key::Id, Fault::Duplicate(id)));
                }
                items.extend(check_draft(draft, &known, &mut faults));
                faults.sort_by_key(|(key, _)| *key);
                problems.extend(faults.into_iter().map(|(key, fault)| Problem {
                    task,
                    id: local_id(row),
                    key: Some(key),
                    fault,
                }));
            }
        }
    }
    if problems.is_empty() {
        Ok(List { items })
    } else {
        Err(problems)
    }
}

fn local_id(row: &Row) -> Option<u64> {
    match row {
        Row::Task(draft) => draft.id.given().copied().filter(|id| is_local(*id)),
        Row::Other(_) => None,
    }
}

fn is_local(id: u64) -> bool {
    (1..=MOST_LOCAL).contains(&id)
}

fn check_draft(
    draft: &Draft,
    known: &BTreeSet<u64>,
    faults: &mut Vec<(Key, Fault)>,
) -> Option<Item> {
    let local = match &draft.id {
        Field::Given(id) if is_local(*id) => Some(*id),
        Field::Given(id) => {
            faults.push((Key::Id, Fault::Wrong(id.to_string())));
            None
        }
        field => required(Key::Id, field, faults).copied(),
    };
    let subject = match &draft.subject {
        Field::Given(text) if text.trim().is_empty() => {
            faults.push((Key::Subject, Fault::Wrong("an empty one".into())));
            None
        }
        field => required(Key::Subject, field, faults).map(|text| excerpt(text)),
    };
    optional(Key::Description, &draft.description, faults);
    optional(Key::ActiveForm, &draft.active_form, faults);
    optional(Key::Owner, &draft.owner, faults);
    optional(Key::Metadata, &draft.metadata, faults);
    let status = optional(Key::Status, &draft.status, faults);
    let blocked_by = references(Key::BlockedBy, &draft.blocked_by, known, faults);
    let blocks = references(Key::Blocks, &draft.blocks, known, faults);
    Some(Item {
        local: local?,
        subject: subject?,
        status: status.copied().unwrap_or_default(),
        blocked_by,
        blocks,
    })
}

fn required<'a, T>(key: Key, field: &'a Field<T>, faults: &mut Vec<(Key, Fault)>) -> Option<&'a T> {
    if let Field::Missing = field {
        faults.push((key, Fault::Missing));
    }
    optional(key, field, faults)
}

fn optional<'a, T>(key: Key, field: &'a Field<T>, faults: &mut Vec<(Key, Fault)>) -> Option<&'a T> {
    if let Field::Wrong(found) = field {
        faults.push((key, Fault::Wrong(found.clone())));
    }
    field.given()
}

fn references(
    key: Key,
    field: &Field<Vec<Field<u64>>>,
    known: &BTreeSet<u64>,
    faults: &mut Vec<(Key, Fault)>,
) -> Vec<u64> {
    let elements = optional(key, field, faults).map_or(&[][..], Vec::as_slice);
    let mut ids = Vec::with_capacity(elements.len());
    for element in elements {
        match element {
            Field::Given(id) if known.contains(id) => ids.push(*id),
            Field::Given(id) => faults.push((key, Fault::Dangling(*id))),
            Field::Wrong(found) => faults.push((key, Fault::NotAnId(found.clone()))),
            Field::Missing => faults.push((key, Fault::NotAnId("nothing".into()))),
        }
    }
    ids
}
