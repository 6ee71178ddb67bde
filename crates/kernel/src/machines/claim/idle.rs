//! The agent waits for the person: what is the state of its pull request?

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::claim_file::{ClaimFile, is_due};
use super::memory::{ClaimMemory, Mail, Topic, Weight};
use super::news::{Look, PullNews};
use super::phase::Phase;
use super::pull::{Ci, Pull, PullState};
use super::results::{self, Held};
use super::retry::{self, At};
use super::rounds;
use super::stop::post;
use super::work::{BranchStatus, Effect, Fault, Item, Outcome};
use super::{Claim, Door, State};
use crate::effect::EffectStatus;
use crate::hidden::quote;
use crate::ids::Millis;
use crate::machine::{Input, OnIdle, Step};

type Idle = Step<Claim, OnIdle>;
type In<'a> = Input<'a, Claim>;

/// One `gh` process, and another for a log.
const LOOK_LIMIT: Millis = Millis::seconds(12);

pub(super) fn on_idle(state: &State, input: &In<'_>) -> Idle {
    match state {
        State::Newer { .. } => Step::ignore(state, OnIdle::Pass),
        State::Unclaimed(memory) => unclaimed(memory, input),
        State::Claimed { claim, memory } => {
            let memory = memory.about(claim.issue_number);
            match (claim.watched_pull(), &claim.phase) {
                (Some(pr), _) => poll(pr, claim, memory, input),
                (None, Phase::Failed(_)) => take_up(state, claim, memory, input),
                (None, _) => Step::ignore(state, OnIdle::Pass),
            }
        }
    }
}

/// Is it merged? And if the last poll is two minutes ago: what about its checks?
fn poll(pr: u64, claim: &ClaimFile, memory: ClaimMemory, input: &In<'_>) -> Idle {
    let due = is_due(claim.last_check_poll, input.now);
    // A server in trouble is not asked more often than a healthy one.
    let told_to_wait =
        memory.not_before.is_some_and(|at| input.now < at) || (memory.trouble.is_some() && !due);
    let rests = |mut memory| {
        let say = waits(claim, &mut memory, input).map_or(OnIdle::Pass, OnIdle::Notify);
        let claim = claim.clone();
        Step::take("poll-backoff", State::Claimed { claim, memory }, say)
    };
    match input.effect_status {
        EffectStatus::Done(intent, Outcome::Polled(pull)) if intent.effect.polls() == Some(pr) => {
            polled(claim, &memory, pull, input)
        }
        EffectStatus::Done(_, Outcome::MergeChecked(Some(pull))) if pull.number == pr => {
            polled(claim, &memory, pull, input)
        }
        EffectStatus::Done(_, Outcome::Failed(fault)) => {
            unpolled(claim.clone(), memory, fault, input.now)
        }
        EffectStatus::Done(..) | EffectStatus::Running(_) => rests(memory),
        EffectStatus::Clear | EffectStatus::Abandoned(_) if told_to_wait => rests(memory),
        EffectStatus::Clear | EffectStatus::Abandoned(_) => {
            let effect = Effect::poll(claim, &memory).filter(|_| due);
            let claim = claim.clone();
            let state = State::Claimed { claim, memory };
            let effect = effect.unwrap_or(Effect::CheckMerge { pr });
            Step::need("poll", state, effect, LOOK_LIMIT)
        }
    }
}

fn polled(claim: &ClaimFile, memory: &ClaimMemory, pull: &Pull, input: &In<'_>) -> Idle {
    let look = Look {
        pull,
        now: input.now,
        phrases: &input.facts.phrases,
    };
    let seen = PullNews::of(claim, memory, look);
    let said = notice(&seen, pull, input.facts.door);
    let mut seen = seen.posted();
    let waits = waits(&seen.claim, &mut seen.memory, input);
    let said: Vec<String> = said.into_iter().chain(waits).collect();
    let say = if said.is_empty() {
        OnIdle::Pass
    } else {
        OnIdle::Notify(said.join("; "))
    };
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
    Step::take(rule, State::Claimed { claim, memory }, say)
}

/// What is said now: to the person, or, by the drop-in, to the agent.
fn notice(seen: &PullNews, pull: &Pull, door: Door) -> Option<String> {
    match door {
        Door::Hook | Door::Command => (!seen.notices.is_empty()).then(|| seen.notices.join("; ")),
        // The public script tells at every poll that checks still run.
        Door::Compat => seen.wake().or_else(|| {
            let running = pull.state == PullState::Open && pull.ci() == Ci::Running;
            running.then(|| pull.sentence())
        }),
    }
}

/// Red CI that waits for the person. The drop-in speaks to the agent.
fn waits(claim: &ClaimFile, memory: &mut ClaimMemory, input: &In<'_>) -> Option<String> {
    match input.facts.door {
        Door::Hook | Door::Command => rounds::untold(claim, memory, input.facts.max_ci_rounds),
        Door::Compat => None,
    }
}

/// A failed poll counts for the back-off, too.
fn unpolled(mut claim: ClaimFile, mut memory: ClaimMemory, fault: &Fault, now: Millis) -> Idle {
    claim.last_check_poll = Some(now);
    let note = memory.look_failed(fault, now);
    let step = Step::take("unpolled", State::Claimed { claim, memory }, OnIdle::Pass);
    match note {
        Some(note) => step.note(note),
        None => step,
    }
}

/// Something failed at a stop, and it is time to try again.
fn take_up(state: &State, claim: &ClaimFile, memory: ClaimMemory, input: &In<'_>) -> Idle {
    match input.effect_status {
        EffectStatus::Done(intent, outcome) => {
            let held = Held {
                claim: claim.clone(),
                memory,
                now: input.now,
            };
            let phrases = &input.facts.phrases;
            match results::take_in(held, &intent.effect, outcome, phrases) {
                Some(meaning) => {
                    let rule = retry::rule(At::Idle, &meaning);
                    let (state, say) = match meaning.text {
                        Some(text) => {
                            let notice = text.lines().next().unwrap_or_default().into();
                            (
                                post(&meaning.state, text, input.now),
                                OnIdle::Notify(notice),
                            )
                        }
                        None => (meaning.state, OnIdle::Pass),
                    };
                    let mut step = Step::take(rule, state, say);
                    step.notes = meaning.notes;
                    step
                }
                None => Step::ignore(state, OnIdle::Pass),
            }
        }
        EffectStatus::Running(_) => Step::ignore(state, OnIdle::Pass),
        EffectStatus::Clear | EffectStatus::Abandoned(_) => {
            match retry::due(claim, &memory, input) {
                // The host ends an idle hook soon; what was begun then is taken up again.
                Some((effect, limit)) => {
                    let claim = claim.clone();
                    let state = State::Claimed { claim, memory };
                    Step::need("idle-retry", state, effect, limit.min(LOOK_LIMIT))
                }
                None => Step::ignore(state, OnIdle::Pass),
            }
        }
    }
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
            memory.post(Mail::new(Topic::Next, Weight::Info, now, text.clone()));
            OnIdle::Notify(text)
        }
        BranchStatus::Merged { .. } | BranchStatus::NotMerged => OnIdle::Pass,
    };
    Step::take("looked", State::Unclaimed(memory), say)
}
