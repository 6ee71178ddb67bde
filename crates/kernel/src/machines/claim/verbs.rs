//! The commands for a claim. GitHub and git have been asked before.

use alloc::string::{String, ToString};

pub use super::refused::{Lease, Refused};

use super::branch;
use super::claim_file::ClaimFile;
use super::consent::{self, Prompt};
use super::memory::{ClaimMemory, Consent, Weight};
use super::news::PullNews;
use super::phase::{Failure, Phase, Task};
use super::pull::Pull;
use super::work::Open;
use super::{Claim, State};
use crate::authority::{self, Grounds};
use crate::ids::Millis;
use crate::machine::{Nothing, Step};
use crate::machines::verbs::{Actor, VerbStep};

/// May this issue be claimed here? Returns the claim if it is claimed here already.
pub fn may_take(state: &State, issue: u64) -> Result<Option<&ClaimFile>, Refused> {
    match state {
        State::Unclaimed(_) => Ok(None),
        State::Claimed { claim, .. } if claim.issue_number == issue => Ok(Some(claim)),
        State::Claimed { claim, .. } => Err(Refused::AnotherIssue {
            issue: claim.issue_number,
            phase: claim.phase.as_str(),
        }),
        State::Newer { version } => Err(Refused::Newer(*version)),
    }
}

/// The branch to work on: the one that was asked for, or one made from the issue's title.
pub fn branch_for(wanted: Option<&str>, issue: u64, title: &str) -> Result<String, Refused> {
    let Some(name) = wanted else {
        return Ok(branch::for_issue(issue, title));
    };
    match branch::check(name) {
        Ok(()) => Ok(name.into()),
        Err(bad) => Err(Refused::Branch {
            name: name.into(),
            why: bad.to_string(),
        }),
    }
}

/// Claims the issue. `lease` is the commit by which we hold it on the git server.
pub fn take(
    state: &State,
    claim: ClaimFile,
    lease: Option<String>,
    actor: &Actor,
) -> Result<VerbStep<Claim>, Refused> {
    if let Some(held) = may_take(state, claim.issue_number)? {
        return Err(Refused::AnotherIssue {
            issue: held.issue_number,
            phase: held.phase.as_str(),
        });
    }
    let memory = ClaimMemory {
        issue: Some(claim.issue_number),
        owner: actor.session().cloned(),
        lease,
        ..ClaimMemory::default()
    };
    Ok(Step::take(
        "claim",
        State::Claimed { claim, memory },
        Nothing,
    ))
}

/// The work is ready for its pull request. If one is open, it is found at the stop and used. If it
/// was closed unmerged, another one is opened. After the merge there is nothing to hand over.
pub fn handoff(state: &State, summary: &str, actor: &Actor) -> Result<VerbStep<Claim>, Refused> {
    let (mut claim, memory) = claimed(state)?;
    match &claim.phase {
        Phase::Coding | Phase::ReadyForPr | Phase::PrCreated | Phase::ChecksRunning => {}
        Phase::Failed(Failure { during, .. }) => match during {
            Task::Open => {}
            Task::Close => return Err(Refused::Closing(claim.issue_number)),
        },
        Phase::MergedDetected => return Err(Refused::Merged(claim.issue_number)),
        Phase::Done => return Err(Refused::Closing(claim.issue_number)),
    }
    claim.summary = summary.into();
    Open::of(&claim).map_err(|lack| Refused::Lacking(lack.advice(&claim)))?;
    claim.phase = Phase::ReadyForPr;
    let memory = ClaimMemory {
        lacking: None,
        // What the user said was about another pull request.
        consent: Consent::NotAsked,
        asked_at: None,
        told_unconsented: false,
        ..moved_by(memory, actor)
    };
    Ok(Step::take(
        "handoff",
        State::Claimed { claim, memory },
        Nothing,
    ))
}

/// The issue may be closed. A person confirms that with `--yes`, whatever the phase. For an agent,
/// the person must have answered the question with a yes, in a prompt that the host's transcript has.
pub fn done(
    state: &State,
    actor: &Actor,
    yes: bool,
    prompts: &[Prompt],
) -> Result<VerbStep<Claim>, Refused> {
    let (mut claim, memory) = claimed(state)?;
    let issue = claim.issue_number;
    let rule = match actor {
        Actor::Person if yes => "done-yes",
        Actor::Person => return Err(Refused::Unconfirmed(issue)),
        Actor::Agent(_) => {
            if !was_merged(&claim.phase) {
                return Err(Refused::NotMerged);
            }
            let grounds = if consent::is_shown(&memory, issue, prompts) {
                Grounds::Consent
            } else {
                Grounds::Nothing
            };
            authority::may("claim done", actor, grounds).map_err(|_| Refused::Unanswered(issue))?;
            "done"
        }
    };
    claim.phase = Phase::Done;
    let memory = ClaimMemory {
        consent: Consent::Given,
        told_unconsented: false,
        ..moved_by(memory, actor)
    };
    Ok(Step::take(rule, State::Claimed { claim, memory }, Nothing))
}

/// Only claims whose merge was seen reach these phases.
const fn was_merged(phase: &Phase) -> bool {
    match phase {
        Phase::MergedDetected | Phase::Done => true,
        Phase::Failed(failure) => matches!(failure.during, Task::Close),
        Phase::Coding | Phase::ReadyForPr | Phase::PrCreated | Phase::ChecksRunning => false,
    }
}

/// Gives the issue back.
pub fn abort(state: &State) -> Result<VerbStep<Claim>, Refused> {
    claimed(state)?;
    let unclaimed = State::Unclaimed(ClaimMemory::default());
    Ok(Step::take("abort", unclaimed, Nothing))
}

/// The pull request to look at.
pub fn pull(state: &State) -> Result<u64, Refused> {
    claimed(state)?.0.pr_number.ok_or(Refused::NoPull)
}

/// A command looked at the pull request. News goes into the mailbox; an agent reads its own claim's
/// mail at once, and that is the text.
pub fn look(
    state: &State,
    pull: &Pull,
    actor: &Actor,
    now: Millis,
) -> Result<(VerbStep<Claim>, Option<String>), Refused> {
    let (claim, memory) = claimed(state)?;
    match state.watched() {
        Some((_, _, pr)) if pr == pull.number => {}
        Some(_) | None => return Ok((Step::ignore(state, Nothing), None)),
    }
    let mut news = PullNews::of(&claim, &memory, pull, now);
    for mail in news.news.drain(..) {
        news.memory.post(mail);
    }
    let told = match actor {
        Actor::Agent(session) => news.memory.fetch(session.as_ref(), now, Weight::Info),
        Actor::Person => None,
    };
    let (after, remembered) = (news.claim, news.memory);
    // A look at which nothing changed is not a step: only its time would differ.
    if remembered == memory && after.phase == claim.phase {
        return Ok((Step::ignore(state, Nothing), told));
    }
    let rule = match &after.phase {
        Phase::MergedDetected => "seen-merged",
        Phase::Coding
        | Phase::ReadyForPr
        | Phase::PrCreated
        | Phase::ChecksRunning
        | Phase::Done
        | Phase::Failed(_) => "seen",
    };
    let next = State::Claimed {
        claim: after,
        memory: remembered,
    };
    Ok((Step::take(rule, next, Nothing), told))
}

/// The claim, with our memory of its issue.
pub fn claimed(state: &State) -> Result<(ClaimFile, ClaimMemory), Refused> {
    match state {
        State::Claimed { claim, memory } => Ok((claim.clone(), memory.about(claim.issue_number))),
        State::Unclaimed(_) => Err(Refused::NoClaim),
        State::Newer { version } => Err(Refused::Newer(*version)),
    }
}

/// An agent that changes a claim gets it; a person who changes it leaves it to its session.
fn moved_by(memory: ClaimMemory, actor: &Actor) -> ClaimMemory {
    ClaimMemory {
        owner: actor.session().cloned().or(memory.owner),
        ..memory
    }
}
