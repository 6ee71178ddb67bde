//! The agent stops: due effects run, and their results are told.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::claim_file::{BACKOFF, ClaimFile, status};
use super::memory::{CardFault, ClaimMemory, Consent, Mail, Topic, Weight};
use super::phase::{Failure, Next, Phase, Task};
use super::work::{Board, CardUpdate, Close, Effect, Fault, How, Missing, Open, Outcome, Release};
use super::{BoardUse, Claim, Door, State};
use crate::effect::EffectStatus;
use crate::hidden::quote;
use crate::ids::Millis;
use crate::machine::{Input, OnStop, Step};

type Stop = Step<Claim, OnStop>;
type In<'a> = Input<'a, Claim>;

/// For three `gh` processes and some of git, on a slow line.
const OPEN_LIMIT: Millis = Millis::seconds(60);
const CLOSE_LIMIT: Millis = Millis::seconds(60);
const CARD_LIMIT: Millis = Millis::seconds(30);

pub(super) fn on_stop(state: &State, input: &In<'_>) -> Stop {
    match state {
        State::Newer { .. } => Step::ignore(state, OnStop::Pass),
        State::Unclaimed(memory) => quiet("unclaimed", memory.clone(), input, State::Unclaimed),
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

/// No result has come back in this turn: is an effect due?
fn fresh(claim: &ClaimFile, memory: ClaimMemory, input: &In<'_>) -> Stop {
    match &claim.phase {
        Phase::ReadyForPr => match Open::of(claim) {
            Ok(open) => need("open", claim, memory, Effect::Open(open), OPEN_LIMIT),
            Err(lack) => lacking(claim.clone(), memory, lack, input),
        },
        Phase::Done => close("close", claim, memory, input),
        Phase::Failed(failure) if failure.next.is_due(input.now) => {
            retry(claim, memory, failure, input)
        }
        Phase::Failed(_) => claimed("failed", claim.clone(), memory, OnStop::Pass),
        Phase::Coding | Phase::PrCreated | Phase::ChecksRunning | Phase::MergedDetected => {
            if input.facts.board == BoardUse::On && card_is_due(claim, &memory, input.now) {
                let card = Effect::Sync(CardUpdate::of(claim, &claim.status));
                return need("card", claim, memory, card, CARD_LIMIT);
            }
            resting(claim.clone(), memory, input)
        }
    }
}

fn retry(claim: &ClaimFile, memory: ClaimMemory, failure: &Failure, input: &In<'_>) -> Stop {
    match failure.during {
        Task::Close => close("retry", claim, memory, input),
        Task::Open => match Open::of(claim) {
            Ok(open) => need("retry", claim, memory, Effect::Open(open), OPEN_LIMIT),
            Err(lack) => lacking(claim.clone(), memory, lack, input),
        },
    }
}

/// Closes the issue, if its user let it be closed. The file says only what somebody wrote
/// into it.
fn close(rule: &'static str, claim: &ClaimFile, mut memory: ClaimMemory, input: &In<'_>) -> Stop {
    let close = Close::of(claim, memory.lease.as_ref());
    match (memory.consent, input.facts.door) {
        (Consent::Given, _) => need(rule, claim, memory, Effect::Close(close), CLOSE_LIMIT),
        (Consent::NotAsked | Consent::Asked | Consent::Spoken, Door::Compat) => {
            let close = Close {
                only_if_merged: true,
                ..close
            };
            need(rule, claim, memory, Effect::Close(close), CLOSE_LIMIT)
        }
        (Consent::NotAsked | Consent::Asked | Consent::Spoken, Door::Hook) => {
            let text = format!(
                "issue #{} is not closed: its file says so, and nobody let it be closed. When the \
                 pull request is merged, ask the user; after their yes, run `mainspring claim \
                 done`",
                claim.issue_number
            );
            if core::mem::replace(&mut memory.told_unconsented, true) {
                return claimed("unconsented", claim.clone(), memory, OnStop::Pass).note(text);
            }
            let claim = claim.clone();
            tell("unconsented", memory, text, input, |memory| {
                State::Claimed { claim, memory }
            })
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
    claimed("busy", claim.clone(), memory, OnStop::Pass)
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
    let claim = claim.clone();
    match (effect, outcome) {
        (
            Effect::Open(open),
            Outcome::Opened {
                pr,
                url,
                how,
                board,
            },
        ) if open.branch == claim.branch => opened(
            claim,
            memory,
            &Opened {
                pr: *pr,
                url,
                how: *how,
                board,
            },
            input,
        ),
        (Effect::Open(_), Outcome::Lacking(lack)) => match &claim.phase {
            Phase::ReadyForPr | Phase::Failed(_) => lacking(claim, memory, lack.clone(), input),
            Phase::Coding
            | Phase::PrCreated
            | Phase::ChecksRunning
            | Phase::MergedDetected
            | Phase::Done => resting(claim, memory, input),
        },
        (
            Effect::Close(close),
            Outcome::Closed {
                how,
                board,
                release,
            },
        ) if close.issue == claim.issue_number => closed(
            &claim,
            memory,
            &Closed {
                how: *how,
                board,
                release,
            },
            input,
        ),
        (Effect::Open(_), Outcome::Failed(fault)) => {
            failed(claim, memory, Task::Open, fault, input)
        }
        (Effect::Close(_), Outcome::Failed(fault)) => {
            failed(claim, memory, Task::Close, fault, input)
        }
        (Effect::Sync(card), Outcome::Synced(board)) => carded(claim, memory, card, board, input),
        (Effect::Sync(card), Outcome::Failed(fault)) => {
            let board = Board::Unreachable(fault.cause.clone());
            carded(claim, memory, card, &board, input)
        }
        // A result for another claim or another event.
        (_, _) => resting(claim, memory, input),
    }
}

struct Opened<'a> {
    pr: u64,
    url: &'a str,
    how: How,
    board: &'a Board,
}

fn opened(
    mut claim: ClaimFile,
    mut memory: ClaimMemory,
    opened: &Opened<'_>,
    input: &In<'_>,
) -> Stop {
    match &claim.phase {
        Phase::ReadyForPr | Phase::Failed(_) => {}
        Phase::Coding
        | Phase::PrCreated
        | Phase::ChecksRunning
        | Phase::MergedDetected
        | Phase::Done => {
            claim.pr_number = Some(opened.pr);
            return claimed("late", claim, memory, OnStop::Pass);
        }
    }
    claim.phase = Phase::PrCreated;
    claim.pr_number = Some(opened.pr);
    claim.status = status::IN_REVIEW.into();
    claim.last_check_poll = None;
    memory.lacking = None;
    let note = card_result(
        &mut claim,
        &mut memory,
        status::IN_REVIEW,
        opened.board,
        input.now,
    );
    let Opened { pr, url, how, .. } = opened;
    let url = quote(url, 300);
    let text = match how {
        How::Now => format!("PR #{pr} created: {url}"),
        How::Already => format!("PR #{pr} is there already: {url}"),
    };
    let text = format!(
        "{text}\nTell the user. CI is watched from here on: you will be told when it fails, passes, or \
         the pull request is merged."
    );
    noted(
        tell("opened", memory, text, input, |memory| State::Claimed {
            claim,
            memory,
        }),
        note,
    )
}

struct Closed<'a> {
    how: How,
    board: &'a Board,
    release: &'a Release,
}

fn closed(claim: &ClaimFile, mut memory: ClaimMemory, closed: &Closed<'_>, input: &In<'_>) -> Stop {
    match &claim.phase {
        Phase::Failed(_) | Phase::Done => {}
        Phase::Coding
        | Phase::ReadyForPr
        | Phase::PrCreated
        | Phase::ChecksRunning
        | Phase::MergedDetected => {
            return claimed("late", claim.clone(), memory, OnStop::Pass).note(format!(
                "issue #{} was closed, but the claim changed meanwhile, so it stays",
                claim.issue_number
            ));
        }
    }
    let mut gone = claim.clone();
    let note = card_result(
        &mut gone,
        &mut memory,
        status::DONE,
        closed.board,
        input.now,
    );
    let unreleased = match closed.release {
        Release::NotHeld | Release::Released => None,
        Release::Failed(cause) => Some(format!(
            "the claim on the git server was not released: {}",
            quote(cause, 300)
        )),
    };
    let issue = match closed.how {
        How::Now => format!("Issue #{} closed.", claim.issue_number),
        How::Already => format!("Issue #{} was closed already.", claim.issue_number),
    };
    let card = match closed.board {
        Board::Moved => " Board → Done.",
        Board::Off | Board::Lacks(_) | Board::Unreachable(_) => "",
    };
    let text = format!("{issue}{card} Signal file cleaned up.");
    let step = tell("closed", memory.after(), text, input, State::Unclaimed);
    noted(noted(step, note), unreleased)
}

fn lacking(mut claim: ClaimFile, mut memory: ClaimMemory, lack: Missing, input: &In<'_>) -> Stop {
    claim.phase = Phase::ReadyForPr;
    let advice = lack.advice(&claim);
    if memory.lacking.as_ref() == Some(&lack) {
        // It was said already and nothing changed. To say it again would only trap the agent.
        return claimed("lacking", claim, memory, OnStop::Pass).note(advice);
    }
    memory.lacking = Some(lack);
    tell("lacking", memory, advice, input, |memory| State::Claimed {
        claim,
        memory,
    })
}

fn failed(
    mut claim: ClaimFile,
    memory: ClaimMemory,
    task: Task,
    fault: &Fault,
    input: &In<'_>,
) -> Stop {
    let rule = match (&claim.phase, task) {
        (Phase::ReadyForPr, _) => "open-failed",
        (Phase::Done, _) => "close-failed",
        (Phase::Failed(_), _) => "retry-failed",
        (Phase::Coding | Phase::PrCreated | Phase::ChecksRunning | Phase::MergedDetected, _) => {
            return resting(claim, memory, input);
        }
    };
    let cause = quote(&fault.cause, 300);
    let Failure { attempts, next, .. } = claim.fail(task, &cause, input.now, fault.not_before);
    let doing = task.as_str();
    let issue = claim.issue_number;
    match next {
        Next::Never => {
            let text = format!(
                "Gave up {doing} for issue #{issue} after {attempts} attempts: {cause}. Tell the user. \
                 Setting `phase` to `{}` in .agent-claim.json tries again.",
                task.phase().as_str()
            );
            tell(rule, memory, text, input, |memory| State::Claimed {
                claim,
                memory,
            })
        }
        Next::At(at) => {
            let minutes = at.since(input.now).0.div_ceil(60_000);
            let text = format!(
                "Failed {doing} for issue #{issue}: {cause}. It is tried again at the first stop after \
                 {minutes} minutes; setting `phase` to `{}` in .agent-claim.json tries at once.",
                task.phase().as_str()
            );
            if attempts == 1 {
                return tell(rule, memory, text, input, |memory| State::Claimed {
                    claim,
                    memory,
                });
            }
            claimed(rule, claim, memory, OnStop::Pass).note(text)
        }
    }
}

fn carded(
    mut claim: ClaimFile,
    mut memory: ClaimMemory,
    card: &CardUpdate,
    board: &Board,
    input: &In<'_>,
) -> Stop {
    let note = card_result(&mut claim, &mut memory, &card.status, board, input.now);
    let step = match &claim.phase {
        Phase::Coding | Phase::PrCreated | Phase::ChecksRunning | Phase::MergedDetected => {
            quiet("card", memory, input, |memory| State::Claimed {
                claim,
                memory,
            })
        }
        Phase::ReadyForPr | Phase::Done | Phase::Failed(_) => {
            claimed("late", claim, memory, OnStop::Pass)
        }
    };
    noted(step, note)
}

/// Takes in the result of moving a card. The note is for something new.
fn card_result(
    claim: &mut ClaimFile,
    memory: &mut ClaimMemory,
    status: &str,
    board: &Board,
    now: Millis,
) -> Option<String> {
    let (cause, retry_at) = match board {
        Board::Moved => {
            claim.last_synced_status = Some(status.into());
            memory.card = None;
            return None;
        }
        Board::Off => return None,
        Board::Lacks(cause) => (cause, None),
        Board::Unreachable(cause) => (cause, Some(now.plus(BACKOFF))),
    };
    let known = memory
        .card
        .as_ref()
        .is_some_and(|fault| fault.cause == *cause);
    memory.card = Some(CardFault {
        status: status.into(),
        cause: cause.clone(),
        retry_at,
    });
    (!known).then(|| {
        format!(
            "the board was not updated: {}. The rest goes on without it",
            quote(cause, 300)
        )
    })
}

fn card_is_due(claim: &ClaimFile, memory: &ClaimMemory, now: Millis) -> bool {
    let may = match &memory.card {
        None => true,
        Some(fault) if fault.status != claim.status => true,
        Some(fault) => fault.retry_at.is_some_and(|at| now >= at),
    };
    may && claim.card_is_behind()
}

/// Nothing is due: the agent may stop, unless a message waits.
fn resting(claim: ClaimFile, memory: ClaimMemory, input: &In<'_>) -> Stop {
    let rule = match &claim.phase {
        Phase::Coding => "coding",
        Phase::PrCreated | Phase::ChecksRunning => "watched",
        Phase::MergedDetected => "asked",
        Phase::ReadyForPr | Phase::Done | Phase::Failed(_) => "late",
    };
    quiet(rule, memory, input, |memory| State::Claimed {
        claim,
        memory,
    })
}

/// Lets the agent go, or holds it for mail that is worth a turn.
fn quiet(
    rule: &'static str,
    mut memory: ClaimMemory,
    input: &In<'_>,
    state: impl FnOnce(ClaimMemory) -> State,
) -> Stop {
    let session = input.event.session.as_ref();
    match memory.fetch(session, input.now, Weight::Wake) {
        Some(text) => Step::take(rule, state(memory), OnStop::Hold(text)),
        None => Step::take(rule, state(memory), OnStop::Pass),
    }
}

/// Says it to this session if the claim is its own; otherwise it waits for the claim's session.
fn tell(
    rule: &'static str,
    mut memory: ClaimMemory,
    text: String,
    input: &In<'_>,
    state: impl FnOnce(ClaimMemory) -> State,
) -> Stop {
    let session = input.event.session.as_ref();
    let note = text.clone();
    memory.post(Mail {
        topic: Topic::Work,
        weight: Weight::Wake,
        at: input.now,
        text,
    });
    match memory.fetch(session, input.now, Weight::Wake) {
        Some(text) => Step::take(rule, state(memory), OnStop::Hold(text)),
        None => Step::take(rule, state(memory), OnStop::Pass).note(note),
    }
}

fn claimed(rule: &'static str, claim: ClaimFile, memory: ClaimMemory, say: OnStop) -> Stop {
    Step::take(rule, State::Claimed { claim, memory }, say)
}

fn need(
    rule: &'static str,
    claim: &ClaimFile,
    memory: ClaimMemory,
    effect: Effect,
    limit: Millis,
) -> Stop {
    let state = State::Claimed {
        claim: claim.clone(),
        memory,
    };
    Step::need(rule, state, effect, limit)
}

fn noted(mut step: Stop, note: Option<String>) -> Stop {
    step.notes.extend(note.into_iter().collect::<Vec<_>>());
    step
}
