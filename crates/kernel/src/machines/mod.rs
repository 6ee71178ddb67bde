//! The machines, and the types that cover all of them.
//!
//! A machine is added by a file, its name in [`crate::name`], and one line in `machines!` below.
//! The order of the names is the order of machines everywhere.

mod ask;
pub mod check;
pub mod claim;
#[cfg(test)]
pub(crate) mod conformance;
pub mod gate;
pub mod last_word;
pub mod looping;
pub mod pulse;
pub mod review;
pub mod tasks;

use alloc::string::String;
use core::any::TypeId;

use serde::{Deserialize, Serialize};

use crate::data::{Data, Never};
use crate::decision::Decision;
use crate::effect::{EffectStatus, HasEffects, Intent, Life};
use crate::event::Kind;
use crate::machine::{Machine, Obeys, Settled};
use crate::receipt::Receipt;
use crate::reduce::Reducer;

pub use crate::effect::Returned;
pub use crate::machine::InputOf;
pub use crate::name::Name;
pub(crate) use ask::{Occasion, SUSPENDED, Vote};

/// The transition that a machine took.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct TransitionOf<M: Machine> {
    /// The rule of the arrow that was taken; empty if the machine does not listen to the event.
    pub rule: String,
    pub from: String,
    pub to: String,
    pub state: M::State,
    /// The intent that stays recorded.
    pub intent: Option<Intent<M>>,
    /// What this machine said, before the join.
    pub said: Decision,
}

impl<M: Machine> TransitionOf<M> {
    /// Does the state or the intent differ from the recorded one?
    pub fn changes(&self, input: &InputOf<M>) -> bool {
        self.state != input.state || self.changes_intent(input)
    }

    fn changes_intent(&self, input: &InputOf<M>) -> bool {
        self.intent.as_ref() != input.recorded()
    }

    /// Tells a machine how the stop ended, if it took one of its arrows. A machine that ignored the
    /// event (it belongs to another session or a sub-agent), or whose effect has to wait, was not
    /// asked, so the answer must not change its state.
    pub(crate) fn settle(&mut self, settled: Settled) {
        if M::TABLE.iter().any(|arrow| arrow.rule == self.rule) {
            self.state = M::settle(self.state.clone(), settled);
            self.to = M::label(&self.state).into();
        }
    }

    /// The agent goes on with what this machine had next.
    pub(crate) fn send_on(&mut self, said: Decision) {
        self.state = M::send_on(self.state.clone());
        self.to = M::label(&self.state).into();
        self.said = said;
    }
}

/// A machine without effects has an effect type without values.
fn has_effects<M: Machine<Effect: 'static>>() -> bool {
    TypeId::of::<M::Effect>() != TypeId::of::<Never>()
}

/// Asserts that the journal and the model checker can use all of a machine's types.
const fn assert_data<T: Data>() {}

macro_rules! machines {
    ($($variant:ident => $machine:path,)*) => {
        $(const _: () = assert_data::<<$machine as Machine>::State>();)*

        impl Name {
            /// The machine's transition table.
            pub const fn table(self) -> &'static [crate::machine::Arrow] {
                match self { $(Self::$variant => <$machine as Machine>::TABLE,)* }
            }

            /// The rules after which it waits for the person.
            pub const fn waits(self) -> &'static [(&'static str, crate::machine::Waits)] {
                match self { $(Self::$variant => <$machine as Machine>::WAITS,)* }
            }

            /// Which of a person's orders it obeys.
            pub const fn obeys(self) -> Obeys {
                match self { $(Self::$variant => <$machine as Machine>::OBEYS,)* }
            }

            /// Can it ask for an effect? A machine without effects has no intents and needs no
            /// trust.
            pub fn has_effects(self) -> bool {
                match self { $(Self::$variant => has_effects::<$machine>(),)* }
            }
        }

        /// A machine's state before and after.
        #[derive(Debug, Clone, Copy)]
        pub enum Moved<'a> { $($variant(&'a InputOf<$machine>, &'a TransitionOf<$machine>),)* }

        impl<'a> Moved<'a> {
            /// `None` for two different machines.
            pub fn pair(input: &'a MachineInput, transition: &'a Transition) -> Option<Self> {
                match (input, transition) {
                    $((MachineInput::$variant(input), Transition::$variant(transition)) => {
                        Some(Self::$variant(input, transition))
                    })*
                    _ => None,
                }
            }

            pub const fn name(self) -> Name {
                match self { $(Self::$variant(..) => Name::$variant,)* }
            }

            /// The intent that stays recorded.
            pub fn intent(self) -> Option<Pending> {
                match self { $(Self::$variant(_, transition) => transition.intent.clone().map(Pending::$variant),)* }
            }

            /// Does it differ from the one before?
            pub fn changes_intent(self) -> bool {
                match self { $(Self::$variant(input, transition) => transition.changes_intent(input),)* }
            }

            /// Does anything recorded of the machine change?
            pub fn is_change(self) -> bool {
                match self { $(Self::$variant(input, transition) => transition.changes(input),)* }
            }
        }

        /// One machine's input to a case.
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[allow(clippy::large_enum_variant, reason = "a handful live at a time")]
        pub enum MachineInput { $($variant(InputOf<$machine>),)* }

        /// One machine's transition in a ruling.
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[allow(clippy::large_enum_variant, reason = "a handful live at a time")]
        pub enum Transition { $($variant(TransitionOf<$machine>),)* }

        /// An effect that must run.
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Pending { $($variant(Intent<$machine>),)* }

        /// An effect that has run.
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
                        let vote = ask::ask(input, occasion);
                        Vote {
                            transition: Transition::$variant(vote.transition),
                            notes: vote.notes,
                            need: vote.need.map(Pending::$variant),
                            alone: vote.alone,
                            next: vote.next,
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
                    _ => false,
                }
            }

            /// Records an effect of this machine as under way, by a process that is alive or not.
            pub fn set_intent(&mut self, pending: Pending, owner: Life) {
                match (self, pending) {
                    $((Self::$variant(input), Pending::$variant(intent)) => {
                        input.effect_status = match owner {
                            Life::Alive => EffectStatus::Running(intent),
                            Life::Gone => EffectStatus::Abandoned(intent),
                        };
                    })*
                    _ => {}
                }
            }

            /// The intent that was recorded before this event.
            pub fn recorded(&self) -> Option<Pending> {
                match self { $(Self::$variant(input) => input.recorded().cloned().map(Pending::$variant),)* }
            }

            /// Did its effect come back in this turn? One that only reads does not count: it can
            /// run again.
            pub(crate) fn has_returned(&self) -> bool {
                match self { $(Self::$variant(input) => input.effect_status.is_irrevocable(),)* }
            }

            /// The transition for observe mode: what would have been done, with the state from
            /// before. The result of an effect is kept.
            pub(crate) fn unchanged(&self, transition: Transition) -> Transition {
                match (self, transition) {
                    $((Self::$variant(input), Transition::$variant(mut transition)) => {
                        if !input.effect_status.is_irrevocable() {
                            transition.state = input.state.clone();
                            transition.intent = input.recorded().cloned();
                        }
                        Transition::$variant(transition)
                    })*
                    (_, transition) => transition,
                }
            }

            /// The name of its state before this event.
            pub fn label(&self) -> &'static str {
                match self { $(Self::$variant(input) => <$machine as Machine>::label(&input.state),)* }
            }

            /// Does this transition change anything recorded of the machine?
            pub fn changed_by(&self, transition: &Transition) -> bool {
                Moved::pair(self, transition).is_some_and(Moved::is_change)
            }

            /// Reduces the texts of people and agents, for the record and for views.
            pub fn reduce(&mut self, reducer: Reducer) {
                match self { $(Self::$variant(input) => <$machine as Machine>::reduce(input, reducer),)* }
            }

            /// A desktop notice about its effect in this turn.
            pub(crate) fn notice(&self) -> Option<String> {
                match self {
                    $(Self::$variant(input) => match &input.effect_status {
                        EffectStatus::Done(intent, outcome) => {
                            <$machine as Machine>::notice(&intent.effect, outcome)
                        }
                        _ => None,
                    })*
                }
            }

            /// Adds the result of its effect in this turn to the receipt.
            pub(crate) fn summarize(&self, receipt: &mut Receipt) {
                match self {
                    $(Self::$variant(input) => {
                        if let EffectStatus::Done(_, outcome) = &input.effect_status {
                            <$machine as Machine>::summarize(outcome, receipt);
                        }
                    })*
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

            pub(crate) fn send_on(&mut self, said: Decision) {
                match self { $(Self::$variant(transition) => transition.send_on(said),)* }
            }

            /// Removes what it said.
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

            pub(crate) fn only_looks(&self) -> bool {
                match self { $(Self::$variant(intent) => <$machine as HasEffects>::only_looks(&intent.effect),)* }
            }

            /// What a view shows of it while it runs.
            pub fn at_work(&self, now: crate::ids::Uptime) -> crate::at_work::AtWork {
                match self { $(Self::$variant(intent) => intent.at_work(Name::$variant, now),)* }
            }

            pub fn is_in_time(&self, now: crate::ids::Uptime) -> bool {
                match self { $(Self::$variant(intent) => intent.is_in_time(now),)* }
            }

            /// How long it may take.
            pub fn limit(&self) -> crate::ids::Millis {
                match self { $(Self::$variant(intent) => intent.deadline.since(intent.since),)* }
            }
        }

        impl Finished {
            pub const fn name(&self) -> Name {
                match self { $(Self::$variant(_) => <$machine as Machine>::NAME,)* }
            }
        }
    };
}

machines! {
    Gate => gate::Gate,
    Loop => looping::Loop,
    Check => check::Check,
    Review => review::Review,
    Claim => claim::Claim,
    Tasks => tasks::Tasks,
    Pulse => pulse::Pulse,
}
