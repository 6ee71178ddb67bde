//! The effects of the claim, and their results.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::branch;
use super::claim_file::ClaimFile;
use super::memory::ClaimMemory;
use super::pull::{Pull, PullState};
use crate::at_work::{Describe, Work};
use crate::hidden::quote;
use crate::ids::Millis;
use crate::reduce::Reducer;

/// Each is safe to repeat: it looks first, and does only what is missing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Find the branch's pull request or create it, and move the card.
    Open(Open),
    /// Close the issue with a comment, move the card, release the claim on the server.
    Close(Close),
    /// One look at a pull request.
    Poll {
        pr: u64,
        /// The commit whose failed checks the agent knows: their log is not read again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        known: Option<String>,
    },
    /// Is the pull request merged? Nothing else is read.
    CheckMerge { pr: u64 },
    /// Move the card only.
    Sync(CardUpdate),
    /// No claim here: is the branch's pull request merged, and which issue comes next?
    Look { branch: String },
    /// Read the board, for a session that starts.
    Survey,
    /// Read the board and look at a pull request, for a session that starts.
    Arrive { pr: u64, known: Option<String> },
    /// Write on the git server how far the claim is.
    Beat(HeartBeat),
    /// Give the issue back on the git server.
    GiveBack {
        issue: u64,
        lease: String,
        remote: String,
    },
}

/// The claim as everybody sees it on the git server.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HeartBeat {
    pub issue: u64,
    pub branch: String,
    pub phase: String,
    /// The commit that it replaces.
    pub lease: String,
    pub remote: String,
}

/// How often the claim on the git server is written at least, if its session is at work.
pub const BEAT: Millis = Millis::seconds(60 * 60);

impl HeartBeat {
    /// The phase has changed, or the last time is an hour ago.
    pub fn due(claim: &ClaimFile, memory: &ClaimMemory, now: Millis) -> Option<Self> {
        let lease = memory.lease.clone()?;
        let phase = claim.phase.as_str();
        let current = memory
            .beat
            .as_ref()
            .is_some_and(|beat| beat.phase == phase && now.since(beat.at) < BEAT);
        (!current).then(|| Self {
            issue: claim.issue_number,
            branch: claim.branch.clone(),
            phase: phase.into(),
            lease,
            remote: memory.route.claims.clone(),
        })
    }
}

impl ClaimMemory {
    /// There is no claim file any more, but the issue is still reserved.
    pub fn leftover(&self, now: Millis) -> Option<Effect> {
        // An empty phase is that of a failed attempt.
        let tried = self.beat.as_ref().filter(|beat| beat.phase.is_empty());
        if tried.is_some_and(|beat| now.since(beat.at) < BEAT) {
            return None;
        }
        Some(Effect::GiveBack {
            issue: self.issue?,
            lease: self.lease.clone()?,
            remote: self.route.claims.clone(),
        })
    }
}

impl Effect {
    /// The pull request that it looks at.
    pub const fn polls(&self) -> Option<u64> {
        match self {
            Self::Poll { pr, .. } | Self::CheckMerge { pr } | Self::Arrive { pr, .. } => Some(*pr),
            _ => None,
        }
    }
}

impl Describe for Effect {
    fn work(&self) -> Work {
        Work::new(match self {
            Self::Open(open) => format!("opening the pull request of #{}", open.issue),
            Self::Close(close) => format!("closing #{}", close.issue),
            Self::Poll { pr, .. } | Self::CheckMerge { pr } | Self::Arrive { pr, .. } => {
                format!("looking at pull request #{pr}")
            }
            Self::Beat(HeartBeat { issue, .. }) => {
                format!("writing the claim of #{issue} on the git server")
            }
            Self::GiveBack { issue, .. } => format!("giving #{issue} back on the git server"),
            Self::Sync(card) => format!("moving the card of #{}", card.issue),
            Self::Look { branch } => {
                format!("looking for the pull request of {}", quote(branch, 80))
            }
            Self::Survey => "reading the board".into(),
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Open {
    pub issue: u64,
    pub branch: String,
    pub summary: String,
    pub card: CardUpdate,
    /// A pull request that was closed without a merge: this one is meant to be another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<u64>,
    /// The remote to which the branch is pushed; empty: as git is configured.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub push: String,
    /// The commit by which we hold the issue on the git server: nothing is opened for an issue that
    /// somebody else has by now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<String>,
    /// The remote that has the claim; empty: the repository's.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub claims: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Close {
    pub issue: u64,
    pub pr: Option<u64>,
    pub card: CardUpdate,
    /// The commit by which we hold the issue on the git server. It is released.
    pub lease: Option<String>,
    /// The remote that has the claim; empty: the repository's.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remote: String,
    /// Nobody let it be closed but who wrote the file: only a merged one is.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub only_if_merged: bool,
}

/// A card on the board, and what it should say.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CardUpdate {
    pub issue: u64,
    /// May be empty: then it is found by the issue.
    pub item_id: String,
    pub status: String,
    /// Who works on it; empty clears the field.
    pub agent: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Opened {
        pr: u64,
        url: String,
        how: How,
        board: CardMove,
    },
    /// The agent has to do something first.
    Lacking(Missing),
    /// There is nothing to open a pull request for: the base branch has every commit.
    Integrated {
        base: String,
    },
    Closed {
        how: How,
        board: CardMove,
        release: Release,
    },
    Polled(Pull),
    /// The pull request, if it is merged.
    MergeChecked(Option<Pull>),
    Synced(CardMove),
    Looked(BranchStatus),
    Surveyed(Survey),
    Arrived {
        survey: Survey,
        seen: Seen,
    },
    Beaten(Beaten),
    GivenBack(Release),
    Failed(Fault),
}

impl Outcome {
    /// Lines of a log are nobody's word, but they may hold anything.
    pub(super) fn reduce(&mut self, reducer: Reducer) {
        let (Self::Polled(pull)
        | Self::Arrived {
            seen: Seen::Pull(pull),
            ..
        }) = self
        else {
            return;
        };
        for line in &mut pull.log {
            reducer.text(line);
        }
    }
}

/// A look at a pull request that was made together with another.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    Pull(Pull),
    Failed(Fault),
}

/// The result of writing the claim on the git server again.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Beaten {
    /// We have it, by this commit.
    Kept(String),
    /// Somebody else has it: who.
    Lost(String),
}

/// Did we do it, or was it there already?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    Now,
    Already,
}

/// The result of moving a card.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CardMove {
    Moved,
    /// The status was set, and something else is missing on the board.
    MovedOnly(String),
    /// No board is configured.
    Off,
    /// A scope, a field, an option or the card itself is missing. Trying again would not help.
    Lacks(String),
    /// It may work another time.
    Unreachable(String),
}

/// The result of releasing the issue on the git server.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Release {
    NotHeld,
    Released,
    /// Somebody else has it by now: who.
    Theirs(String),
    Failed(String),
}

/// Why GitHub could not be asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    SignedOut,
    RateLimited,
    #[default]
    Unreachable,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fault {
    #[serde(default)]
    pub kind: FaultKind,
    pub cause: String,
    /// When the server asked us to come back.
    pub not_before: Option<Millis>,
}

impl Fault {
    pub fn new(cause: impl Into<String>) -> Self {
        Self {
            kind: FaultKind::Unreachable,
            cause: cause.into(),
            not_before: None,
        }
    }
}

/// A branch without a claim.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BranchStatus {
    NotMerged,
    Merged { pr: u64, next: Option<Item> },
}

/// An issue on the board.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Item {
    pub issue: u64,
    pub title: String,
}

/// A summary of the board.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Survey {
    /// Its columns in the board's order, with the number of cards in each.
    Board {
        title: String,
        columns: Vec<(String, u32)>,
        next: Vec<Item>,
    },
    Off,
    Unavailable(String),
}

/// What the agent must do before there can be a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// Somebody else has taken the issue over.
    Claim {
        by: String,
    },
    Branch(String),
    Summary(String),
    Remote(String),
    /// The server does not have the branch.
    Unpushed,
    /// The head of the branch on the server is another commit than here.
    Behind,
    /// The server has what was here before an amend or a rebase.
    Rewritten {
        remote: String,
    },
    /// The branch has no commit that the base does not have.
    NotAhead {
        base: String,
    },
}

impl Open {
    /// The request that a claim makes; `Err` says what is missing.
    pub fn of(claim: &ClaimFile, memory: &ClaimMemory) -> Result<Self, Missing> {
        if let Some(by) = &memory.lost {
            return Err(Missing::Claim { by: by.clone() });
        }
        branch::check(&claim.branch).map_err(|bad| Missing::Branch(bad.to_string()))?;
        if let Some(fault) = claim.summary_fault() {
            return Err(Missing::Summary(fault));
        }
        Ok(Self {
            issue: claim.issue_number,
            branch: claim.branch.clone(),
            summary: claim.summary.trim().into(),
            card: CardUpdate::of(claim, super::claim_file::status::IN_REVIEW),
            instead_of: claim
                .pr_number
                .filter(|_| memory.told.state == Some(PullState::Closed)),
            push: memory.route.push.clone(),
            lease: memory.lease.clone(),
            claims: memory.route.claims.clone(),
        })
    }
}

impl Close {
    pub fn of(claim: &ClaimFile, memory: &ClaimMemory) -> Self {
        Self {
            issue: claim.issue_number,
            pr: claim.pr_number,
            lease: memory.lease.clone(),
            remote: memory.route.claims.clone(),
            only_if_merged: false,
            card: CardUpdate {
                agent: String::new(),
                ..CardUpdate::of(claim, super::claim_file::status::DONE)
            },
        }
    }
}

impl CardUpdate {
    pub fn of(claim: &ClaimFile, status: &str) -> Self {
        Self {
            issue: claim.issue_number,
            item_id: claim.item_id.clone(),
            status: status.into(),
            agent: claim.agent_id.clone(),
        }
    }
}

impl Missing {
    /// What to do about it, for the agent.
    pub fn advice(&self, claim: &ClaimFile) -> String {
        let branch = quote(&claim.branch, 200);
        let todo = match self {
            Self::Claim { by } => format!(
                "{} has taken the issue over. Ask the user how to go on: `mainspring claim abort` gives \
                 up the claim here, `mainspring claim list` shows who has what.",
                quote(by, 200)
            ),
            Self::Branch(why) => format!(
                "the claim's branch is `{branch}`, and {why}. Switch to the branch with the work and \
                 run `mainspring handoff --summary \"…\" --push` again."
            ),
            Self::Summary(why) => format!(
                "its summary cannot be the title of a pull request: {why}. \
                 Run `mainspring handoff --summary \"…\"`."
            ),
            Self::Remote(why) => quote(why, 500),
            Self::Unpushed => format!(
                "the branch `{branch}` is not on the server. `mainspring handoff --summary \"…\" \
                 --push` pushes it."
            ),
            Self::Behind => format!(
                "the server's `{branch}` is not the commit you have here. `mainspring handoff \
                 --summary \"…\" --push` pushes it."
            ),
            Self::Rewritten { remote } => format!(
                "the server's `{branch}` is what you had before an amend or a rebase. Push the new \
                 commits: `git push --force-with-lease {} {branch}`.",
                quote(remote, 60)
            ),
            Self::NotAhead { base } => format!(
                "`{branch}` has no commit that `{}` does not have. Commit your work, then run \
                 `mainspring handoff --summary \"…\" --push` again.",
                quote(base, 200)
            ),
        };
        format!(
            "The pull request for issue #{} was not created: {todo}",
            claim.issue_number
        )
    }
}
