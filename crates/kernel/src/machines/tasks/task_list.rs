//! The client's task list, before and after a skill lays out its own.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::check::{Item, List};
use super::draft::Status;

/// The largest id that the client can handle.
pub const MOST_ID: u64 = (1 << 53) - 1;

/// The client's list, reduced to what a layout depends on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TaskList {
    pub tasks: Vec<Entry>,
    /// Ids up to this one are not given again. It covers the client's high-water mark, and the
    /// numbers of files that could not be read as a task.
    #[serde(default)]
    pub floor: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Entry {
    pub id: u64,
    pub maker: Maker,
    #[serde(default)]
    pub status: Status,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_by: Vec<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<u64>,
    /// Where its text is.
    pub source: Source,
}

/// Who put a task there. The mark is the key `fsm` in its metadata, whatever its value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Maker {
    /// The agent or a person.
    Hand,
    Skill(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// In the client's own file of that id.
    Found,
    /// In the skill's file, under this local id.
    Local(u64),
}

/// Which skills' tasks are removed when a skill lays out its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reset {
    /// Those of every skill: invoking a skill starts its workflow from the beginning.
    #[default]
    All,
    /// Only those that the same skill laid out.
    Skill,
}

impl Reset {
    fn discards(self, maker: &Maker, skill: &str) -> bool {
        match (self, maker) {
            (_, Maker::Hand) => false,
            (Self::All, Maker::Skill(_)) => true,
            (Self::Skill, Maker::Skill(name)) => name == skill,
        }
    }
}

/// The list would need ids larger than the client can handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exhausted;

impl TaskList {
    /// The highest id that is or was in use.
    pub fn highest(&self) -> u64 {
        let taken = self.tasks.iter().map(|entry| entry.id).max();
        taken.unwrap_or(0).max(self.floor)
    }

    /// The tasks that a layout by `skill` removes.
    pub fn discarded<'a>(
        &'a self,
        skill: &'a str,
        reset: Reset,
    ) -> impl Iterator<Item = &'a Entry> {
        let gone = move |entry: &&Entry| reset.discards(&entry.maker, skill);
        self.tasks.iter().filter(gone)
    }

    /// The list after `skill` laid out its own. Tasks of skills are removed. The others stay,
    /// without references to removed tasks. The new ones get ids above all that are or were in use.
    pub fn lay_out(&self, list: &List, skill: &str, reset: Reset) -> Result<Self, Exhausted> {
        let gone: BTreeSet<u64> = self.discarded(skill, reset).map(|entry| entry.id).collect();
        let stay = |entry: &&Entry| !gone.contains(&entry.id);
        let mut after = Self {
            tasks: self.tasks.iter().filter(stay).cloned().collect(),
            floor: self.floor,
        };
        let base = after.highest();
        let last = list.items.iter().map(|item| item.local).max().unwrap_or(0);
        if base.saturating_add(last) > MOST_ID {
            return Err(Exhausted);
        }
        let laid_out: Vec<Entry> = list
            .items
            .iter()
            .map(|item| translate(item, base, skill))
            .collect();
        // A reference to a missing task must not come to mean a new task with that number.
        let new: BTreeSet<u64> = laid_out.iter().map(|entry| entry.id).collect();
        let meant = |id: &u64| !gone.contains(id) && !new.contains(id);
        for entry in &mut after.tasks {
            entry.blocked_by.retain(meant);
            entry.blocks.retain(meant);
        }
        after.tasks.extend(laid_out);
        Ok(after)
    }

    /// The tasks here that are not the same afterwards: gone, replaced or changed.
    pub fn touched(&self, after: &Self) -> Vec<u64> {
        let after: BTreeMap<u64, &Entry> =
            after.tasks.iter().map(|entry| (entry.id, entry)).collect();
        let differs = |entry: &&Entry| after.get(&entry.id) != Some(entry);
        self.tasks
            .iter()
            .filter(differs)
            .map(|entry| entry.id)
            .collect()
    }

    pub fn entry(&self, id: u64) -> Option<&Entry> {
        self.tasks.iter().find(|entry| entry.id == id)
    }

    /// Tasks that may start: nothing that they wait for is open. As in the client, a task waits for
    /// the tasks that its own `blockedBy` names, and a missing task blocks nobody.
    pub fn ready(&self) -> impl Iterator<Item = &Entry> {
        let open = self.open();
        self.tasks.iter().filter(move |entry| {
            entry.status == Status::Pending && entry.blocked_by.iter().all(|id| !open.contains(id))
        })
    }

    /// Tasks that are not completed.
    pub fn open(&self) -> BTreeSet<u64> {
        let open = |entry: &&Entry| entry.status != Status::Completed;
        self.tasks
            .iter()
            .filter(open)
            .map(|entry| entry.id)
            .collect()
    }
}

fn translate(item: &Item, base: u64, skill: &str) -> Entry {
    let actual = |local: &u64| base.saturating_add(*local);
    Entry {
        id: actual(&item.local),
        maker: Maker::Skill(skill.into()),
        status: item.status,
        blocked_by: item.blocked_by.iter().map(actual).collect(),
        blocks: item.blocks.iter().map(actual).collect(),
        source: Source::Local(item.local),
    }
}
