//! The agent stops: due effects run, and their results are told.

use alloc::format;
use alloc::string::String;

use super::claim_file::{ClaimFile, is_due};
use super::memory::{ClaimMemory, Consent, Mail, Topic, Weight};
use super::news::{Look, PullNews};
use super::phase::{Failure, Phase, Task};
use super::results::{self, Held, Meaning};
use super::rounds;
use super::work::{CardUpdate, Close, Effect, HeartBeat, Open, Outcome};
use super::{BoardUse, Claim, Door, State};
use crate::effect::EffectStatus;
use crate::ids::Millis;
use crate::machine::{Input, OnStop, Step};

type Stop = Step<Claim, OnStop>;
type In<'a> = Input<'a, Claim>;

/// For three `gh` processes and some of git, on a slow line.
pub(super) const OPEN_LIMIT: Millis = Millis::seconds(60);
pub(super) const CLOSE_LIMIT: Millis = Millis::seconds(60);
const CARD_LIMIT: Millis = Millis::seconds(30);
/// One `git push`.
const BEAT_LIMIT: Millis = Millis::seconds(15);
/// One `gh` process, and another for a log.
const LOOK_LIMIT: Millis = Millis::seconds(30);

pub(super) fn on_stop(state: &State, input: &In<'_>) -> Stop {
    match state {
        State::Newer { .. } => Step::ignore(state, OnStop::Pass),
        State::Unclaimed(memory) => unclaimed(memory, input),
        State::Claimed { claim, memory } => {
            let memory = memory.about(claim.issue_number);
            match input.effect_status {
                EffectStatus::Done(intent, outcome) => {
                    came_back(claim, memory, &intent.effect, outcome, input)
                }
                EffectStatus::Running(_) => busy(claim, memory, input),
                EffectStatus::Clear | EffectStatus::Abandoned(_) => fresh(claim, memory, input),
            }
        }
    }
}

/// No claim file. An issue that is still reserved on the git server is given back.
fn unclaimed(memory: &ClaimMemory, input: &In<'_>) -> Stop {
    match input.effect_status {
        EffectStatus::Done(_, outcome) => {
            let release = match outcome {
                Outcome::GivenBack(release) => release.clone(),
                Outcome::Failed(fault) => super::work::Release::Failed(fault.cause.clone()),
                _ => return quiet("unclaimed", State::Unclaimed(memory.clone()), input),
            };
            told(
                results::given_back(memory.clone(), &release, input.now),
                input,
            )
        }
        EffectStatus::Clear | EffectStatus::Abandoned(_) => match memory.leftover(input.now) {
            Some(effect) => {
                let state = State::Unclaimed(memory.clone());
                Step::need("give-back", state, effect, BEAT_LIMIT)
            }
            None => quiet("unclaimed", State::Unclaimed(memory.clone()), input).drop_abandoned(),
        },
        EffectStatus::Running(_) => quiet("unclaimed", State::Unclaimed(memory.clone()), input),
    }
}

/// No result has come back in this turn: is an effect due?
fn fresh(claim: &ClaimFile, memory: ClaimMemory, input: &In<'_>) -> Stop {
    let state = |memory| State::Claimed {
        claim: claim.clone(),
        memory,
    };
    match &claim.phase {
        Phase::ReadyForPr => match Open::of(claim, &memory) {
            Ok(open) => Step::need("open", state(memory), Effect::Open(open), OPEN_LIMIT),
            Err(missing) => told(results::lacking(held(claim, memory, input), missing), input),
        },
        Phase::Done => close("close", claim, memory, input),
        Phase::Failed(failure) if failure.next.is_due(input.now) => {
            retry(claim, memory, failure, input)
        }
        Phase::Failed(_) => Step::take("failed", state(memory), OnStop::Pass),
        Phase::Coding | Phase::PrCreated | Phase::ChecksRunning | Phase::MergedDetected => {
            if input.facts.board == BoardUse::On && card_is_due(claim, &memory, input.now) {
                let card = Effect::Sync(CardUpdate::of(claim, &claim.status));
                return Step::need("card", state(memory), card, CARD_LIMIT);
            }
            if let Some(poll) = headless_look(claim, &memory, input) {
                return Step::need("look-in", state(memory), poll, LOOK_LIMIT);
            }
            match HeartBeat::due(claim, &memory, input.now) {
                Some(beat) => Step::need("beat", state(memory), Effect::Beat(beat), BEAT_LIMIT),
                None => resting(claim.clone(), memory, input),
            }
        }
    }
}

/// Nobody waits for news where nobody attends: the stop itself looks.
fn headless_look(claim: &ClaimFile, memory: &ClaimMemory, input: &In<'_>) -> Option<Effect> {
    let told_to_wait = memory.not_before.is_some_and(|at| input.now < at);
    if !input.facts.headless || told_to_wait || !is_due(claim.last_check_poll, input.now) {
        return None;
    }
    Effect::poll(claim, memory)
}

fn held(claim: &ClaimFile, memory: ClaimMemory, input: &In<'_>) -> Held {
    Held {
        claim: claim.clone(),
        memory,
        now: input.now,
    }
}

fn retry(claim: &ClaimFile, memory: ClaimMemory, failure: &Failure, input: &In<'_>) -> Stop {
    match failure.during {
        Task::Close => close("retry", claim, memory, input),
        Task::Open => match Open::of(claim, &memory) {
            Ok(open) => {
                let claim = claim.clone();
                let state = State::Claimed { claim, memory };
                Step::need("retry", state, Effect::Open(open), OPEN_LIMIT)
            }
            Err(missing) => told(results::lacking(held(claim, memory, input), missing), input),
        },
    }
}

/// Closes the issue, if its user let it be closed. The file says only what somebody wrote
/// into it.
fn close(rule: &'static str, claim: &ClaimFile, mut memory: ClaimMemory, input: &In<'_>) -> Stop {
    let close = Close::of(claim, &memory);
    let state = |memory| State::Claimed {
        claim: claim.clone(),
        memory,
    };
    match (memory.consent, input.facts.door) {
        (Consent::Given, _) => Step::need(rule, state(memory), Effect::Close(close), CLOSE_LIMIT),
        (Consent::NotAsked | Consent::Asked | Consent::Spoken, Door::Compat) => {
            let close = Close {
                only_if_merged: true,
                ..close
            };
            Step::need(rule, state(memory), Effect::Close(close), CLOSE_LIMIT)
        }
        (Consent::NotAsked | Consent::Asked | Consent::Spoken, Door::Hook | Door::Command) => {
            let text = format!(
                "issue #{} is not closed: its claim file says `done`, but the user has not said \
                 that it may be closed. When the pull request is merged, ask the user; after \
                 their yes, run `mainspring claim done`",
                claim.issue_number
            );
            let known = core::mem::replace(&mut memory.told_unconsented, true);
            let meaning = Meaning {
                rule: "unconsented",
                state: state(memory),
                text: (!known).then(|| text.clone()),
                notes: if known { [text].into() } else { [].into() },
            };
            told(meaning, input)
        }
    }
}

/// Another process is working on it, and will tell the result.
fn busy(claim: &ClaimFile, memory: ClaimMemory, input: &In<'_>) -> Stop {
    let doing = match &claim.phase {
        Phase::ReadyForPr => Task::Open,
        Phase::Done => Task::Close,
        Phase::Failed(failure) => failure.during,
        Phase::Coding | Phase::PrCreated | Phase::ChecksRunning | Phase::MergedDetected => {
            return resting(claim.clone(), memory, input);
        }
    };
    let claim = claim.clone();
    Step::take("busy", State::Claimed { claim, memory }, OnStop::Pass)
        .note(format!("another process is {}", doing.as_str()))
}

/// A result came back. What follows depends on what was asked for, and on whether the claim is
/// still the same.
fn came_back(
    claim: &ClaimFile,
    memory: ClaimMemory,
    effect: &Effect,
    outcome: &Outcome,
    input: &In<'_>,
) -> Stop {
    if let (Effect::Poll { .. }, Some(pr)) = (effect, effect.polls()) {
        return looked_in(claim, memory, pr, outcome, input);
    }
    let before = held(claim, memory.clone(), input);
    match results::take_in(before, effect, outcome, &input.facts.phrases) {
        Some(meaning) => told(meaning, input),
        // A result for another claim or another event.
        None => resting(claim.clone(), memory, input),
    }
}

/// The look of a stop at which nobody attends.
fn looked_in(
    claim: &ClaimFile,
    mut memory: ClaimMemory,
    pr: u64,
    outcome: &Outcome,
    input: &In<'_>,
) -> Stop {
    let mut claim = claim.clone();
    match outcome {
        Outcome::Polled(pull) if claim.watched_pull() == Some(pr) => {
            let look = Look {
                pull,
                now: input.now,
                phrases: &input.facts.phrases,
            };
            let seen = PullNews::of(&claim, &memory, look).posted();
            let rule = match &seen.claim.phase {
                Phase::MergedDetected => "looked-in-merged",
                _ => "looked-in",
            };
            let (claim, memory) = (seen.claim, seen.memory);
            quiet(rule, State::Claimed { claim, memory }, input)
        }
        Outcome::Failed(fault) if claim.watched_pull() == Some(pr) => {
            claim.last_check_poll = Some(input.now);
            let note = memory.look_failed(fault, input.now);
            if note.is_some() {
                memory.untold_trouble();
            }
            let step = resting(claim, memory, input);
            match note {
                Some(note) => step.note(note),
                None => step,
            }
        }
        _ => resting(claim, memory, input),
    }
}

fn card_is_due(claim: &ClaimFile, memory: &ClaimMemory, now: Millis) -> bool {
    let may = match &memory.card {
        None => true,
        Some(fault) if fault.status != claim.status => true,
        Some(fault) => fault.retry_at.is_some_and(|at| now >= at),
    };
    // The card is theirs who have the issue.
    may && memory.lost.is_none() && claim.card_is_behind()
}

/// Nothing is due: the agent may stop, unless a message waits.
fn resting(claim: ClaimFile, memory: ClaimMemory, input: &In<'_>) -> Stop {
    let rule = match &claim.phase {
        Phase::Coding => "coding",
        Phase::PrCreated | Phase::ChecksRunning
            if rounds::waiting(&claim, &memory, input.facts.max_ci_rounds).is_some() =>
        {
            "ci-limit"
        }
        Phase::PrCreated | Phase::ChecksRunning => "watched",
        Phase::MergedDetected => "asked",
        Phase::ReadyForPr | Phase::Done | Phase::Failed(_) => "late",
    };
    quiet(rule, State::Claimed { claim, memory }, input).drop_abandoned()
}

/// Lets the agent go, or holds it for mail that is worth a turn. The person is told once of red CI
/// that waits for them.
fn quiet(rule: &'static str, state: State, input: &In<'_>) -> Stop {
    let Some(mut memory) = state.memory().cloned() else {
        return Step::take(rule, state, OnStop::Pass);
    };
    if input.facts.owner_is_gone {
        memory.owner = None;
    }
    let session = input.event.session.as_ref();
    let most = input.facts.max_ci_rounds;
    let waits = match &state {
        State::Claimed { claim, .. } if memory.is_own(session) => {
            rounds::untold(claim, &mut memory, most)
        }
        _ => None,
    };
    let mut step = match memory.fetch_urgent(session, most, input.now) {
        Some(text) => Step::take(rule, state.with_memo(memory), OnStop::Hold(text)),
        None if waits.is_some() => Step::take(rule, state.with_memo(memory), OnStop::Pass),
        None => Step::take(rule, state, OnStop::Pass),
    };
    step.notes.extend(waits);
    step
}

/// Says it to this session if the claim is its own; otherwise it waits for the claim's session.
fn told(meaning: Meaning, input: &In<'_>) -> Stop {
    let Meaning {
        rule,
        state,
        text,
        notes,
    } = meaning;
    let mut unread = None;
    let state = match text {
        None => state,
        Some(text) => {
            unread = Some(text.clone());
            post(&state, text, input.now)
        }
    };
    let mut step = quiet(rule, state, input);
    if matches!(step.verdict, crate::machine::Verdict::Say(OnStop::Pass)) {
        step.notes.extend(unread);
    }
    step.notes.extend(notes);
    step
}

/// The state with a message about our own work in its mailbox.
pub(super) fn post(state: &State, text: String, now: Millis) -> State {
    let Some(mut memory) = state.memory().cloned() else {
        return state.clone();
    };
    memory.post(Mail::new(Topic::Work, Weight::Wake, now, text));
    state.with_memo(memory)
}
