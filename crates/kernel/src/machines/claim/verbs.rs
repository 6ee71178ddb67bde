//! The commands for a claim. GitHub and git have been asked before.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub use super::refused::{Lease, Refused};

use super::branch;
use super::claim_file::ClaimFile;
use super::consent::{self, LastWord, Phrases};
use super::memory::{Beat, ClaimMemory, Consent, Route};
use super::news::{Look, PullNews};
use super::phase::{Failure, Phase, Task};
use super::pull::PullState;
use super::work::Open;
use super::{Claim, State};
use crate::authority::{self, Grounds};
use crate::ids::Millis;
use crate::machine::{Nothing, Step};
use crate::verbs::{Actor, VerbStep};

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

/// Where an issue was reserved, and where its work goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reserved {
    /// The commit by which we hold the issue on the git server.
    pub lease: Option<String>,
    pub route: Route,
    /// The linked worktree of the claim, if it has one.
    pub worktree: Option<String>,
}

/// Claims the issue.
pub fn take(
    state: &State,
    claim: ClaimFile,
    reserved: Reserved,
    actor: &Actor,
    now: Millis,
) -> Result<VerbStep<Claim>, Refused> {
    if let Some(held) = may_take(state, claim.issue_number)? {
        return Err(Refused::AnotherIssue {
            issue: held.issue_number,
            phase: held.phase.as_str(),
        });
    }
    let Reserved {
        lease,
        route,
        worktree,
    } = reserved;
    let memory = ClaimMemory {
        issue: Some(claim.issue_number),
        owner: actor.session().cloned(),
        beat: lease.as_ref().map(|_| Beat {
            at: now,
            phase: claim.phase.as_str().into(),
        }),
        lease,
        route,
        worktree,
        ..ClaimMemory::default()
    };
    let next = State::Claimed { claim, memory };
    Ok(Step::take("claim", next, Nothing))
}

/// The work is ready for its pull request. If one is open, it is found at the stop and used. If it
/// was closed unmerged, another one is opened. After the merge there is nothing to hand over.
/// `branch` is the one that is checked out, if it is not the repository's default branch: it has
/// the work.
pub fn handoff(
    state: &State,
    summary: &str,
    branch: Option<&str>,
    actor: &Actor,
) -> Result<VerbStep<Claim>, Refused> {
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
    if let Some(branch) = branch {
        claim.branch = branch.into();
    }
    Open::of(&claim, &memory).map_err(|lack| Refused::Lacking(lack.advice(&claim)))?;
    claim.phase = Phase::ReadyForPr;
    let mut memory = moved_by(memory, actor);
    // What the user said was about another pull request.
    memory.ask_anew();
    let next = State::Claimed { claim, memory };
    Ok(Step::take("handoff", next, Nothing))
}

/// The issue may be closed. A person confirms that with `--yes`, whatever the phase. For an agent,
/// the pull request must have been seen merged, and the user's last message must let the issue be
/// closed, by the host's own transcript.
pub fn done(
    state: &State,
    actor: &Actor,
    yes: bool,
    (last, phrases): (Option<&LastWord>, Phrases<'_>),
) -> Result<VerbStep<Claim>, Refused> {
    let (mut claim, memory) = claimed(state)?;
    let issue = claim.issue_number;
    let rule = match actor {
        Actor::Person if yes => "done-yes",
        Actor::Person => return Err(Refused::Unconfirmed(issue)),
        Actor::Agent(_) => {
            let merged_at = merged_at(&memory).ok_or(Refused::NotMerged(claim.pr_number))?;
            let given = last.is_some_and(|last| consent::is_given(last, issue, merged_at, phrases));
            let grounds = if given {
                Grounds::Consent
            } else {
                Grounds::Nothing
            };
            authority::may("claim done", actor, grounds).map_err(|_| Refused::Unanswered {
                issue,
                examples: consent::examples(issue, phrases),
            })?;
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

/// When the claim's work was merged, by our own memory: the file says only what somebody wrote
/// into it.
pub fn merged_at(memory: &ClaimMemory) -> Option<Millis> {
    let merged = memory.told.state == Some(PullState::Merged);
    merged.then(|| memory.merged_at.unwrap_or_default())
}

/// Somebody merged the branch by hand: there is no pull request to look at.
pub fn integrate(state: &State, actor: &Actor, now: Millis) -> Result<VerbStep<Claim>, Refused> {
    let (mut claim, memory) = claimed(state)?;
    if claim.phase != Phase::Done {
        claim.phase = Phase::MergedDetected;
    }
    let mut memory = moved_by(memory, actor);
    memory.told.state = Some(PullState::Merged);
    // Who says that it is merged has just said so.
    memory.merged_at = Some(now.min(memory.merged_at.unwrap_or(now)));
    memory.ask();
    let next = State::Claimed { claim, memory };
    Ok(Step::take("integrate", next, Nothing))
}

/// What failed is tried again at the next stop.
pub fn retry(state: &State, actor: &Actor) -> Result<VerbStep<Claim>, Refused> {
    let (mut claim, memory) = claimed(state)?;
    let Phase::Failed(failure) = &claim.phase else {
        return Err(Refused::NothingFailed {
            issue: claim.issue_number,
            phase: claim.phase.as_str(),
        });
    };
    let rule = match failure.during {
        Task::Open => "retry-open",
        Task::Close => "retry-close",
    };
    claim.phase = failure.during.phase();
    let memory = moved_by(memory, actor);
    Ok(Step::take(rule, State::Claimed { claim, memory }, Nothing))
}

/// There is more to do on the issue. A pull request that is merged or closed is not this work's
/// any more.
pub fn rework(state: &State, actor: &Actor) -> Result<VerbStep<Claim>, Refused> {
    let (mut claim, memory) = claimed(state)?;
    claim.phase = Phase::Coding;
    let mut memory = moved_by(memory, actor);
    memory.ask_anew();
    let state = memory.told.state;
    if state.is_some_and(|state| state != PullState::Open) {
        claim.pr_number = None;
        memory.told = super::memory::Told::default();
    }
    let next = State::Claimed { claim, memory };
    Ok(Step::take("rework", next, Nothing))
}

/// Gives the issue back. `held` says whether the git server still has the reservation: then it is
/// tried again later.
pub fn abort(state: &State, held: bool) -> Result<VerbStep<Claim>, Refused> {
    let (_, memory) = claimed(state)?;
    let left = ClaimMemory {
        mail: Vec::new(),
        lease: memory.lease.clone().filter(|_| held),
        ..memory
    };
    let unclaimed = State::Unclaimed(left.after());
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
    look: Look<'_>,
    actor: &Actor,
) -> Result<(VerbStep<Claim>, Option<String>), Refused> {
    let (claim, memory) = claimed(state)?;
    let known = merged_at(&memory).is_some();
    let waits = matches!(
        claim.phase,
        Phase::PrCreated | Phase::ChecksRunning | Phase::MergedDetected
    );
    // A phase that somebody wrote by hand does not say that we saw the merge.
    if claim.pr_number != Some(look.pull.number) || !waits || known {
        return Ok((Step::ignore(state, Nothing), None));
    }
    let mut news = PullNews::of(&claim, &memory, look).posted();
    let told = match actor {
        Actor::Agent(session) => news.memory.fetch(session.as_ref(), look.now),
        Actor::Person => None,
    };
    let rule = news.rule();
    let next = State::Claimed {
        claim: news.claim,
        memory: news.memory,
    };
    // A look at which nothing changed is not a step.
    if next.differs_only_in_time(state) {
        return Ok((Step::ignore(state, Nothing), told));
    }
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
