//! The agent stops: what is due is done, and what came of it is said.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::memo::{CardFault, Mail, Memo, Topic, Weight};
use super::phase::{Failure, Next, Phase, Task};
use super::signal::{BACKOFF, Signal, status};
use super::text::quote;
use super::work::{Board, Card, Close, Effect, Fault, How, Lack, Open, Outcome, Release};
use super::{BoardUse, Claim, State};
use crate::effect::Standing;
use crate::ids::Millis;
use crate::machine::{Input, OnStop, Step};

type Stop = Step<Claim, OnStop>;
type In<'a> = Input<'a, Claim>;

/// Three `gh` processes and some of git, on a slow line.
const OPEN_LIMIT: Millis = Millis::seconds(60);
const CLOSE_LIMIT: Millis = Millis::seconds(60);
const CARD_LIMIT: Millis = Millis::seconds(30);

pub(super) fn on_stop(state: &State, input: &In<'_>) -> Stop {
    match state {
        State::Newer { .. } => Step::ignore(state, OnStop::Pass),
        State::Unclaimed(memo) => quiet("unclaimed", memo.clone(), input, State::Unclaimed),
        State::Claimed { signal, memo } => {
            let memo = memo.about(signal.issue_number);
            match input.standing {
                Standing::Done(intent, outcome) => {
                    came_back(signal, memo, &intent.effect, outcome, input)
                }
                Standing::Running(_) => busy(signal, memo, input),
                Standing::Clear | Standing::Abandoned(_) => fresh(signal, memo, input),
            }
        }
    }
}

/// Nothing has come back in this turn: is something due?
fn fresh(signal: &Signal, memo: Memo, input: &In<'_>) -> Stop {
    match &signal.phase {
        Phase::ReadyForPr => match Open::of(signal) {
            Ok(open) => need("open", signal, memo, Effect::Open(open), OPEN_LIMIT),
            Err(lack) => lacking("lacking", signal.clone(), memo, lack, input),
        },
        Phase::Done => {
            let close = Effect::Close(Close::of(signal, memo.lease.as_ref()));
            need("close", signal, memo, close, CLOSE_LIMIT)
        }
        Phase::Failed(failure) if failure.next.is_due(input.now) => {
            retry(signal, memo, failure, input)
        }
        Phase::Failed(_) => claimed("failed", signal.clone(), memo, OnStop::Pass),
        Phase::Coding | Phase::PrCreated | Phase::ChecksRunning | Phase::MergedDetected => {
            if input.facts.board == BoardUse::On && card_is_due(signal, &memo, input.now) {
                let card = Effect::Sync(Card::of(signal, &signal.status));
                return need(card_rule(&signal.phase), signal, memo, card, CARD_LIMIT);
            }
            resting(signal.clone(), memo, input)
        }
    }
}

fn retry(signal: &Signal, memo: Memo, failure: &Failure, input: &In<'_>) -> Stop {
    match failure.during {
        Task::Close => {
            let close = Effect::Close(Close::of(signal, memo.lease.as_ref()));
            need("retry", signal, memo, close, CLOSE_LIMIT)
        }
        Task::Open => match Open::of(signal) {
            Ok(open) => need("retry", signal, memo, Effect::Open(open), OPEN_LIMIT),
            Err(lack) => lacking("retry-lacking", signal.clone(), memo, lack, input),
        },
    }
}

/// Another process is at it. Nothing is said twice: that process will say it.
fn busy(signal: &Signal, memo: Memo, input: &In<'_>) -> Stop {
    let (rule, doing) = match &signal.phase {
        Phase::ReadyForPr => ("opening", Task::Open),
        Phase::Done => ("closing", Task::Close),
        Phase::Failed(failure) => ("retrying", failure.during),
        Phase::Coding | Phase::PrCreated | Phase::ChecksRunning | Phase::MergedDetected => {
            return resting(signal.clone(), memo, input);
        }
    };
    claimed(rule, signal.clone(), memo, OnStop::Pass)
        .note(format!("another process is {}", doing.as_str()))
}

/// An effect came back. What it was asked for decides, and whether the claim is still
/// the one it was asked for.
fn came_back(
    signal: &Signal,
    memo: Memo,
    effect: &Effect,
    outcome: &Outcome,
    input: &In<'_>,
) -> Stop {
    let signal = signal.clone();
    match (effect, outcome) {
        (
            Effect::Open(open),
            Outcome::Opened {
                pr,
                url,
                how,
                board,
            },
        ) if open.branch == signal.branch => opened(
            signal,
            memo,
            &Opened {
                pr: *pr,
                url,
                how: *how,
                board,
            },
            input,
        ),
        (Effect::Open(_), Outcome::Lacking(lack)) => match &signal.phase {
            Phase::ReadyForPr => lacking("lacking", signal, memo, lack.clone(), input),
            Phase::Failed(_) => lacking("retry-lacking", signal, memo, lack.clone(), input),
            Phase::Coding
            | Phase::PrCreated
            | Phase::ChecksRunning
            | Phase::MergedDetected
            | Phase::Done => resting(signal, memo, input),
        },
        (
            Effect::Close(close),
            Outcome::Closed {
                how,
                board,
                release,
            },
        ) if close.issue == signal.issue_number => closed(
            &signal,
            memo,
            &Closed {
                how: *how,
                board,
                release,
            },
            input,
        ),
        (Effect::Open(_), Outcome::Failed(fault)) => failed(signal, memo, Task::Open, fault, input),
        (Effect::Close(_), Outcome::Failed(fault)) => {
            failed(signal, memo, Task::Close, fault, input)
        }
        (Effect::Sync(card), Outcome::Synced(board)) => carded(signal, memo, card, board, input),
        (Effect::Sync(card), Outcome::Failed(fault)) => {
            let board = Board::Unreachable(fault.cause.clone());
            carded(signal, memo, card, &board, input)
        }
        // Of another claim, or of another event.
        (_, _) => resting(signal, memo, input),
    }
}

struct Opened<'a> {
    pr: u64,
    url: &'a str,
    how: How,
    board: &'a Board,
}

fn opened(mut signal: Signal, mut memo: Memo, opened: &Opened<'_>, input: &In<'_>) -> Stop {
    let rule = match &signal.phase {
        Phase::ReadyForPr => "opened",
        Phase::Failed(_) => "retry-opened",
        Phase::Coding
        | Phase::PrCreated
        | Phase::ChecksRunning
        | Phase::MergedDetected
        | Phase::Done => {
            signal.pr_number = Some(opened.pr);
            return claimed("late", signal, memo, OnStop::Pass);
        }
    };
    signal.phase = Phase::PrCreated;
    signal.pr_number = Some(opened.pr);
    signal.status = status::IN_REVIEW.into();
    signal.last_check_poll = None;
    memo.lacking = None;
    let note = card_result(
        &mut signal,
        &mut memo,
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
        tell(rule, memo, text, input, |memo| State::Claimed {
            signal,
            memo,
        }),
        note,
    )
}

struct Closed<'a> {
    how: How,
    board: &'a Board,
    release: &'a Release,
}

fn closed(signal: &Signal, mut memo: Memo, closed: &Closed<'_>, input: &In<'_>) -> Stop {
    let rule = match &signal.phase {
        Phase::Failed(_) => "retry-closed",
        Phase::Done => "closed",
        Phase::Coding
        | Phase::ReadyForPr
        | Phase::PrCreated
        | Phase::ChecksRunning
        | Phase::MergedDetected => {
            return claimed("late", signal.clone(), memo, OnStop::Pass).note(format!(
                "issue #{} was closed, but the claim had moved on meanwhile: it stays",
                signal.issue_number
            ));
        }
    };
    let mut gone = signal.clone();
    let note = card_result(&mut gone, &mut memo, status::DONE, closed.board, input.now);
    let unreleased = match closed.release {
        Release::NotHeld | Release::Released => None,
        Release::Failed(cause) => Some(format!(
            "the claim on the git server was not released: {}",
            quote(cause, 300)
        )),
    };
    let issue = match closed.how {
        How::Now => format!("Issue #{} closed.", signal.issue_number),
        How::Already => format!("Issue #{} was closed already.", signal.issue_number),
    };
    let card = match closed.board {
        Board::Moved => " Board → Done.",
        Board::Off | Board::Lacks(_) | Board::Unreachable(_) => "",
    };
    let text = format!("{issue}{card} Signal file cleaned up.");
    let step = tell(rule, memo.after(), text, input, State::Unclaimed);
    noted(noted(step, note), unreleased)
}

fn lacking(
    rule: &'static str,
    mut signal: Signal,
    mut memo: Memo,
    lack: Lack,
    input: &In<'_>,
) -> Stop {
    signal.phase = Phase::ReadyForPr;
    let advice = lack.advice(&signal);
    if memo.lacking.as_ref() == Some(&lack) {
        // Said already and nothing changed: saying it again would only trap the agent.
        return claimed(rule, signal, memo, OnStop::Pass).note(advice);
    }
    memo.lacking = Some(lack);
    tell(rule, memo, advice, input, |memo| State::Claimed {
        signal,
        memo,
    })
}

fn failed(signal: Signal, memo: Memo, task: Task, fault: &Fault, input: &In<'_>) -> Stop {
    let rule = match (&signal.phase, task) {
        (Phase::ReadyForPr, _) => "open-failed",
        (Phase::Done, _) => "close-failed",
        (Phase::Failed(_), _) => "retry-failed",
        (Phase::Coding | Phase::PrCreated | Phase::ChecksRunning | Phase::MergedDetected, _) => {
            return resting(signal, memo, input);
        }
    };
    let cause = quote(&fault.cause, 300);
    let signal = signal.failed(task, &cause, input.now, fault.not_before);
    let (attempts, next) = match &signal.phase {
        Phase::Failed(Failure { attempts, next, .. }) => (*attempts, *next),
        _ => (0, Next::Never),
    };
    let doing = task.as_str();
    let issue = signal.issue_number;
    match next {
        Next::Never => {
            let text = format!(
                "Gave up {doing} for issue #{issue} after {attempts} attempts: {cause}. Tell the user. \
                 Setting `phase` to `{}` in .agent-claim.json tries again.",
                task.phase().as_str()
            );
            tell(rule, memo, text, input, |memo| State::Claimed {
                signal,
                memo,
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
                return tell(rule, memo, text, input, |memo| State::Claimed {
                    signal,
                    memo,
                });
            }
            claimed(rule, signal, memo, OnStop::Pass).note(text)
        }
    }
}

fn carded(mut signal: Signal, mut memo: Memo, card: &Card, board: &Board, input: &In<'_>) -> Stop {
    let note = card_result(&mut signal, &mut memo, &card.status, board, input.now);
    let rule = card_rule(&signal.phase);
    if rule.is_empty() {
        return noted(claimed("late", signal, memo, OnStop::Pass), note);
    }
    noted(
        quiet(rule, memo, input, |memo| State::Claimed { signal, memo }),
        note,
    )
}

/// Takes in what came of moving a card. A note where there is something new to say.
fn card_result(
    signal: &mut Signal,
    memo: &mut Memo,
    status: &str,
    board: &Board,
    now: Millis,
) -> Option<String> {
    let (cause, retry_at) = match board {
        Board::Moved => {
            signal.last_synced_status = Some(status.into());
            memo.card = None;
            return None;
        }
        Board::Off => return None,
        Board::Lacks(cause) => (cause, None),
        Board::Unreachable(cause) => (cause, Some(now.plus(BACKOFF))),
    };
    let known = memo
        .card
        .as_ref()
        .is_some_and(|fault| fault.cause == *cause);
    memo.card = Some(CardFault {
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

fn card_is_due(signal: &Signal, memo: &Memo, now: Millis) -> bool {
    let may = match &memo.card {
        None => true,
        Some(fault) if fault.status != signal.status => true,
        Some(fault) => fault.retry_at.is_some_and(|at| now >= at),
    };
    may && signal.card_is_behind()
}

/// Nothing is due: the agent may stop, unless something waits to be said.
fn resting(signal: Signal, memo: Memo, input: &In<'_>) -> Stop {
    let rule = match &signal.phase {
        Phase::Coding => "coding",
        Phase::PrCreated => "created",
        Phase::ChecksRunning => "running",
        Phase::MergedDetected => "asked",
        Phase::ReadyForPr | Phase::Done | Phase::Failed(_) => "late",
    };
    quiet(rule, memo, input, |memo| State::Claimed { signal, memo })
}

const fn card_rule(phase: &Phase) -> &'static str {
    match phase {
        Phase::Coding => "coding-card",
        Phase::PrCreated => "created-card",
        Phase::ChecksRunning => "running-card",
        Phase::MergedDetected => "asked-card",
        Phase::ReadyForPr | Phase::Done | Phase::Failed(_) => "",
    }
}

/// Lets go, or holds for mail that is worth a turn.
fn quiet(
    rule: &'static str,
    mut memo: Memo,
    input: &In<'_>,
    state: impl FnOnce(Memo) -> State,
) -> Stop {
    let session = input.event.session.as_ref();
    match memo.fetch(session, input.now, Weight::Wake) {
        Some(text) => Step::take(rule, state(memo), OnStop::Hold(text)),
        None => Step::take(rule, state(memo), OnStop::Pass),
    }
}

/// Says it to this session if the claim is its own; else it waits for the one whose it is.
fn tell(
    rule: &'static str,
    mut memo: Memo,
    text: String,
    input: &In<'_>,
    state: impl FnOnce(Memo) -> State,
) -> Stop {
    let session = input.event.session.as_ref();
    let note = text.clone();
    memo.post(Mail {
        topic: Topic::Work,
        weight: Weight::Wake,
        at: input.now,
        text,
    });
    match memo.fetch(session, input.now, Weight::Wake) {
        Some(text) => Step::take(rule, state(memo), OnStop::Hold(text)),
        None => Step::take(rule, state(memo), OnStop::Pass).note(note),
    }
}

fn claimed(rule: &'static str, signal: Signal, memo: Memo, say: OnStop) -> Stop {
    Step::take(rule, State::Claimed { signal, memo }, say)
}

fn need(rule: &'static str, signal: &Signal, memo: Memo, effect: Effect, limit: Millis) -> Stop {
    let state = State::Claimed {
        signal: signal.clone(),
        memo,
    };
    Step::need(rule, state, effect, limit)
}

fn noted(mut step: Stop, note: Option<String>) -> Stop {
    step.notes.extend(note.into_iter().collect::<Vec<_>>());
    step
}
