//! How one machine is asked about one event.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{InputOf, Name, Pending, Transition, TransitionOf};
use crate::decision::{Decision, HoldTexts};
use crate::effect::{EffectOwner, Fence, Intent};
use crate::event::{Event, Kind, Speaker};
use crate::ids::{Millis, Uptime};
use crate::machine::{
    AfterTool, BeforeTool, Input, Machine, Nothing, OnContext, OnIdle, OnStop, OnWatch, Step,
    Verdict,
};

/// What every machine is asked about: one event, at one time, in one process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Occasion<'a> {
    pub(crate) event: &'a Event,
    pub(crate) now: Millis,
    pub(crate) uptime: Uptime,
    /// The last fence number that was given out.
    pub(crate) fence: Fence,
    /// Who would run an effect.
    pub(crate) me: &'a EffectOwner,
}

/// The rule of a machine that was not asked because a person suspended it.
pub(crate) const SUSPENDED: &str = "suspended";

/// What one machine answered.
pub(crate) struct Vote {
    pub(crate) transition: Transition,
    pub(crate) notes: Vec<String>,
    pub(crate) need: Option<Pending>,
    /// No later machine may start anything at this event.
    pub(crate) alone: bool,
    /// What the machine sends the agent on with, if nobody holds it.
    pub(crate) next: Option<String>,
}

/// The same of one machine, in its own types.
pub(super) struct VoteOf<M: Machine> {
    pub(super) transition: TransitionOf<M>,
    pub(super) notes: Vec<String>,
    pub(super) need: Option<Intent<M>>,
    pub(super) alone: bool,
    pub(super) next: Option<String>,
}

impl<M: Machine> VoteOf<M> {
    fn silent(transition: TransitionOf<M>) -> Self {
        Self {
            transition,
            notes: Vec::new(),
            need: None,
            alone: false,
            next: None,
        }
    }
}

/// Asks one machine.
pub(super) fn ask<M: Machine>(found: &InputOf<M>, occasion: &Occasion<'_>) -> VoteOf<M> {
    let input = Input {
        event: occasion.event,
        now: occasion.now,
        facts: &found.facts,
        effect_status: &found.effect_status,
    };
    let state = &found.state;
    if occasion.event.speaker == Speaker::Subagent {
        return VoteOf::silent(stay(found, &occasion.event.kind, "subagent"));
    }
    match &occasion.event.kind {
        Kind::Stop { .. } => finish(found, occasion, M::on_stop(state, &input)),
        Kind::SessionStart { .. } => finish(found, occasion, M::on_start(state, &input)),
        Kind::Prompt { .. } => finish(found, occasion, M::on_prompt(state, &input)),
        Kind::Expansion { .. } => finish(found, occasion, M::on_expansion(state, &input)),
        Kind::BeforeTool { .. } => finish(found, occasion, M::before_tool(state, &input)),
        Kind::AfterTool { .. } => finish(found, occasion, M::after_tool(state, &input)),
        Kind::Idle => finish(found, occasion, M::on_idle(state, &input)),
        Kind::Watch => finish(found, occasion, M::on_watch(state, &input)),
        Kind::SessionEnd { .. } => finish(found, occasion, M::on_end(state, &input)),
        Kind::Other { .. } => VoteOf::silent(stay(found, &occasion.event.kind, "")),
    }
}

/// A machine that stays as it was found, and says nothing.
pub(crate) fn stay<M: Machine>(found: &InputOf<M>, kind: &Kind, rule: &str) -> TransitionOf<M> {
    TransitionOf {
        rule: rule.to_string(),
        from: M::label(&found.state).into(),
        to: M::label(&found.state).into(),
        state: found.state.clone(),
        intent: found.recorded().cloned(),
        said: Decision::nothing(kind),
    }
}

fn finish<M: Machine, V: Say>(
    found: &InputOf<M>,
    occasion: &Occasion<'_>,
    step: Step<M, V>,
) -> VoteOf<M> {
    let mut vote = VoteOf::silent(stay(found, &occasion.event.kind, step.rule));
    vote.notes = step.notes;
    let transition = &mut vote.transition;
    match step.verdict {
        Verdict::Say(verdict) => {
            vote.alone = verdict.passes_alone();
            vote.next = verdict.next().map(Into::into);
            transition.to = M::label(&step.state).into();
            transition.state = step.state;
            transition.said = verdict.say(M::NAME);
            transition.intent = found.recorded_after(step.abandoned).cloned();
        }
        Verdict::Need { effect, limit } => {
            vote.need = Some(Intent {
                fence: occasion.fence.next(),
                effect,
                owner: occasion.me.clone(),
                since: occasion.now,
                uptime: occasion.uptime,
                deadline: occasion.now.plus(limit),
            });
        }
    }
    vote
}

/// A verdict, as the decision it would be if nobody else spoke.
trait Say {
    fn say(self, by: Name) -> Decision;

    /// Must later machines start nothing?
    fn passes_alone(&self) -> bool {
        false
    }

    /// What the agent is sent on with, if nobody holds it.
    fn next(&self) -> Option<&str> {
        None
    }
}

impl Say for OnStop {
    fn say(self, by: Name) -> Decision {
        Decision::Stop {
            hold: match self {
                Self::Pass | Self::PassAlone | Self::Next(_) => HoldTexts::default(),
                Self::Hold(text) => HoldTexts::one(by, text),
            },
        }
    }

    fn passes_alone(&self) -> bool {
        *self == Self::PassAlone
    }

    fn next(&self) -> Option<&str> {
        match self {
            Self::Next(text) => Some(text),
            Self::Pass | Self::PassAlone | Self::Hold(_) => None,
        }
    }
}

impl Say for OnContext {
    fn say(self, by: Name) -> Decision {
        Decision::Context {
            tell: match self {
                Self::Pass => HoldTexts::default(),
                Self::Tell(text) => HoldTexts::one(by, text),
            },
        }
    }
}

impl Say for AfterTool {
    fn say(self, by: Name) -> Decision {
        let (tell, object) = match self {
            Self::Pass => (HoldTexts::default(), HoldTexts::default()),
            Self::Tell(text) => (HoldTexts::one(by, text), HoldTexts::default()),
            Self::Object(text) => (HoldTexts::default(), HoldTexts::one(by, text)),
        };
        Decision::AfterTool { tell, object }
    }
}

impl Say for BeforeTool {
    fn say(self, by: Name) -> Decision {
        Decision::BeforeTool {
            deny: match self {
                Self::Pass => HoldTexts::default(),
                Self::Deny(text) => HoldTexts::one(by, text),
            },
        }
    }
}

impl Say for OnIdle {
    fn say(self, by: Name) -> Decision {
        Decision::Idle {
            notify: match self {
                Self::Pass => HoldTexts::default(),
                Self::Notify(text) => HoldTexts::one(by, text),
            },
        }
    }
}

impl Say for OnWatch {
    fn say(self, by: Name) -> Decision {
        Decision::Watch {
            wake: match self {
                Self::Pass => HoldTexts::default(),
                Self::Wake(text) => HoldTexts::one(by, text),
            },
        }
    }
}

impl Say for Nothing {
    fn say(self, _: Name) -> Decision {
        Decision::Silent
    }
}
