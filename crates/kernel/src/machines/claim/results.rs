//! The result of an effect, whatever the event at which it came back.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::State;
use super::claim_file::{BACKOFF, ClaimFile, status};
use super::memory::{Beat, CardFault, ClaimMemory};
use super::news::question;
use super::phase::{Failure, Next, Phase, Task};
use super::pull::PullState;
use super::text::unended;
use super::work::{Beaten, Board, CardUpdate, Effect, Fault, How, Missing, Outcome, Release};
use crate::hidden::quote;
use crate::ids::Millis;

/// What a result means.
#[derive(Debug)]
pub(super) struct Meaning {
    /// The arrow at a stop.
    pub(super) rule: &'static str,
    pub(super) state: State,
    /// For the agent, and worth a turn.
    pub(super) text: Option<String>,
    /// For the person.
    pub(super) notes: Vec<String>,
}

impl Meaning {
    fn quiet(rule: &'static str, claim: ClaimFile, memory: ClaimMemory) -> Self {
        Self {
            rule,
            state: State::Claimed { claim, memory },
            text: None,
            notes: Vec::new(),
        }
    }

    fn say(self, text: String) -> Self {
        let text = Some(text);
        Self { text, ..self }
    }

    fn note(mut self, note: impl Into<Option<String>>) -> Self {
        self.notes.extend(note.into());
        self
    }
}

/// The claim as it is now, and when.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) claim: ClaimFile,
    pub(super) memory: ClaimMemory,
    pub(super) now: Millis,
}

/// Takes in a result; `None` if it is about another claim, or of a look.
pub(super) fn take_in(
    held: Held,
    effect: &Effect,
    outcome: &Outcome,
    phrases: &[String],
) -> Option<Meaning> {
    match (effect, outcome) {
        (Effect::Open(open), Outcome::Opened { .. }) if open.branch == held.claim.branch => {
            Some(opened(held, outcome))
        }
        (Effect::Open(_), Outcome::Lacking(missing)) => {
            awaits_pull(&held.claim.phase).then(|| lacking(held, missing.clone()))
        }
        (Effect::Open(open), Outcome::Integrated { base }) if open.branch == held.claim.branch => {
            awaits_pull(&held.claim.phase).then(|| integrated(held, base, phrases))
        }
        (Effect::Close(close), Outcome::Closed { .. })
            if close.issue == held.claim.issue_number =>
        {
            Some(closed(held, outcome))
        }
        (Effect::Open(_), Outcome::Failed(fault)) => failed(held, Task::Open, fault),
        (Effect::Close(_), Outcome::Failed(fault)) => failed(held, Task::Close, fault),
        (Effect::Sync(card), Outcome::Synced(board)) => Some(carded(held, card, board)),
        (Effect::Sync(card), Outcome::Failed(fault)) => {
            let board = Board::Unreachable(fault.cause.clone());
            Some(carded(held, card, &board))
        }
        (Effect::Beat(beat), Outcome::Beaten(beaten)) if beat.issue == held.claim.issue_number => {
            Some(beaten_at(held, &beat.phase, beaten))
        }
        (Effect::Beat(beat), Outcome::Failed(_)) if beat.issue == held.claim.issue_number => {
            let lease = held.memory.lease.clone().unwrap_or_default();
            Some(beaten_at(held, &beat.phase, &Beaten::Kept(lease)))
        }
        (_, _) => None,
    }
}

const fn awaits_pull(phase: &Phase) -> bool {
    matches!(phase, Phase::ReadyForPr | Phase::Failed(_))
}

fn opened(held: Held, outcome: &Outcome) -> Meaning {
    let Held {
        mut claim,
        mut memory,
        now,
    } = held;
    let Outcome::Opened {
        pr,
        url,
        how,
        board,
    } = outcome
    else {
        return Meaning::quiet("late", claim, memory);
    };
    claim.pr_number = Some(*pr);
    if !awaits_pull(&claim.phase) {
        return Meaning::quiet("late", claim, memory);
    }
    claim.phase = Phase::PrCreated;
    claim.status = status::IN_REVIEW.into();
    claim.last_check_poll = None;
    memory.lacking = None;
    let note = card_result(&mut claim, &mut memory, status::IN_REVIEW, board, now);
    let url = quote(url, 300);
    let there = match how {
        How::Now => format!("PR #{pr} created: {url}"),
        How::Already => format!("PR #{pr} is there already: {url}"),
    };
    let text = format!(
        "{there}\nTell the user. CI is watched from here on: you will be told when it fails, passes, or \
         the pull request is merged."
    );
    Meaning::quiet("opened", claim, memory).say(text).note(note)
}

fn closed(held: Held, outcome: &Outcome) -> Meaning {
    let Held {
        mut claim,
        mut memory,
        now,
    } = held;
    let Outcome::Closed {
        how,
        board,
        release,
    } = outcome
    else {
        return Meaning::quiet("late", claim, memory);
    };
    let issue = claim.issue_number;
    if !matches!(claim.phase, Phase::Failed(_) | Phase::Done) {
        return Meaning::quiet("late", claim, memory).note(format!(
            "issue #{issue} was closed, but the claim changed meanwhile, so it stays"
        ));
    }
    let note = card_result(&mut claim, &mut memory, status::DONE, board, now);
    let unreleased = match release {
        Release::NotHeld | Release::Released => {
            memory.lease = None;
            None
        }
        // It is tried again, as for a claim whose file was deleted.
        Release::Failed(cause) => Some(format!(
            "the claim on the git server was not given back yet: {}",
            quote(cause, 300)
        )),
    };
    memory.beat = Some(Beat {
        at: now,
        phase: Phase::Done.as_str().into(),
    });
    let done = match how {
        How::Now => format!("Issue #{issue} closed."),
        How::Already => format!("Issue #{issue} was closed already."),
    };
    let card = match board {
        Board::Moved | Board::MovedOnly(_) => " Board → Done.",
        Board::Off | Board::Lacks(_) | Board::Unreachable(_) => "",
    };
    let meaning = Meaning {
        rule: "closed",
        state: State::Unclaimed(memory.after()),
        text: Some(format!("{done}{card} Signal file cleaned up.")),
        notes: Vec::new(),
    };
    meaning.note(note).note(unreleased)
}

/// Something must be done first. The same thing is not said twice: that would only trap the agent.
pub(super) fn lacking(held: Held, missing: Missing) -> Meaning {
    let Held {
        mut claim,
        mut memory,
        ..
    } = held;
    claim.phase = Phase::ReadyForPr;
    let advice = missing.advice(&claim);
    let known = memory.lacking.as_ref() == Some(&missing);
    if let Missing::Claim { by } = &missing {
        memory.lease = None;
        memory.lost = Some(by.clone());
    }
    memory.lacking = Some(missing);
    let meaning = Meaning::quiet("lacking", claim, memory);
    if known {
        return meaning.note(advice);
    }
    meaning.say(advice)
}

/// Somebody merged the branch without a pull request.
fn integrated(held: Held, base: &str, phrases: &[String]) -> Meaning {
    let Held {
        mut claim,
        mut memory,
        now,
    } = held;
    claim.phase = Phase::MergedDetected;
    memory.lacking = None;
    memory.told.state = Some(PullState::Merged);
    memory.merged_at = Some(now);
    memory.ask();
    let why = format!(
        "Every commit of `{}` is in `{}` already: somebody merged it by hand, and no pull request is \
         needed.",
        quote(&claim.branch, 200),
        quote(base, 200)
    );
    let text = question(claim.issue_number, &why, phrases);
    Meaning::quiet("integrated", claim, memory).say(text)
}

fn failed(held: Held, task: Task, fault: &Fault) -> Option<Meaning> {
    let Held {
        mut claim,
        memory,
        now,
    } = held;
    let rule = match &claim.phase {
        Phase::ReadyForPr => "open-failed",
        Phase::Done => "close-failed",
        Phase::Failed(_) => "retry-failed",
        Phase::Coding | Phase::PrCreated | Phase::ChecksRunning | Phase::MergedDetected => {
            return None;
        }
    };
    let cause = unended(&quote(&fault.cause, 300));
    let Failure { attempts, next, .. } = claim.fail(task, &cause, now, fault.not_before);
    let (doing, issue) = (task.as_str(), claim.issue_number);
    let meaning = Meaning::quiet(rule, claim, memory);
    Some(match next {
        Next::Never => meaning.say(format!(
            "Gave up {doing} for issue #{issue} after {attempts} attempts: {cause}. Tell the user. \
             `mainspring claim retry` tries again."
        )),
        Next::At(at) => {
            let minutes = at.since(now).0.div_ceil(60_000);
            let text = format!(
                "Failed {doing} for issue #{issue}: {cause}. It is tried again after {minutes} \
                 minutes; `mainspring claim retry` tries at the next stop."
            );
            match attempts {
                1 => meaning.say(text),
                _ => meaning.note(text),
            }
        }
    })
}

fn carded(held: Held, card: &CardUpdate, board: &Board) -> Meaning {
    let Held {
        mut claim,
        mut memory,
        now,
    } = held;
    let note = card_result(&mut claim, &mut memory, &card.status, board, now);
    let rule = match &claim.phase {
        Phase::Coding | Phase::PrCreated | Phase::ChecksRunning | Phase::MergedDetected => "card",
        Phase::ReadyForPr | Phase::Done | Phase::Failed(_) => "late",
    };
    Meaning::quiet(rule, claim, memory).note(note)
}

/// The claim on the git server was written again, or somebody else has it now.
fn beaten_at(held: Held, phase: &str, beaten: &Beaten) -> Meaning {
    let Held {
        claim,
        mut memory,
        now,
    } = held;
    let issue = claim.issue_number;
    memory.beat = Some(Beat {
        at: now,
        phase: phase.into(),
    });
    match beaten {
        Beaten::Kept(commit) => {
            memory.lease = Some(commit.clone()).filter(|commit| !commit.is_empty());
            Meaning::quiet("beat", claim, memory)
        }
        Beaten::Lost(holder) => {
            memory.lease = None;
            memory.lost = Some(holder.clone());
            let text = format!(
                "Issue #{issue} was taken over by {}. Ask the user how to go on: `mainspring claim \
                 abort` gives up the claim here, `mainspring claim list` shows who has what.",
                quote(holder, 200)
            );
            Meaning::quiet("beat", claim, memory).say(text)
        }
    }
}

/// The claim file is gone, and the issue was given back on the git server.
pub(super) fn given_back(mut memory: ClaimMemory, release: &Release, now: Millis) -> Meaning {
    let issue = memory.issue.unwrap_or_default();
    let note = match release {
        Release::NotHeld | Release::Released => {
            memory.lease = None;
            format!(
                "there is no claim file here any more, so issue #{issue} was given back on the git \
                 server; `mainspring claim {issue}` takes it again"
            )
        }
        Release::Failed(cause) => {
            memory.beat = Some(Beat {
                at: now,
                phase: String::new(),
            });
            format!(
                "issue #{issue} is still reserved on the git server: {}. It is tried again in an \
                 hour; `mainspring claim release {issue}` tries at once",
                unended(&quote(cause, 300))
            )
        }
    };
    let meaning = Meaning {
        rule: "given-back",
        state: State::Unclaimed(memory.after()),
        text: None,
        notes: Vec::new(),
    };
    meaning.note(note)
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
        Board::MovedOnly(cause) => {
            claim.last_synced_status = Some(status.into());
            (cause, None)
        }
        Board::Off => return None,
        Board::Lacks(cause) => (cause, None),
        Board::Unreachable(cause) => (cause, Some(now.plus(BACKOFF))),
    };
    let fault = memory.card.as_ref();
    let known = fault.is_some_and(|fault| fault.cause == *cause);
    memory.card = Some(CardFault {
        status: status.into(),
        cause: cause.clone(),
        retry_at,
    });
    let said = unended(&quote(cause, 300));
    (!known).then(|| match board {
        Board::MovedOnly(_) => format!("the card was moved, but {said}"),
        _ => format!("the board was not updated: {said}. The rest goes on without it"),
    })
}
