//! What a state machine is: pure functions. They get the state and what was observed, and return
//! the next state and what to say.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::data::Data;
use crate::effect::{EffectStatus, HasEffects, Intent, Returned};
use crate::event::Event;
use crate::ids::Millis;
use crate::name::Name;
use crate::receipt::Receipt;
use crate::reduce::Reducer;

/// Why a machine waits for the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits {
    /// It did as much as it may.
    Limit,
    /// What it should do cannot be done.
    Failed,
    /// It cannot know what to do.
    Question,
}

/// A handler per event that a machine may listen to. Each returns only what makes sense for its
/// event. By default a machine does not listen.
pub trait Machine: HasEffects {
    const NAME: Name;
    /// The transitions, in the order in which they are tried. `graph` draws them, `why` quotes
    /// them, and the tests check the handlers against them.
    const TABLE: &'static [Arrow];

    /// The rules after which it waits for the person, until it takes another or gets a command.
    const WAITS: &'static [(&'static str, Waits)] = &[];

    /// Which of a person's orders it obeys.
    const OBEYS: Obeys = Obeys::EveryOrder;

    /// The state that is kept between events.
    type State: Data;
    /// What the shell observed for this event: only what decisions need, no payloads, no secrets.
    type Facts: Data;

    /// The name of a state, as the table has it.
    fn label(state: &Self::State) -> &'static str;

    fn on_stop(state: &Self::State, _: &Input<'_, Self>) -> Step<Self, OnStop> {
        Step::ignore(state, OnStop::Pass)
    }
    fn on_start(state: &Self::State, _: &Input<'_, Self>) -> Step<Self, OnContext> {
        Step::ignore(state, OnContext::Pass)
    }
    fn on_prompt(state: &Self::State, _: &Input<'_, Self>) -> Step<Self, OnContext> {
        Step::ignore(state, OnContext::Pass)
    }
    fn on_expansion(state: &Self::State, _: &Input<'_, Self>) -> Step<Self, OnContext> {
        Step::ignore(state, OnContext::Pass)
    }
    fn before_tool(state: &Self::State, _: &Input<'_, Self>) -> Step<Self, BeforeTool> {
        Step::ignore(state, BeforeTool::Pass)
    }
    fn after_tool(state: &Self::State, _: &Input<'_, Self>) -> Step<Self, AfterTool> {
        Step::ignore(state, AfterTool::Pass)
    }
    fn on_idle(state: &Self::State, _: &Input<'_, Self>) -> Step<Self, OnIdle> {
        Step::ignore(state, OnIdle::Pass)
    }
    fn on_watch(state: &Self::State, _: &Input<'_, Self>) -> Step<Self, OnWatch> {
        Step::ignore(state, OnWatch::Pass)
    }
    fn on_end(state: &Self::State, _: &Input<'_, Self>) -> Step<Self, Nothing> {
        Step::ignore(state, Nothing)
    }

    /// All machines together have decided a stop. What a machine does when it is finished (clear a
    /// counter, pop a frame) belongs here, because another machine may still hold the agent when
    /// this one would let it go.
    fn settle(state: Self::State, _: Settled) -> Self::State {
        state
    }

    /// The agent would stop, and goes on with what this machine had next: [`OnStop::Next`]. The
    /// stop was settled as released before.
    fn send_on(state: Self::State) -> Self::State {
        state
    }

    /// Adds the result of an effect to the receipt that the person gets when the agent stops.
    fn summarize(_: &Self::Outcome, _: &mut Receipt) {}

    /// A desktop notice about an effect that came back at this stop, if it took so long that the
    /// person may have turned away.
    fn notice(_: &Self::Effect, _: &Self::Outcome) -> Option<String> {
        None
    }

    /// Reduces the texts of people and agents for the record. Names, numbers and our own sentences
    /// stay.
    fn reduce(_: &mut InputOf<Self>, _: Reducer) {}
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Obeys {
    EveryOrder,
    /// It neither starts nor holds anything, so it continues under an order about everything.
    OrdersThatNameIt,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Settled {
    /// The agent stops.
    Released,
    /// Some machine keeps it going.
    Continued,
}

/// What a machine gets for one event: its state, what was observed, and the status of its effect.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct InputOf<M: Machine> {
    pub state: M::State,
    pub facts: M::Facts,
    pub effect_status: EffectStatus<M>,
    /// An effect whose process is gone, if this turn has only looked since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) left_behind: Option<Intent<M>>,
}

impl<M: Machine> InputOf<M> {
    /// A machine without an effect under way.
    pub fn new(state: M::State, facts: M::Facts) -> Self {
        Self {
            state,
            facts,
            effect_status: EffectStatus::Clear,
            left_behind: None,
        }
    }

    /// The intent that stays recorded if this turn changes nothing.
    pub fn recorded(&self) -> Option<&Intent<M>> {
        self.effect_status.recorded().or(self.left_behind.as_ref())
    }

    /// Every intent in it, whatever became of its effect.
    pub(crate) fn intents_mut(&mut self) -> impl Iterator<Item = &mut Intent<M>> {
        let left_behind = self.left_behind.as_mut();
        self.effect_status
            .intent_mut()
            .into_iter()
            .chain(left_behind)
    }

    /// The intent that stays recorded once the machine has spoken. What came back is taken in with
    /// its step, and what runs elsewhere goes on.
    pub(crate) fn recorded_after(&self, abandoned: Abandoned) -> Option<&Intent<M>> {
        let recorded = match &self.effect_status {
            EffectStatus::Running(_) => return self.recorded(),
            EffectStatus::Abandoned(intent) => Some(intent),
            EffectStatus::Clear | EffectStatus::Done(..) => self.left_behind.as_ref(),
        };
        recorded.filter(|_| abandoned == Abandoned::Keep)
    }

    /// Takes in a result, if it belongs to the intent that is still recorded here, or to an effect
    /// that only reads.
    pub(crate) fn accept(&mut self, returned: &Returned<M>) -> bool {
        let looks = M::only_looks(&returned.intent.effect);
        let current = if looks {
            // It was not recorded. If another process has started an effect meanwhile, that one
            // counts.
            let status = &self.effect_status;
            matches!(status, EffectStatus::Clear | EffectStatus::Abandoned(_))
        } else {
            let recorded = self.effect_status.recorded();
            recorded.is_some_and(|recorded| recorded.fence == returned.intent.fence)
        };
        if current {
            let done = EffectStatus::Done(returned.intent.clone(), returned.outcome.clone());
            let before = core::mem::replace(&mut self.effect_status, done);
            if let (EffectStatus::Abandoned(intent), true) = (before, looks) {
                self.left_behind = Some(intent);
            }
        }
        current
    }
}

/// What a handler gets besides the state.
#[derive(Debug)]
pub struct Input<'a, M: Machine> {
    pub event: &'a Event,
    pub now: Millis,
    pub facts: &'a M::Facts,
    pub effect_status: &'a EffectStatus<M>,
}

/// What a handler returns. `V` is the verdict that its event allows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Step<M: Machine, V> {
    pub state: M::State,
    /// The arrow of the table that was taken; `""` if the event was ignored.
    pub rule: &'static str,
    pub verdict: Verdict<M, V>,
    pub abandoned: Abandoned,
    /// For the person.
    pub notes: Vec<String>,
}

/// What becomes of the intent of an effect whose process is gone. It may have happened, and may
/// have cost money, so only a machine that has dealt with it lets it be forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Abandoned {
    Keep,
    Drop,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Verdict<M: Machine, V> {
    Say(V),
    /// The verdict depends on something outside. If nothing cheaper holds the agent, the effect
    /// runs, and the handler is called again with [`EffectStatus::Done`].
    Need {
        effect: M::Effect,
        /// How long it may take.
        limit: Millis,
    },
}

impl<M: Machine, V> Step<M, V> {
    pub fn ignore(state: &M::State, pass: V) -> Self {
        Self::take("", state.clone(), pass)
    }

    /// Takes an arrow of the table.
    pub fn take(rule: &'static str, state: M::State, say: V) -> Self {
        Self {
            state,
            rule,
            verdict: Verdict::Say(say),
            abandoned: Abandoned::Keep,
            notes: Vec::new(),
        }
    }

    pub fn need(rule: &'static str, state: M::State, effect: M::Effect, limit: Millis) -> Self {
        Self {
            state,
            rule,
            verdict: Verdict::Need { effect, limit },
            abandoned: Abandoned::Keep,
            notes: Vec::new(),
        }
    }

    /// An effect whose process is gone is not needed any more: its intent is forgotten.
    #[must_use]
    pub const fn drop_abandoned(mut self) -> Self {
        self.abandoned = Abandoned::Drop;
        self
    }

    /// The same step, with its verdict in an event's own words.
    pub(crate) fn map<W>(self, words: impl FnOnce(V) -> W) -> Step<M, W> {
        Step {
            state: self.state,
            rule: self.rule,
            verdict: match self.verdict {
                Verdict::Say(verdict) => Verdict::Say(words(verdict)),
                Verdict::Need { effect, limit } => Verdict::Need { effect, limit },
            },
            abandoned: self.abandoned,
            notes: self.notes,
        }
    }

    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum OnStop {
    Pass,
    /// The agent may stop, but no later machine starts anything: its work is not ready for that.
    PassAlone,
    Hold(String),
    /// The agent may stop, as far as its present work is concerned. If nobody holds it, it is sent
    /// on with this: the stop counts as released, and what others start at a stop has run.
    Next(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum OnContext {
    Pass,
    Tell(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AfterTool {
    Pass,
    Tell(String),
    Object(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum BeforeTool {
    Pass,
    Deny(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum OnIdle {
    Pass,
    Notify(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum OnWatch {
    Pass,
    Wake(String),
}

/// The verdict of an event to which the host accepts no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Nothing;

/// The `from` of an arrow that leaves every state.
pub const ANY: &[&str] = &["any"];

/// The `to` of an arrow that leads back to the state that it left.
pub const SAME: &str = "same";

/// One line of a transition table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrow {
    /// Its name in the journal, unique among the arrows that leave the same state.
    pub rule: &'static str,
    /// The states that it leaves; [`ANY`] for every one.
    pub from: &'static [&'static str],
    /// The event, `verb` for a command, `released` or `continued` for the end of a stop.
    pub on: &'static str,
    /// Where it leads; [`SAME`] where it stays.
    pub to: &'static str,
    /// The condition, in words.
    pub when: &'static str,
    /// What is said or done, in words.
    pub does: &'static str,
    /// What the person can do to get another result; `why` says it.
    pub remedy: &'static str,
}

impl Arrow {
    pub fn leaves(&self, state: &str) -> bool {
        self.from == ANY || self.from.contains(&state)
    }

    /// Where it leads from this state.
    pub fn target<'a>(&self, from: &'a str) -> &'a str {
        if self.to == SAME { from } else { self.to }
    }
}
