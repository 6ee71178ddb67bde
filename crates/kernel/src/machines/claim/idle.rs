//! The agent waits for the person: what is the state of its pull request?

use alloc::format;

use super::claim_file::{ClaimFile, is_due};
use super::memory::{ClaimMemory, Mail, Topic, Weight};
use super::news::PullNews;
use super::phase::Phase;
use super::pull::Pull;
use super::work::{BranchStatus, Effect, Fault, Item, Outcome};
use super::{Claim, State};
use crate::effect::EffectStatus;
use crate::hidden::quote;
use crate::ids::Millis;
use crate::machine::{Input, OnIdle, Step};

type Idle = Step<Claim, OnIdle>;
type In<'a> = Input<'a, Claim>;

/// One `gh` process.
const LOOK_LIMIT: Millis = Millis::seconds(12);

pub(super) fn on_idle(state: &State, input: &In<'_>) -> Idle {
    match state {
        State::Newer { .. } => Step::ignore(state, OnIdle::Pass),
        State::Unclaimed(memory) => unclaimed(memory, input),
        State::Claimed { claim, memory } => match state.watched() {
            Some((_, _, pr)) => poll(pr, claim, memory.about(claim.issue_number), input),
            None => Step::ignore(state, OnIdle::Pass),
        },
    }
}

fn poll(pr: u64, claim: &ClaimFile, memory: ClaimMemory, input: &In<'_>) -> Idle {
    let waiting = memory.not_before.is_some_and(|at| input.now < at);
    let state = |claim: ClaimFile, memory| State::Claimed { claim, memory };
    match input.effect_status {
        EffectStatus::Done(intent, Outcome::Polled(pull))
            if intent.effect == (Effect::Poll { pr }) =>
        {
            polled(claim, &memory, pull, input.now)
        }
        EffectStatus::Done(_, Outcome::Failed(fault)) => {
            unpolled(claim.clone(), memory, fault, input.now)
        }
        EffectStatus::Done(..) | EffectStatus::Running(_) => {
            Step::take("poll-backoff", state(claim.clone(), memory), OnIdle::Pass)
        }
        EffectStatus::Clear | EffectStatus::Abandoned(_)
            if waiting || !is_due(claim.last_check_poll, input.now) =>
        {
            Step::take("poll-backoff", state(claim.clone(), memory), OnIdle::Pass)
        }
        EffectStatus::Clear | EffectStatus::Abandoned(_) => Step::need(
            "poll",
            state(claim.clone(), memory),
            Effect::Poll { pr },
            LOOK_LIMIT,
        ),
    }
}

fn polled(claim: &ClaimFile, memory: &ClaimMemory, pull: &Pull, now: Millis) -> Idle {
    let mut seen = PullNews::of(claim, memory, pull, now);
    let wake = seen.wake();
    for mail in seen.news.drain(..) {
        seen.memory.post(mail);
    }
    let rule = match &seen.claim.phase {
        Phase::MergedDetected => "merged",
        Phase::Coding
        | Phase::ReadyForPr
        | Phase::PrCreated
        | Phase::ChecksRunning
        | Phase::Done
        | Phase::Failed(_) => "polled",
    };
    let PullNews { claim, memory, .. } = seen;
    let say = wake.map_or(OnIdle::Pass, OnIdle::Notify);
    Step::take(rule, State::Claimed { claim, memory }, say)
}

/// A failed poll counts for the back-off, too: a server in trouble is not polled more often than a
/// healthy one.
fn unpolled(mut claim: ClaimFile, mut memory: ClaimMemory, fault: &Fault, now: Millis) -> Idle {
    claim.last_check_poll = Some(now);
    memory.not_before = fault.not_before;
    let note = format!(
        "the state of the pull request could not be read: {}",
        quote(&fault.cause, 300)
    );
    Step::take("unpolled", State::Claimed { claim, memory }, OnIdle::Pass).note(note)
}

fn unclaimed(memory: &ClaimMemory, input: &In<'_>) -> Idle {
    let Some(branch) = &input.facts.branch else {
        return Step::ignore(&State::Unclaimed(memory.clone()), OnIdle::Pass);
    };
    let memory = memory.clone();
    match input.effect_status {
        EffectStatus::Done(_, Outcome::Looked(sight)) => looked(memory, sight, input.now),
        // A failed look counts as a look: the next one keeps its distance.
        EffectStatus::Done(..) => looked(memory, &BranchStatus::NotMerged, input.now),
        EffectStatus::Running(_) => Step::take("backoff", State::Unclaimed(memory), OnIdle::Pass),
        EffectStatus::Clear | EffectStatus::Abandoned(_) if !is_due(memory.looked, input.now) => {
            Step::take("backoff", State::Unclaimed(memory), OnIdle::Pass)
        }
        EffectStatus::Clear | EffectStatus::Abandoned(_) => {
            let look = Effect::Look {
                branch: branch.clone(),
            };
            Step::need("look", State::Unclaimed(memory), look, LOOK_LIMIT)
        }
    }
}

fn looked(mut memory: ClaimMemory, sight: &BranchStatus, now: Millis) -> Idle {
    memory.looked = Some(now);
    let say = match sight {
        BranchStatus::Merged { pr, next } if memory.suggested != Some(*pr) => {
            memory.suggested = Some(*pr);
            let text = match next {
                Some(Item { issue, title }) => format!(
                    "PR #{pr} of this branch is merged. Next on the board: #{issue} {}. \
                     `mainspring claim {issue}` takes it.",
                    quote(title, 120)
                ),
                None => {
                    format!("PR #{pr} of this branch is merged. Nothing is waiting on the board.")
                }
            };
            memory.post(Mail {
                topic: Topic::Next,
                weight: Weight::Info,
                at: now,
                text: text.clone(),
            });
            OnIdle::Notify(text)
        }
        BranchStatus::Merged { .. } | BranchStatus::NotMerged => OnIdle::Pass,
    };
    Step::take("looked", State::Unclaimed(memory), say)
}
