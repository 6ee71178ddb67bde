//! The machines, and the row that each of them is.
//!
//! A machine is added by a file and one line in `machines!` below.

pub mod claim;
#[cfg(test)]
pub(crate) mod conformance;
pub mod gate;
pub mod looping;
pub mod pulse;
pub mod review;
pub mod tasks;

use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::decision::Decision;
use crate::effect::{Intent, Life, Standing};
use crate::machine::{Data, Machine, Settled};

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
pub struct Slot<M: Machine> {
    pub state: M::State,
    pub facts: M::Facts,
    pub standing: Standing<M>,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Moved<M: Machine> {
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

impl<M: Machine> Slot<M> {
    /// A machine with nothing under way.
    pub fn new(state: M::State, facts: M::Facts) -> Self {
        Self {
            state,
            facts,
            standing: Standing::Clear,
        }
    }

    /// Takes a result in, if it belongs to the intent that is still recorded here.
    pub(crate) fn accept(&mut self, returned: &Returned<M>) -> bool {
        let current = self
            .standing
            .recorded()
            .is_some_and(|recorded| recorded.fence == returned.intent.fence);
        if current {
            self.standing = Standing::Done(returned.intent.clone(), returned.outcome.clone());
        }
        current
    }
}

impl<M: Machine> Moved<M> {
    /// The state as it stays on disk: what changed beside it decides whether to write.
    pub fn changes(&self, slot: &Slot<M>) -> bool {
        self.state != slot.state || self.intent.as_ref() != slot.standing.recorded()
    }

    /// Only a machine that took one of its arrows is told how the stop ended. One that
    /// ignored the event, because it is another session's or a sub-agent's, or one whose
    /// effect has to wait, was not asked and must not be moved by the answer.
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
        pub enum Part { $($variant(Slot<$machine>),)* }

        /// One machine's part in what was decided.
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[allow(clippy::large_enum_variant, reason = "a handful live at a time")]
        pub enum Move { $($variant(Moved<$machine>),)* }

        /// An effect that is to be run.
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Pending { $($variant(Intent<$machine>),)* }

        /// An effect that has been run.
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[allow(clippy::large_enum_variant, reason = "a handful live at a time")]
        pub enum Finished { $($variant(Returned<$machine>),)* }

        impl Part {
            pub const fn name(&self) -> Name {
                match self { $(Self::$variant(_) => <$machine as Machine>::NAME,)* }
            }

            pub(crate) fn hear(&self, case: &crate::deliberate::Case) -> crate::deliberate::Heard {
                match self {
                    $(Self::$variant(slot) => {
                        let (moved, notes, need) = crate::deliberate::ask(slot, case);
                        crate::deliberate::Heard {
                            moved: Move::$variant(moved),
                            notes,
                            need: need.map(Pending::$variant),
                        }
                    })*
                }
            }

            pub(crate) fn unmoved(&self, case: &crate::deliberate::Case, rule: &str) -> Move {
                match self {
                    $(Self::$variant(slot) => Move::$variant(crate::deliberate::stay(slot, case, rule)),)*
                }
            }

            pub(crate) fn accept(&mut self, finished: &Finished) -> bool {
                match (self, finished) {
                    $((Self::$variant(slot), Finished::$variant(returned)) => slot.accept(returned),)*
                    #[allow(unreachable_patterns, reason = "with one machine there is no other pair")]
                    _ => false,
                }
            }

            /// An effect of this machine is recorded as under way, by a process that is
            /// alive or not.
            pub fn stand(&mut self, pending: Pending, owner: Life) {
                match (self, pending) {
                    $((Self::$variant(slot), Pending::$variant(intent)) => {
                        slot.standing = match owner {
                            Life::Alive => Standing::Running(intent),
                            Life::Gone => Standing::Abandoned(intent),
                        };
                    })*
                    #[allow(unreachable_patterns, reason = "with one machine there is no other pair")]
                    _ => {}
                }
            }

            /// The intent that is recorded as it was found.
            pub fn recorded(&self) -> Option<Pending> {
                match self { $(Self::$variant(slot) => slot.standing.recorded().cloned().map(Pending::$variant),)* }
            }

            /// Did its effect come back in this very turn?
            pub(crate) fn has_returned(&self) -> bool {
                match self {
                    $(Self::$variant(slot) => matches!(slot.standing, Standing::Done(..)),)*
                }
            }

            /// The move as it is recorded where nothing may come of it: what would have been
            /// done, and the state as it was found. What an effect brought back is kept.
            pub(crate) fn unchanged(&self, moved: Move) -> Move {
                match (self, moved) {
                    $((Self::$variant(slot), Move::$variant(mut moved)) => {
                        if !matches!(slot.standing, Standing::Done(..)) {
                            moved.state = slot.state.clone();
                            moved.intent = slot.standing.recorded().cloned();
                        }
                        Move::$variant(moved)
                    })*
                    #[allow(unreachable_patterns, reason = "with one machine there is no other pair")]
                    (_, moved) => moved,
                }
            }

            /// The name of the state it was found in.
            pub fn label(&self) -> &'static str {
                match self { $(Self::$variant(slot) => <$machine as Machine>::label(&slot.state),)* }
            }

            /// Does this move change what is recorded of the machine?
            pub fn changed_by(&self, moved: &Move) -> bool {
                match (self, moved) {
                    $((Self::$variant(slot), Move::$variant(moved)) => moved.changes(slot),)*
                    #[allow(unreachable_patterns, reason = "with one machine there is no other pair")]
                    _ => false,
                }
            }
        }

        impl Move {
            pub const fn name(&self) -> Name {
                match self { $(Self::$variant(_) => <$machine as Machine>::NAME,)* }
            }

            pub fn rule(&self) -> &str {
                match self { $(Self::$variant(moved) => &moved.rule,)* }
            }

            pub fn from(&self) -> &str {
                match self { $(Self::$variant(moved) => &moved.from,)* }
            }

            pub fn to(&self) -> &str {
                match self { $(Self::$variant(moved) => &moved.to,)* }
            }

            /// The intent that stays recorded.
            pub fn intent(&self) -> Option<Pending> {
                match self { $(Self::$variant(moved) => moved.intent.clone().map(Pending::$variant),)* }
            }

            pub fn said(&self) -> &Decision {
                match self { $(Self::$variant(moved) => &moved.said,)* }
            }

            pub(crate) fn settle(&mut self, settled: Settled) {
                match self { $(Self::$variant(moved) => moved.settle(settled),)* }
            }

            /// Takes back what it asked for.
            pub(crate) fn hush(&mut self, kind: &crate::event::Kind) {
                match self { $(Self::$variant(moved) => moved.said = Decision::nothing(kind),)* }
            }
        }

        impl Pending {
            pub const fn name(&self) -> Name {
                match self { $(Self::$variant(_) => <$machine as Machine>::NAME,)* }
            }

            pub const fn owner(&self) -> &crate::effect::Owner {
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
