//! The machines, and the row that each of them is.
//!
//! A machine is added by a file and one line in `machines!` below.

mod ask;
pub mod claim;
#[cfg(test)]
pub(crate) mod conformance;
pub mod gate;
pub mod looping;
pub mod pulse;
pub mod review;
pub mod tasks;
pub mod verbs;

use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::decision::Decision;
use crate::effect::{EffectStatus, Intent, Life};
use crate::event::Kind;
use crate::machine::{Data, Machine, Settled};

pub(crate) use ask::{Occasion, Vote};

/// Every machine's name, in the fixed order in which reasons are given and effects are
/// run. A later machine's effect waits until the earlier ones let go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Name {
    Gate,
    Loop,
    Review,
    Claim,
    Tasks,
    Pulse,
}

impl Name {
    pub const ALL: [Self; 6] = [
        Self::Gate,
        Self::Loop,
        Self::Review,
        Self::Claim,
        Self::Tasks,
        Self::Pulse,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Gate => "gate",
            Self::Loop => "loop",
            Self::Review => "review",
            Self::Claim => "claim",
            Self::Tasks => "tasks",
            Self::Pulse => "pulse",
        }
    }
}

impl core::fmt::Display for Name {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.as_str())
    }
}

/// What a machine was given for one event: its state as found, what was seen, and how its
/// effect stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct InputOf<M: Machine> {
    pub state: M::State,
    pub facts: M::Facts,
    #[serde(alias = "standing")]
    pub effect_status: EffectStatus<M>,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct TransitionOf<M: Machine> {
    /// The arrow that was taken; empty where the machine does not listen to the event.
    pub rule: String,
    pub from: String,
    pub to: String,
    pub state: M::State,
    /// The intent that stays recorded.
    pub intent: Option<Intent<M>>,
    /// What it asked for, by itself.
    pub said: Decision,
}

/// An effect's intent with what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Returned<M: Machine> {
    pub intent: Intent<M>,
    pub outcome: M::Outcome,
}

impl<M: Machine> InputOf<M> {
    /// A machine with nothing under way.
    pub fn new(state: M::State, facts: M::Facts) -> Self {
        Self {
            state,
            facts,
            effect_status: EffectStatus::Clear,
        }
    }

    /// Takes a result in, if it belongs to the intent that is still recorded here.
    pub(crate) fn accept(&mut self, returned: &Returned<M>) -> bool {
        let current = self
            .effect_status
            .recorded()
            .is_some_and(|recorded| recorded.fence == returned.intent.fence);
        if current {
            self.effect_status =
                EffectStatus::Done(returned.intent.clone(), returned.outcome.clone());
        }
        current
    }
}

impl<M: Machine> TransitionOf<M> {
    /// The state as it stays on disk: what changed beside it decides whether to write.
    pub fn changes(&self, input: &InputOf<M>) -> bool {
        self.state != input.state || self.intent.as_ref() != input.effect_status.recorded()
    }

    /// Only a machine that took one of its arrows is told how the stop ended. One that
    /// ignored the event, because it is another session's or a sub-agent's, or one whose
    /// effect has to wait, was not asked and must not be transition by the answer.
    pub(crate) fn settle(&mut self, settled: Settled) {
        if M::TABLE.iter().any(|arrow| arrow.rule == self.rule) {
            self.state = M::settle(self.state.clone(), settled);
            self.to = M::label(&self.state).into();
        }
    }
}

/// Asserts that all of a machine's types are what the journal and the checker need.
const fn assert_data<T: Data>() {}

macro_rules! machines {
    ($($variant:ident => $machine:path,)*) => {
        $(const _: () = assert_data::<<$machine as Machine>::State>();)*

        /// One machine's part in a case.
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[allow(clippy::large_enum_variant, reason = "a handful live at a time")]
        pub enum MachineInput { $($variant(InputOf<$machine>),)* }

        /// One machine's part in what was decided.
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[allow(clippy::large_enum_variant, reason = "a handful live at a time")]
        pub enum Transition { $($variant(TransitionOf<$machine>),)* }

        /// An effect that is to be run.
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Pending { $($variant(Intent<$machine>),)* }

        /// An effect that has been run.
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[allow(clippy::large_enum_variant, reason = "a handful live at a time")]
        pub enum Finished { $($variant(Returned<$machine>),)* }

        impl MachineInput {
            pub const fn name(&self) -> Name {
                match self { $(Self::$variant(_) => <$machine as Machine>::NAME,)* }
            }

            pub(crate) fn vote(&self, occasion: &Occasion<'_>) -> Vote {
                match self {
                    $(Self::$variant(input) => {
                        let (transition, notes, need) = ask::ask(input, occasion);
                        Vote {
                            transition: Transition::$variant(transition),
                            notes,
                            need: need.map(Pending::$variant),
                        }
                    })*
                }
            }

            pub(crate) fn unmoved(&self, kind: &Kind, rule: &str) -> Transition {
                match self {
                    $(Self::$variant(input) => Transition::$variant(ask::stay(input, kind, rule)),)*
                }
            }

            pub(crate) fn accept(&mut self, finished: &Finished) -> bool {
                match (self, finished) {
                    $((Self::$variant(input), Finished::$variant(returned)) => input.accept(returned),)*
                    #[allow(unreachable_patterns, reason = "with one machine there is no other pair")]
                    _ => false,
                }
            }

            /// An effect of this machine is recorded as under way, by a process that is
            /// alive or not.
            pub fn stand(&mut self, pending: Pending, owner: Life) {
                match (self, pending) {
                    $((Self::$variant(input), Pending::$variant(intent)) => {
                        input.effect_status = match owner {
                            Life::Alive => EffectStatus::Running(intent),
                            Life::Gone => EffectStatus::Abandoned(intent),
                        };
                    })*
                    #[allow(unreachable_patterns, reason = "with one machine there is no other pair")]
                    _ => {}
                }
            }

            /// The intent that is recorded as it was found.
            pub fn recorded(&self) -> Option<Pending> {
                match self { $(Self::$variant(input) => input.effect_status.recorded().cloned().map(Pending::$variant),)* }
            }

            /// Did its effect come back in this very turn?
            pub(crate) fn has_returned(&self) -> bool {
                match self {
                    $(Self::$variant(input) => matches!(input.effect_status, EffectStatus::Done(..)),)*
                }
            }

            /// The move as it is recorded where nothing may come of it: what would have been
            /// done, and the state as it was found. What an effect brought back is kept.
            pub(crate) fn unchanged(&self, transition: Transition) -> Transition {
                match (self, transition) {
                    $((Self::$variant(input), Transition::$variant(mut transition)) => {
                        if !matches!(input.effect_status, EffectStatus::Done(..)) {
                            transition.state = input.state.clone();
                            transition.intent = input.effect_status.recorded().cloned();
                        }
                        Transition::$variant(transition)
                    })*
                    #[allow(unreachable_patterns, reason = "with one machine there is no other pair")]
                    (_, transition) => transition,
                }
            }

            /// The name of the state it was found in.
            pub fn label(&self) -> &'static str {
                match self { $(Self::$variant(input) => <$machine as Machine>::label(&input.state),)* }
            }

            /// Does this move change what is recorded of the machine?
            pub fn changed_by(&self, transition: &Transition) -> bool {
                match (self, transition) {
                    $((Self::$variant(input), Transition::$variant(transition)) => transition.changes(input),)*
                    #[allow(unreachable_patterns, reason = "with one machine there is no other pair")]
                    _ => false,
                }
            }
        }

        impl Transition {
            pub const fn name(&self) -> Name {
                match self { $(Self::$variant(_) => <$machine as Machine>::NAME,)* }
            }

            pub fn rule(&self) -> &str {
                match self { $(Self::$variant(transition) => &transition.rule,)* }
            }

            pub fn from(&self) -> &str {
                match self { $(Self::$variant(transition) => &transition.from,)* }
            }

            pub fn to(&self) -> &str {
                match self { $(Self::$variant(transition) => &transition.to,)* }
            }

            /// The intent that stays recorded.
            pub fn intent(&self) -> Option<Pending> {
                match self { $(Self::$variant(transition) => transition.intent.clone().map(Pending::$variant),)* }
            }

            pub fn said(&self) -> &Decision {
                match self { $(Self::$variant(transition) => &transition.said,)* }
            }

            pub(crate) fn settle(&mut self, settled: Settled) {
                match self { $(Self::$variant(transition) => transition.settle(settled),)* }
            }

            /// Takes back what it asked for.
            pub(crate) fn drop_verdict(&mut self, kind: &Kind) {
                match self { $(Self::$variant(transition) => transition.said = Decision::nothing(kind),)* }
            }
        }

        impl Pending {
            pub const fn name(&self) -> Name {
                match self { $(Self::$variant(_) => <$machine as Machine>::NAME,)* }
            }

            pub const fn owner(&self) -> &crate::effect::EffectOwner {
                match self { $(Self::$variant(intent) => &intent.owner,)* }
            }

            pub const fn deadline(&self) -> crate::ids::Millis {
                match self { $(Self::$variant(intent) => intent.deadline,)* }
            }
        }

        impl Finished {
            pub const fn name(&self) -> Name {
                match self { $(Self::$variant(_) => <$machine as Machine>::NAME,)* }
            }
        }

        impl Name {
            /// The machine's transition table; `None` for one that is not built in.
            pub const fn table(self) -> Option<&'static [crate::machine::Arrow]> {
                match self {
                    $(Self::$variant => Some(<$machine as Machine>::TABLE),)*
                    #[allow(unreachable_patterns, reason = "when every name has its machine")]
                    _ => None,
                }
            }
        }
    };
}

machines! {
    Gate => gate::Gate,
    Loop => looping::Loop,
    Review => review::Review,
    Claim => claim::Claim,
    Tasks => tasks::Tasks,
    Pulse => pulse::Pulse,
}
