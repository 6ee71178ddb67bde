//! The store as a value: what a record changes, and what a crash leaves.
//!
//! It keeps the store's promise and no more: a record is there or not, then its files are
//! replaced one by one, each only where it still is what the record found.

use std::collections::VecDeque;

use mainspring_kernel::deliberate::Deliberation;
use mainspring_kernel::journal::Entry;
use mainspring_kernel::ledger::Ledger;
use mainspring_kernel::machines::{Move, Name, Part, Pending};
use mainspring_kernel::{Case, Orders};

#[derive(Debug, Clone, Hash)]
pub(super) struct Disk {
    /// Each machine's own file. The facts in it are nobody's: they are seen at each load.
    pub(super) parts: Vec<Part>,
    pub(super) intents: Vec<Option<Box<Pending>>>,
    /// By session.
    pub(super) ledgers: Vec<Ledger>,
    pub(super) orders: Orders,
    /// The number of the last record.
    pub(super) seq: u64,
    /// What the last record changes and is not in place yet.
    pub(super) unfinished: VecDeque<Change>,
    /// The process that has the lock.
    pub(super) lock: Option<u32>,
}

/// One file's replacement.
#[derive(Debug, Clone, Hash)]
pub(super) enum Change {
    State {
        at: usize,
        was: Box<Part>,
        now: Box<Part>,
    },
    Intent {
        at: usize,
        was: Option<Box<Pending>>,
        now: Option<Box<Pending>>,
    },
    Ledger {
        session: usize,
        was: Box<Ledger>,
        now: Box<Ledger>,
    },
}

/// What became of one file's replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Placed {
    Replaced,
    /// Somebody else's content is there: it stays.
    Edited,
}

impl Disk {
    pub(super) fn new(parts: Vec<Part>, sessions: usize) -> Self {
        Self {
            intents: vec![None; parts.len()],
            parts,
            ledgers: vec![Ledger::default(); sessions],
            orders: Orders::default(),
            seq: 0,
            unfinished: VecDeque::new(),
            lock: None,
        }
    }

    /// Puts the next file of the last record in place.
    pub(super) fn place(&mut self) -> Option<Placed> {
        fn replace<T: PartialEq>(file: &mut T, was: &T, now: T) -> Placed {
            if file == was || *file == now {
                *file = now;
                Placed::Replaced
            } else {
                Placed::Edited
            }
        }
        Some(match self.unfinished.pop_front()? {
            Change::State { at, was, now } => replace(&mut self.parts[at], &was, *now),
            Change::Intent { at, was, now } => replace(&mut self.intents[at], &was, now),
            Change::Ledger { session, was, now } => replace(&mut self.ledgers[session], &was, *now),
        })
    }

    /// The files that an entry changes, of a process that had found these.
    pub(super) fn changes(found: &Self, session: usize, entry: &Entry) -> VecDeque<Change> {
        let Entry::Turn { case, ruling } = entry else {
            return VecDeque::new();
        };
        match &**ruling {
            Deliberation::Repeated(_) => VecDeque::new(),
            Deliberation::Intends(pending) => {
                let at = position(&found.parts, pending.name());
                VecDeque::from([Change::Intent {
                    at,
                    was: found.intents[at].clone(),
                    now: Some(Box::new(pending.clone())),
                }])
            }
            Deliberation::Settled(settlement) => {
                let mut changes = VecDeque::new();
                for (part, moved) in case.parts.iter().zip(&settlement.moves) {
                    let at = position(&found.parts, part.name());
                    changes.extend(moves(found, at, part, moved));
                }
                if settlement.ledger != case.ledger {
                    changes.push_back(Change::Ledger {
                        session,
                        was: Box::new(found.ledgers[session].clone()),
                        now: Box::new(settlement.ledger.clone()),
                    });
                }
                changes
            }
        }
    }
}

fn position(parts: &[Part], name: Name) -> usize {
    let at = parts.iter().position(|part| part.name() == name);
    at.expect("only what is there is loaded")
}

fn moves(found: &Disk, at: usize, part: &Part, moved: &Move) -> Vec<Change> {
    let mut changes = Vec::new();
    if !part.changed_by(moved) {
        return changes;
    }
    let was = &found.parts[at];
    let now = with_state(was, moved);
    if *was != now {
        changes.push(Change::State {
            at,
            was: Box::new(was.clone()),
            now: Box::new(now),
        });
    }
    if moved.intent() != part.recorded() {
        changes.push(Change::Intent {
            at,
            was: found.intents[at].clone(),
            now: moved.intent().map(Box::new),
        });
    }
    changes
}

/// A machine's file with the state that it moved to.
fn with_state(part: &Part, moved: &Move) -> Part {
    let mut part = part.clone();
    match (&mut part, moved) {
        (Part::Gate(slot), Move::Gate(moved)) => slot.state = moved.state,
        (Part::Loop(slot), Move::Loop(moved)) => slot.state = moved.state.clone(),
        (Part::Review(slot), Move::Review(moved)) => slot.state = moved.state.clone(),
        (Part::Claim(slot), Move::Claim(moved)) => slot.state = moved.state.clone(),
        (Part::Tasks(slot), Move::Tasks(moved)) => slot.state = moved.state.clone(),
        (Part::Pulse(slot), Move::Pulse(moved)) => slot.state = moved.state.clone(),
        _ => {}
    }
    part
}

/// Was anything of this case braked by a person?
pub(super) fn is_braked(case: &Case) -> bool {
    let braked = |part: &Part| case.orders.brake(part.name(), case.now).is_some();
    !case.parts.is_empty() && case.parts.iter().all(braked)
}
