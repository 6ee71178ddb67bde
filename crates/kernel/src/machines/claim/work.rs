//! The effects of the claim, and their results.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::branch;
use super::claim_file::ClaimFile;
use super::pull::Pull;
use crate::hidden::quote;
use crate::ids::Millis;

/// Each is safe to repeat: it looks first, and does only what is missing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Find the branch's pull request or create it, and move the card.
    Open(Open),
    /// Close the issue with a comment, move the card, release the claim on the server.
    Close(Close),
    /// One look at a pull request.
    Poll { pr: u64 },
    /// Move the card only.
    Sync(CardUpdate),
    /// No claim here: is the branch's pull request merged, and which issue comes next?
    Look { branch: String },
    /// Read the board, for a session that starts.
    Survey,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Open {
    pub issue: u64,
    pub branch: String,
    pub summary: String,
    pub card: CardUpdate,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Close {
    pub issue: u64,
    pub pr: Option<u64>,
    pub card: CardUpdate,
    /// The commit by which we hold the issue on the git server. It is released.
    pub lease: Option<String>,
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
        board: Board,
    },
    /// The agent has to do something first.
    Lacking(Missing),
    Closed {
        how: How,
        board: Board,
        release: Release,
    },
    Polled(Pull),
    Synced(Board),
    Looked(BranchStatus),
    Surveyed(Survey),
    Failed(Fault),
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
pub enum Board {
    Moved,
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
    Failed(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fault {
    pub cause: String,
    /// When the server asked us to come back.
    pub not_before: Option<Millis>,
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
    Branch(String),
    Summary(String),
    Remote(String),
    /// The server does not have the branch.
    Unpushed,
    /// The head of the branch on the server is another commit than here.
    Behind,
    /// The branch has no commit that the base does not have.
    NotAhead {
        base: String,
    },
}

impl Open {
    /// The request that a claim makes; `Err` says what is missing.
    pub fn of(claim: &ClaimFile) -> Result<Self, Missing> {
        branch::check(&claim.branch).map_err(|bad| Missing::Branch(bad.to_string()))?;
        if let Some(fault) = claim.summary_fault() {
            return Err(Missing::Summary(fault));
        }
        Ok(Self {
            issue: claim.issue_number,
            branch: claim.branch.clone(),
            summary: claim.summary.trim().into(),
            card: CardUpdate::of(claim, super::claim_file::status::IN_REVIEW),
        })
    }
}

impl Close {
    pub fn of(claim: &ClaimFile, lease: Option<&String>) -> Self {
        Self {
            issue: claim.issue_number,
            pr: claim.pr_number,
            lease: lease.cloned(),
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
            Self::Branch(why) => format!(
                "`branch` in .agent-claim.json is `{branch}`, and {why}. Set it to the branch you work on."
            ),
            Self::Summary(why) => format!(
                "`summary` in .agent-claim.json cannot be the title of a pull request: {why}. \
                 Run `mainspring handoff --summary \"…\"`."
            ),
            Self::Remote(why) => quote(why, 500),
            Self::Unpushed => format!(
                "the branch `{branch}` is not on the server. Push it: `git push -u origin {branch}`."
            ),
            Self::Behind => format!(
                "the server's `{branch}` is not the commit you have here. Push it: `git push origin {branch}`."
            ),
            Self::NotAhead { base } => format!(
                "`{branch}` has no commit that `{}` does not have. Commit your work and push it.",
                quote(base, 200)
            ),
        };
        format!(
            "The pull request for issue #{} was not created: {todo}",
            claim.issue_number
        )
    }
}
