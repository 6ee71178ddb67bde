//! The store as a value: what a record changes, and what a crash leaves.
//!
//! It guarantees what the store guarantees and no more: a record is there or not; then its files
//! are replaced one by one, each only if it still is what the record found.

use std::collections::{BTreeMap, VecDeque};

use mainspring_kernel::block_ledger::BlockLedger;
use mainspring_kernel::deliberate::Ruling;
use mainspring_kernel::effect::EffectStatus;
use mainspring_kernel::journal::Entry;
use mainspring_kernel::machines::tasks::task_list::{Entry as Row, Maker, Source, TaskList};
use mainspring_kernel::machines::{MachineInput, Name, Pending, Transition};
use mainspring_kernel::{Case, Orders};

use super::world::Without;

#[derive(Debug, Clone, Hash)]
pub(super) struct Disk {
    /// Each machine's own file. Its facts are not stored: they are observed at each load.
    pub(super) inputs: Vec<MachineInput>,
    pub(super) intents: Vec<Option<Box<Pending>>>,
    /// Per session.
    pub(super) ledgers: Vec<BlockLedger>,
    pub(super) orders: Orders,
    /// The client's own task list.
    pub(super) list: TaskFolder,
    /// The number of the last record.
    pub(super) seq: u64,
    /// The changes of the last record that are not in place yet.
    pub(super) unfinished: VecDeque<Change>,
    /// The changes that are. After a crash nobody knows how far it came, so all are done again.
    placed: VecDeque<Change>,
    /// The process that has the lock.
    pub(super) lock: Option<u32>,
}

/// The client's folder: a file per task, and its high-water mark.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct TaskFolder {
    pub(super) tasks: BTreeMap<u64, Task>,
    pub(super) mark: u64,
}

/// A task's file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Task {
    pub(super) entry: Row,
    /// Its number in the skill's list, which determines its text; none for a task made by hand.
    pub(super) local: u64,
    /// How often the client has rewritten it.
    pub(super) version: u8,
}

impl TaskFolder {
    pub(super) fn task_list(&self, without: Without) -> TaskList {
        let floor = match without {
            Without::HighWater => 0,
            _ => self.mark,
        };
        TaskList {
            tasks: self.tasks.values().map(|task| task.entry.clone()).collect(),
            floor,
        }
    }
}

impl Task {
    /// A task that a layout made.
    pub(super) fn laid_out(row: &Row, local: u64) -> Self {
        Self {
            entry: Row {
                source: Source::Found,
                ..row.clone()
            },
            local,
            version: 0,
        }
    }

    pub(super) fn by_hand(&self) -> bool {
        self.entry.maker == Maker::Hand
    }

    /// The skill, and where its list starts: the same for all tasks of one layout.
    pub(super) fn generation(&self) -> (&Maker, u64) {
        (&self.entry.maker, self.entry.id - self.local)
    }
}

/// One file's replacement.
#[derive(Debug, Clone, Hash)]
pub(super) enum Change {
    State {
        at: usize,
        was: Box<MachineInput>,
        now: Box<MachineInput>,
    },
    Intent {
        at: usize,
        was: Option<Box<Pending>>,
        now: Option<Box<Pending>>,
    },
    Ledger {
        session: usize,
        was: Box<BlockLedger>,
        now: Box<BlockLedger>,
    },
    Task {
        id: u64,
        was: Option<Box<Task>>,
        now: Option<Box<Task>>,
    },
}

/// What happened to one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Placed {
    Replaced,
    /// Somebody else's content is there, and stays.
    Edited,
}

impl Disk {
    pub(super) fn new(inputs: Vec<MachineInput>, sessions: usize) -> Self {
        Self {
            intents: vec![None; inputs.len()],
            inputs,
            ledgers: vec![BlockLedger::default(); sessions],
            orders: Orders::default(),
            list: TaskFolder::default(),
            seq: 0,
            unfinished: VecDeque::new(),
            placed: VecDeque::new(),
            lock: None,
        }
    }

    /// Replaces the next file of the last record.
    pub(super) fn place(&mut self, without: Without) -> Option<(Change, Placed)> {
        let replace = |same: bool| {
            if same || without == Without::Ownership {
                Placed::Replaced
            } else {
                Placed::Edited
            }
        };
        let change = self.unfinished.pop_front()?;
        let placed = replace(self.is_as_found(&change));
        if placed == Placed::Replaced {
            self.put(&change);
        }
        self.placed.push_back(change.clone());
        if self.unfinished.is_empty() {
            self.placed.clear();
        }
        Some((change, placed))
    }

    /// Is the file what the record found, or what it becomes?
    fn is_as_found(&self, change: &Change) -> bool {
        match change {
            Change::State { at, was, now } => {
                let file = &self.inputs[*at];
                *file == **was || *file == **now
            }
            Change::Intent { at, was, now } => {
                let file = &self.intents[*at];
                file == was || file == now
            }
            Change::Ledger { session, was, now } => {
                let file = &self.ledgers[*session];
                *file == **was || *file == **now
            }
            Change::Task { id, was, now } => {
                let file = self.list.tasks.get(id);
                file == was.as_deref() || file == now.as_deref()
            }
        }
    }

    fn put(&mut self, change: &Change) {
        match change.clone() {
            Change::State { at, now, .. } => self.inputs[at] = *now,
            Change::Intent { at, now, .. } => self.intents[at] = now,
            Change::Ledger { session, now, .. } => self.ledgers[session] = *now,
            Change::Task { id, now, .. } => {
                match now {
                    Some(task) => self.list.tasks.insert(id, *task),
                    None => self.list.tasks.remove(&id),
                };
            }
        }
    }

    /// The process that replaced files is gone: the next one starts with the record's first file.
    pub(super) fn abandon(&mut self) {
        let rest = std::mem::take(&mut self.unfinished);
        self.unfinished = std::mem::take(&mut self.placed);
        self.unfinished.extend(rest);
    }

    /// Every file of the unfinished record, in order.
    pub(super) fn record(&self) -> impl Iterator<Item = &Change> {
        self.placed.iter().chain(&self.unfinished)
    }

    /// The files that an entry changes, for a process that found these.
    pub(super) fn changes(
        found: &Self,
        session: usize,
        entry: &Entry,
        without: Without,
    ) -> VecDeque<Change> {
        let Entry::Turn { case, ruling } = entry else {
            return VecDeque::new();
        };
        match &**ruling {
            Ruling::Repeated(_) => VecDeque::new(),
            Ruling::Intends(pending) => {
                let at = position(&found.inputs, pending.name());
                VecDeque::from([Change::Intent {
                    at,
                    was: found.intents[at].clone(),
                    now: Some(Box::new(pending.clone())),
                }])
            }
            Ruling::Settled(settlement) => {
                let mut changes = VecDeque::new();
                for (input, moved) in case.inputs.iter().zip(&settlement.transitions) {
                    let at = position(&found.inputs, input.name());
                    if without == Without::KeptIntent && is_abandoned(input) {
                        changes.push_back(Change::Intent {
                            at,
                            was: found.intents[at].clone(),
                            now: None,
                        });
                    }
                    if !input.changed_by(moved) {
                        continue;
                    }
                    match moved {
                        Transition::Tasks(moved) => {
                            changes.extend(tasks(&found.list, &moved.state, without));
                        }
                        _ => changes.extend(moves(found, at, input, moved)),
                    }
                }
                let kept = settlement.stored_ledger(case);
                if kept != case.ledger {
                    changes.push_back(Change::Ledger {
                        session,
                        was: Box::new(found.ledgers[session].clone()),
                        now: Box::new(kept),
                    });
                }
                changes
            }
        }
    }
}

fn position(inputs: &[MachineInput], name: Name) -> usize {
    let at = inputs.iter().position(|input| input.name() == name);
    at.expect("only what is there is loaded")
}

fn is_abandoned(input: &MachineInput) -> bool {
    matches!(input, MachineInput::Review(input) if matches!(input.effect_status, EffectStatus::Abandoned(_)))
}

fn moves(found: &Disk, at: usize, input: &MachineInput, moved: &Transition) -> Vec<Change> {
    let mut changes = Vec::new();
    let was = &found.inputs[at];
    let now = with_state(was, moved);
    if *was != now {
        changes.push(Change::State {
            at,
            was: Box::new(was.clone()),
            now: Box::new(now),
        });
    }
    if moved.intent() != input.recorded() {
        changes.push(Change::Intent {
            at,
            was: found.intents[at].clone(),
            now: moved.intent().map(Box::new),
        });
    }
    changes
}

/// In the shell's order: new tasks first, with the highest number before all others; then the tasks
/// that are removed; then the references that are dropped.
fn tasks(found: &TaskFolder, after: &TaskList, without: Without) -> Vec<Change> {
    let change = |id: u64, now: Option<Task>| Change::Task {
        id,
        was: found.tasks.get(&id).cloned().map(Box::new),
        now: now.map(Box::new),
    };
    let mut new = Vec::new();
    let mut kept = Vec::new();
    for row in &after.tasks {
        match (row.source, found.tasks.get(&row.id)) {
            (Source::Local(local), _) => new.push(Task::laid_out(row, local)),
            (Source::Found, Some(task)) if task.entry != *row => kept.push(Task {
                entry: row.clone(),
                ..task.clone()
            }),
            (Source::Found, _) => {}
        }
    }
    if without != Without::HighestFirst {
        new.reverse();
    }
    let gone = found.tasks.keys().copied();
    let gone = gone.filter(|id| after.entry(*id).is_none());
    let new = new
        .into_iter()
        .map(|task| change(task.entry.id, Some(task)));
    let gone = gone.map(|id| change(id, None));
    let kept = kept
        .into_iter()
        .map(|task| change(task.entry.id, Some(task)));
    let all = new.chain(gone).chain(kept);
    all.filter(|change| !matches!(change, Change::Task { was, now, .. } if was == now))
        .collect()
}

/// A machine's file with the state that it moved to.
fn with_state(input: &MachineInput, moved: &Transition) -> MachineInput {
    let mut input = input.clone();
    match (&mut input, moved) {
        (MachineInput::Gate(input), Transition::Gate(moved)) => input.state = moved.state,
        (MachineInput::Loop(input), Transition::Loop(moved)) => input.state = moved.state.clone(),
        (MachineInput::Review(input), Transition::Review(moved)) => {
            input.state = moved.state.clone();
        }
        (MachineInput::Claim(input), Transition::Claim(moved)) => input.state = moved.state.clone(),
        (MachineInput::Pulse(input), Transition::Pulse(moved)) => input.state = moved.state.clone(),
        _ => {}
    }
    input
}

/// Did a person suspend anything in this case?
pub(super) fn is_suspended(case: &Case) -> bool {
    let suspended = |input: &MachineInput| case.orders.suspension(input.name(), case.now).is_some();
    !case.inputs.is_empty() && case.inputs.iter().all(suspended)
}
