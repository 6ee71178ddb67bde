//! The protocol of one event, without doing any of it.
//!
//! ```text
//! Lock ─▶ Load ─▶ deliberate ─▶ Commit ─▶ Unlock ─▶ Answer
//!                     │
//!                     └─ needs an effect ─▶ Commit the intent ─▶ Unlock ─▶ Run
//!                                           (not of a look)
//!   ┌───────────────────────────────────────────────────────────────────────┘
//!   └▶ Lock ─▶ Load, with the result, if its intent is still the current one ─▶ …
//! ```
//!
//! The results stay in the turn until the answer: the result of one effect must not be lost
//! because another machine's effect runs after it.
//!
//! The shell does what [`Ask`] says and replies. The simulator and the model checker do the
//! same, so the code that is checked is the code that runs.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::decision::Answer;
use crate::deliberate::{Case, Outcome, Ruling, Settlement, deliberate};
use crate::event::Kind;
use crate::journal::Entry;
use crate::machines::{Finished, Pending};

/// What the interpreter must do next.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Ask {
    Lock,
    Load,
    /// Make this durable, then replace the files.
    Commit(Box<Entry>),
    Unlock,
    /// Run this effect, without the lock.
    Run(Box<Pending>),
    /// Tell the host. The turn is over.
    Answer(Answer),
}

/// How that went.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Reply {
    /// Locked, committed or unlocked.
    Done,
    Loaded(Box<Case>),
    Ran(Box<Finished>),
    /// A person gave an order before the run or during it: nothing was started, or what was
    /// started was ended. Its intent is left to the next event, as after a crash.
    Withheld,
    /// It failed; the text tells the person why.
    Failed(String),
}

impl Reply {
    /// Only the name. Printing the content would link the code that prints every machine's state.
    const fn name(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Loaded(_) => "loaded",
            Self::Ran(_) => "ran",
            Self::Withheld => "withheld",
            Self::Failed(_) => "failed",
        }
    }
}

/// One event may run this many effects. If it needs more, a machine is going in circles.
const MOST_EFFECTS: u8 = 8;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Turn {
    kind: Kind,
    effects: u8,
    /// The results so far that are not settled yet.
    results: Vec<Finished>,
    phase: Phase,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Phase {
    Locking,
    Loading,
    Committing(Next),
    Unlocking(Next),
    Running,
    Over,
}

/// What follows the commit.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Next {
    Answer(Answer),
    Run(Box<Pending>),
}

impl Turn {
    pub fn begin(kind: Kind) -> (Self, Ask) {
        let turn = Self {
            kind,
            effects: 0,
            results: Vec::new(),
            phase: Phase::Locking,
        };
        (turn, Ask::Lock)
    }

    pub fn next(&mut self, reply: Reply) -> Ask {
        let phase = core::mem::replace(&mut self.phase, Phase::Over);
        match (phase, reply) {
            (Phase::Locking, Reply::Done) => {
                self.phase = Phase::Loading;
                Ask::Load
            }
            (Phase::Loading, Reply::Loaded(case)) => self.decide(*case),
            (Phase::Committing(next), Reply::Done) => self.unlock(next),
            (Phase::Unlocking(Next::Answer(answer)), _) => Ask::Answer(answer),
            (Phase::Unlocking(Next::Run(pending)), Reply::Done) => {
                self.phase = Phase::Running;
                Ask::Run(pending)
            }
            (Phase::Running, Reply::Ran(finished)) => {
                self.results.push(*finished);
                self.phase = Phase::Locking;
                Ask::Lock
            }
            (Phase::Running, Reply::Withheld) => {
                self.phase = Phase::Locking;
                Ask::Lock
            }
            (Phase::Locking | Phase::Running, Reply::Failed(cause)) => {
                Ask::Answer(Answer::fault(&self.kind, cause))
            }
            (
                Phase::Loading | Phase::Committing(_) | Phase::Unlocking(Next::Run(_)),
                Reply::Failed(cause),
            ) => self.unlock(Next::Answer(Answer::fault(&self.kind, cause))),
            (
                Phase::Locking
                | Phase::Loading
                | Phase::Committing(_)
                | Phase::Unlocking(Next::Run(_))
                | Phase::Running
                | Phase::Over,
                reply,
            ) => Ask::Answer(Answer::fault(
                &self.kind,
                alloc::format!("internal: a turn got {} out of order", reply.name()),
            )),
        }
    }

    fn decide(&mut self, mut case: Case) -> Ask {
        case.overtaken = self
            .results
            .iter()
            .filter(|result| !case.inputs.iter_mut().any(|part| part.accept(result)))
            .map(Finished::name)
            .collect();
        let ruling = deliberate(&case);
        let next = match &ruling {
            Ruling::Repeated(answer) => return self.unlock(Next::Answer(answer.clone())),
            Ruling::Settled(settlement) if !worth_a_record(&case, settlement) => {
                return self.unlock(Next::Answer(settlement.answer.clone()));
            }
            Ruling::Settled(settlement) => Next::Answer(settlement.answer.clone()),
            Ruling::Intends(_) if self.effects >= MOST_EFFECTS => {
                let cause = "too many effects for one event: the others wait for the next event";
                return self.unlock(Next::Answer(Answer::fault(&self.kind, cause)));
            }
            Ruling::Intends(pending) => {
                self.effects += 1;
                // A machine that needs another effect has taken in its last result.
                self.results.retain(|back| back.name() != pending.name());
                let next = Next::Run(Box::new(pending.clone()));
                if pending.only_looks() {
                    return self.unlock(next);
                }
                next
            }
        };
        self.phase = Phase::Committing(next);
        Ask::Commit(Box::new(Entry::Turn {
            case: Box::new(case),
            ruling: Box::new(ruling),
        }))
    }

    fn unlock(&mut self, next: Next) -> Ask {
        self.phase = Phase::Unlocking(next);
        Ask::Unlock
    }
}

/// An event at which nothing was said and nothing changed leaves no record.
fn worth_a_record(case: &Case, settlement: &Settlement) -> bool {
    let changed = case
        .inputs
        .iter()
        .zip(&settlement.transitions)
        .any(|(part, moved)| part.changed_by(moved));
    changed
        || !settlement.answer.is_nothing()
        || settlement.outcome == Outcome::Observed
        || settlement.ledger.blocks != case.ledger.blocks
}
