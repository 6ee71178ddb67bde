//! Effects as data: the work outside this process that a machine needs before it can answer.
//!
//! An effect is recorded as an [`Intent`] before it starts, and runs without the lock. Its result
//! counts only while that intent is still the current one: the fence number only grows, so a
//! process that was paused for an hour cannot deliver into a later turn. An effect that only
//! reads changes nothing outside, so it runs without a record.

use alloc::string::String;
use core::fmt::Debug;
use core::hash::Hash;

use serde::{Deserialize, Serialize};

use crate::at_work::{AtWork, Describe};
use crate::data::Data;
use crate::ids::{Millis, Uptime};
use crate::name::Name;

/// A machine's effects.
pub trait HasEffects: Debug + Clone + PartialEq + Eq + Hash + Sized {
    /// What the machine may need done outside, and what can come of it.
    type Effect: Data + Describe;
    type Outcome: Data;

    /// Does this effect only read? Then it changes nothing outside and may run twice, so it is not
    /// recorded before it starts.
    fn only_looks(_: &Self::Effect) -> bool {
        false
    }
}

/// A number that only grows within one project.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Fence(pub u64);

impl Fence {
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// The process that runs an effect. It differs from a later process with the same pid, and from one
/// before a reboot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EffectOwner {
    pub pid: u32,
    pub started: u64,
    pub boot: String,
}

impl EffectOwner {
    /// For a case in which nothing can be started.
    pub fn is_nobody(&self) -> bool {
        self.pid == 0
    }
}

/// Does the process that owns an effect still run, within its deadline?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Life {
    Alive,
    Gone,
}

/// The record that an effect is under way.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Intent<M: HasEffects> {
    pub fence: Fence,
    pub effect: M::Effect,
    pub owner: EffectOwner,
    pub since: Millis,
    pub deadline: Millis,
    /// The same moment as `since`.
    #[serde(default)]
    pub uptime: Uptime,
}

impl<M: HasEffects> Intent<M> {
    /// What a view shows of it while it runs.
    pub(crate) fn at_work(&self, machine: Name, now: Uptime) -> AtWork {
        AtWork {
            machine,
            work: self.effect.work(),
            since: self.since,
            deadline: self.deadline,
            ran: now.since(self.uptime).unwrap_or_default(),
        }
    }

    /// Has it not run for longer than it may?
    pub fn is_in_time(&self, now: Uptime) -> bool {
        let limit = self.deadline.since(self.since);
        now.since(self.uptime).is_some_and(|ran| ran < limit)
    }
}

/// The status of a machine's effect when this event arrives.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "", rename_all = "snake_case")]
pub enum EffectStatus<M: HasEffects> {
    /// None is under way.
    Clear,
    /// Another live process runs it.
    Running(Intent<M>),
    /// Its process is gone, and its result was never accepted: it may or may not have happened. The
    /// machine decides whether to look, to repeat or to give up.
    Abandoned(Intent<M>),
    /// It came back in this turn.
    Done(Intent<M>, M::Outcome),
}

impl<M: HasEffects> EffectStatus<M> {
    /// Has something been done outside in this turn whose result must be taken in?
    pub(crate) fn is_irrevocable(&self) -> bool {
        matches!(self, Self::Done(intent, _) if !M::only_looks(&intent.effect))
    }

    /// The intent of the effect, whatever became of it.
    pub(crate) const fn intent_mut(&mut self) -> Option<&mut Intent<M>> {
        match self {
            Self::Clear => None,
            Self::Running(intent) | Self::Abandoned(intent) | Self::Done(intent, _) => Some(intent),
        }
    }

    /// The intent that is recorded of it.
    pub(crate) fn recorded(&self) -> Option<&Intent<M>> {
        match self {
            Self::Clear => None,
            Self::Done(intent, _) if M::only_looks(&intent.effect) => None,
            Self::Running(intent) | Self::Abandoned(intent) | Self::Done(intent, _) => Some(intent),
        }
    }
}

/// An effect's intent and its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Returned<M: HasEffects> {
    pub intent: Intent<M>,
    pub outcome: M::Outcome,
}
