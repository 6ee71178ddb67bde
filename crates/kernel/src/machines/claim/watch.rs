//! The watcher looks at the pull request while the agent rests; news wakes the agent.

use super::claim_file::ClaimFile;
use super::memory::{ClaimMemory, Weight};
use super::news::PullNews;
use super::phase::Phase;
use super::pull::Pull;
use super::work::{Effect, Fault, Outcome};
use super::{Claim, State};
use crate::effect::EffectStatus;
use crate::ids::Millis;
use crate::machine::{Input, OnWatch, Step};

type Watch = Step<Claim, OnWatch>;
type In<'a> = Input<'a, Claim>;

/// For one `gh` process. Nobody waits for it.
const LOOK_LIMIT: Millis = Millis::seconds(30);

/// What the watcher does before it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// There is nothing to look at: the watcher exits.
    Leave,
    /// It is too early to ask GitHub.
    Wait,
    Look,
}

impl State {
    /// What the watcher does now; `due` is when it may ask GitHub next.
    pub fn before_look(&self, due: Millis, now: Millis) -> Before {
        if self.has_news() {
            return Before::Look;
        }
        match self.watched() {
            None => Before::Leave,
            Some((_, memory, _)) if now < due || is_told_to_wait(memory, now) => Before::Wait,
            Some(_) => Before::Look,
        }
    }

    /// Is there mail that is worth a turn? The idle hook may have found it first.
    pub fn has_news(&self) -> bool {
        let mail = self.memory().map(|memory| memory.mail.as_slice());
        let mut mail = mail.unwrap_or_default().iter();
        mail.any(|mail| mail.weight == Weight::Wake)
    }
}

fn is_told_to_wait(memory: &ClaimMemory, now: Millis) -> bool {
    memory.not_before.is_some_and(|at| now < at)
}

pub(super) fn on_watch(state: &State, input: &In<'_>) -> Watch {
    if let Some((claim, memory, pr)) = state.watched()
        && let EffectStatus::Done(intent, outcome) = input.effect_status
        && intent.effect == (Effect::Poll { pr })
    {
        let memory = memory.about(claim.issue_number);
        return match outcome {
            Outcome::Polled(pull) => watched(state, claim, &memory, pull, input.now),
            Outcome::Failed(fault) => unwatched(state, memory, fault),
            _ => Step::ignore(state, OnWatch::Pass),
        };
    }
    if let Some(step) = news(state, input) {
        return step;
    }
    match (state.watched(), input.effect_status) {
        (Some((_, memory, pr)), EffectStatus::Clear | EffectStatus::Abandoned(_))
            if !is_told_to_wait(memory, input.now) =>
        {
            Step::need("watch", state.clone(), Effect::Poll { pr }, LOOK_LIMIT)
        }
        _ => Step::ignore(state, OnWatch::Pass),
    }
}

/// Mail that waits for this session.
fn news(state: &State, input: &In<'_>) -> Option<Watch> {
    let mut memory = state.memory()?.clone();
    let session = input.event.session.as_ref();
    let text = memory.fetch(session, input.now, Weight::Wake)?;
    let next = state.with_memo(memory);
    Some(Step::take("wake", next, OnWatch::Wake(text)))
}

fn watched(
    state: &State,
    claim: &ClaimFile,
    memory: &ClaimMemory,
    pull: &Pull,
    now: Millis,
) -> Watch {
    let (after, remembered, wake) = PullNews::of(claim, memory, pull, now).deliver();
    // A look at which nothing changed leaves no record: only its time would differ.
    if remembered == *memory && after.phase == claim.phase {
        return Step::ignore(state, OnWatch::Pass);
    }
    let rule = match &after.phase {
        Phase::MergedDetected => "noticed-merged",
        _ => "noticed",
    };
    let next = State::Claimed {
        claim: after,
        memory: remembered,
    };
    Step::take(rule, next, wake.map_or(OnWatch::Pass, OnWatch::Wake))
}

/// The next look may succeed, and the idle hook reports a failure that stays. If the server said
/// when to come back, it is not asked before.
fn unwatched(state: &State, mut memory: ClaimMemory, fault: &Fault) -> Watch {
    if fault.not_before.is_none() {
        return Step::ignore(state, OnWatch::Pass);
    }
    memory.not_before = fault.not_before;
    Step::take("unwatched", state.with_memo(memory), OnWatch::Pass)
}
