//! A cycle of reviews, as we count it. `state.json` shows the counts, but it does not decide: an
//! agent can write to it.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::phase::{Review, TaskId};
use super::plan::{Fields, Memory};
use super::{Request, Saw, Verdict};
use crate::ids::{Digest, Millis};

/// So many clean reviews in a row end a cycle.
pub const CLEAN_ENOUGH: u32 = 2;
/// The same, in words.
pub const CLEAN_IN_A_ROW: &str = "two clean reviews in a row";

/// What a cycle is about. A plan has one cycle at a time.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CycleKey {
    pub review: Review,
    /// For code reviews: the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cycle {
    pub key: CycleKey,
    /// The reviews that ran in it.
    pub done: u32,
    /// How many of its last reviews were clean.
    pub streak: u32,
    /// The number in the name of its last review's file; 0 before the first review.
    pub number: u32,
    /// How many tasks were open when it began, besides its own.
    pub open: usize,
    /// When its last review came back.
    pub at: Millis,
    /// The files that its last clean review saw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Digest>,
}

impl CycleKey {
    /// The cycle that a review of this kind belongs to.
    pub fn of(review: Review, fields: &Fields) -> Self {
        Self {
            review,
            task: match review {
                Review::Code => fields.task(),
                Review::Plan | Review::Tasks | Review::AllCode => None,
            },
        }
    }
}

impl Cycle {
    pub const fn new(key: CycleKey) -> Self {
        Self {
            key,
            done: 0,
            streak: 0,
            number: 0,
            open: 0,
            at: Millis(0),
            subject: None,
        }
    }

    /// Counts a review that ran in this cycle. Two clean ones are two in a row if they saw the
    /// same files.
    pub(super) fn count(&mut self, asked: &Request, verdict: Verdict, saw: &Saw, now: Millis) {
        self.done = self.done.saturating_add(1);
        (self.number, self.at) = (asked.iteration, now);
        match verdict {
            // What it saw is not there any more, so it says nothing about what is there now.
            Verdict::Pass if !saw.moved.is_empty() => {}
            Verdict::Pass => {
                let same = self.subject == saw.subject;
                let before = if same { self.streak } else { 0 };
                self.streak = before.saturating_add(1);
                self.subject.clone_from(&saw.subject);
            }
            Verdict::Fail | Verdict::Unsaid => {
                self.streak = 0;
                self.subject = None;
            }
        }
    }

    /// Do its last reviews end it?
    pub(super) const fn is_passed(&self) -> bool {
        self.streak >= CLEAN_ENOUGH
    }
}

impl Fields {
    /// The cycle whose review is due or waits for its answer.
    pub fn cycle(&self) -> Option<CycleKey> {
        Some(CycleKey::of(self.awaited()?, self))
    }
}

/// More cycles than this do not end without a result between two prompts.
const MOST_EXHAUSTED: usize = 16;

impl Memory {
    /// The record of this cycle, if the plan is in it.
    pub fn in_cycle(&self, key: &CycleKey) -> Option<&Cycle> {
        self.cycle.as_ref().filter(|cycle| cycle.key == *key)
    }

    /// The number in the name of the review that waits for its answer.
    pub fn number(&self, fields: &Fields) -> u32 {
        let number = |key| Some(self.in_cycle(&key)?.number).filter(|number| *number > 0);
        let number = fields.cycle().and_then(number);
        number.or(fields.phase_iteration).unwrap_or(0)
    }

    /// The plan begins this cycle; one that it was in is over.
    pub(super) fn begin(&mut self, key: CycleKey) -> &mut Cycle {
        self.waiting = None;
        self.cycle.insert(Cycle::new(key))
    }

    /// The plan leaves its cycle.
    pub(super) fn leave(&mut self) {
        self.cycle = None;
        self.waiting = None;
    }

    /// Had this cycle all its reviews, and has no person spoken since?
    pub(super) fn is_exhausted(&self, key: &CycleKey) -> bool {
        self.exhausted.contains(key)
    }

    /// Remembers that a cycle had all its reviews.
    pub(super) fn exhaust(&mut self, key: &CycleKey) {
        if !self.is_exhausted(key) {
            if self.exhausted.len() >= MOST_EXHAUSTED {
                self.exhausted.remove(0);
            }
            self.exhausted.push(key.clone());
        }
    }

    /// A person spoke: every cycle may be entered anew.
    pub(super) fn allow_again(&mut self) {
        self.exhausted = Vec::new();
    }
}
