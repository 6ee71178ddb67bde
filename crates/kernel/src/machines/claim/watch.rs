//! The watcher looks at the pull request while the agent rests; news wakes the agent.

use super::claim_file::ClaimFile;
use super::memory::ClaimMemory;
use super::news::{Look, PullNews};
use super::phase::{Next, Phase};
use super::pull::Pull;
use super::results::{self, Held};
use super::retry::{self, At};
use super::rounds;
use super::stop::post;
use super::work::{Effect, Fault, Outcome};
use super::{Claim, State};
use crate::effect::EffectStatus;
use crate::ids::{Millis, SessionId};
use crate::machine::{Input, OnWatch, Step};

type Watch = Step<Claim, OnWatch>;
type In<'a> = Input<'a, Claim>;

/// For one `gh` process, and another for a log. Nobody waits for it.
const LOOK_LIMIT: Millis = Millis::seconds(30);

/// What the watcher does before it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// There is nothing to look at for this session: the watcher exits.
    Leave,
    /// It is too early to ask GitHub.
    Wait,
    Look,
}

impl State {
    /// What the watcher of this session does now; `due` is when it may ask GitHub next, `most` how
    /// often it may wake the agent for red CI.
    pub fn before_look(
        &self,
        session: Option<&SessionId>,
        most: u32,
        due: Millis,
        now: Millis,
    ) -> Before {
        let ours = self.memory().is_none_or(|memory| memory.is_own(session));
        if !ours {
            return Before::Leave;
        }
        if self.has_news(most, now) {
            return Before::Look;
        }
        let Self::Claimed { claim, memory } = self else {
            return Before::Leave;
        };
        let waits = now < due || is_told_to_wait(memory, now);
        match &claim.phase {
            Phase::Failed(failure) => match failure.next {
                Next::Never => Before::Leave,
                Next::At(at) if now < at => Before::Wait,
                Next::At(_) => Before::Look,
            },
            _ if claim.watched_pull().is_none() => Before::Leave,
            _ if waits => Before::Wait,
            _ => Before::Look,
        }
    }

    /// Is there mail that is worth a turn? The idle hook may have found it first.
    pub fn has_news(&self, most: u32, now: Millis) -> bool {
        self.memory()
            .is_some_and(|memory| memory.has_urgent(most, now))
    }
}

fn is_told_to_wait(memory: &ClaimMemory, now: Millis) -> bool {
    memory.not_before.is_some_and(|at| now < at)
}

pub(super) fn on_watch(state: &State, input: &In<'_>) -> Watch {
    let session = input.event.session.as_ref();
    if let State::Claimed { claim, memory } = state
        && let EffectStatus::Done(intent, outcome) = input.effect_status
    {
        let memory = memory.about(claim.issue_number);
        return came_back(state, claim, memory, (&intent.effect, outcome), input);
    }
    let ours = state.memory().is_some_and(|memory| memory.is_own(session));
    if !ours {
        return Step::ignore(state, OnWatch::Pass);
    }
    if let Some(step) = news(state, "wake", input) {
        return step;
    }
    let (State::Claimed { claim, memory }, EffectStatus::Clear | EffectStatus::Abandoned(_)) =
        (state, input.effect_status)
    else {
        return Step::ignore(state, OnWatch::Pass);
    };
    if let Some((effect, limit)) = retry::due(claim, memory, input) {
        return Step::need("watch-retry", state.clone(), effect, limit);
    }
    match Effect::poll(claim, memory) {
        Some(poll) if !is_told_to_wait(memory, input.now) => {
            Step::need("watch", state.clone(), poll, LOOK_LIMIT)
        }
        Some(_) | None => Step::ignore(state, OnWatch::Pass),
    }
}

fn came_back(
    state: &State,
    claim: &ClaimFile,
    memory: ClaimMemory,
    (effect, outcome): (&Effect, &Outcome),
    input: &In<'_>,
) -> Watch {
    if claim.watched_pull().is_some() && effect.polls() == claim.watched_pull() {
        return match outcome {
            Outcome::Polled(pull) => watched(state, claim, &memory, pull, input),
            Outcome::Failed(fault) => unwatched(state, memory, fault, input.now),
            _ => Step::ignore(state, OnWatch::Pass),
        };
    }
    let held = Held {
        claim: claim.clone(),
        memory,
        now: input.now,
    };
    let failed = matches!(claim.phase, Phase::Failed(_));
    match results::take_in(held, effect, outcome, &input.facts.phrases).filter(|_| failed) {
        Some(meaning) => {
            let rule = retry::rule(At::Watch, &meaning);
            let state = match meaning.text {
                Some(text) => post(&meaning.state, text, input.now),
                None => meaning.state,
            };
            let step = news(&state, rule, input);
            step.unwrap_or_else(|| Step::take(rule, state, OnWatch::Pass))
        }
        None => Step::ignore(state, OnWatch::Pass),
    }
}

/// Mail that waits for this session.
fn news(state: &State, rule: &'static str, input: &In<'_>) -> Option<Watch> {
    let mut memory = state.memory()?.clone();
    let session = input.event.session.as_ref();
    if !memory.is_own(session) {
        return None;
    }
    let text = memory.fetch_urgent(session, input.facts.max_ci_rounds, input.now)?;
    let next = state.with_memo(memory);
    Some(Step::take(rule, next, OnWatch::Wake(text)))
}

/// News wakes the claim's own session. If the claim has moved to another one while we looked, it
/// waits there.
fn watched(
    state: &State,
    claim: &ClaimFile,
    memory: &ClaimMemory,
    pull: &Pull,
    input: &In<'_>,
) -> Watch {
    let look = Look {
        pull,
        now: input.now,
        phrases: &input.facts.phrases,
    };
    let seen = PullNews::of(claim, memory, look);
    // A look at which nothing changed leaves no record: only its time would differ.
    if seen.memory == *memory && seen.claim.phase == claim.phase && seen.news.is_empty() {
        return Step::ignore(state, OnWatch::Pass);
    }
    let rule = match &seen.claim.phase {
        Phase::MergedDetected => "noticed-merged",
        _ => "noticed",
    };
    let seen = seen.posted();
    let waits = rounds::waiting(&seen.claim, &seen.memory, input.facts.max_ci_rounds);
    let next = State::Claimed {
        claim: seen.claim,
        memory: seen.memory,
    };
    let step = news(&next, rule, input);
    let step = step.unwrap_or_else(|| Step::take(rule, next, OnWatch::Pass));
    match waits {
        Some(text) => step.note(text),
        None => step,
    }
}

/// The next look may succeed. A person is told once of a trouble that stays; if the server said
/// when to come back, it is not asked before.
fn unwatched(state: &State, mut memory: ClaimMemory, fault: &Fault, now: Millis) -> Watch {
    let known = memory.clone();
    memory.look_failed(fault, now);
    if memory == known {
        return Step::ignore(state, OnWatch::Pass);
    }
    Step::take("unwatched", state.with_memo(memory), OnWatch::Pass)
}
