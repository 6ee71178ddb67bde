//! Issues, pull requests and their comments.

use super::state::now;

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Issue {
    pub id: String,
    pub number: u64,
    pub title: String,
    pub body: String,
    pub author: String,
    pub state: IssueState,
    pub assignees: Vec<String>,
    pub comments: Vec<Comment>,
    pub created_at: String,
    /// How often it went from open to closed.
    pub closes: u32,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum IssueState {
    Open,
    Closed { reason: String, at: String },
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Comment {
    pub id: String,
    pub author: String,
    pub body: String,
    pub created_at: String,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PullRequest {
    pub id: String,
    pub number: u64,
    pub title: String,
    pub body: String,
    pub author: String,
    /// The owner of the repository with the branch: another one for a fork's.
    pub head_owner: String,
    pub head: String,
    pub base: String,
    pub head_sha: String,
    pub draft: bool,
    pub state: PullRequestState,
    pub review: Review,
    pub merging: Merging,
    pub assignees: Vec<String>,
    pub comments: Vec<Comment>,
    pub created_at: String,
}

/// What else is known about a merge to come.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Merging {
    pub conflict: bool,
    /// It is in the merge queue.
    pub queued: bool,
    pub auto_merge: bool,
    /// The commit of the last forced push.
    pub forced_to: Option<String>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum PullRequestState {
    Open,
    Closed { at: String },
    Merged { at: String, commit: String },
}

impl PullRequestState {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Open => "OPEN",
            Self::Closed { .. } => "CLOSED",
            Self::Merged { .. } => "MERGED",
        }
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Review {
    /// No review is asked for: `reviewDecision` is null.
    NotRequired,
    Required,
    ChangesRequested,
    Approved,
}

impl Review {
    pub(crate) fn decision(self) -> Option<&'static str> {
        match self {
            Self::NotRequired => None,
            Self::Required => Some("REVIEW_REQUIRED"),
            Self::ChangesRequested => Some("CHANGES_REQUESTED"),
            Self::Approved => Some("APPROVED"),
        }
    }
}

impl Issue {
    /// Closes it; a second time changes nothing.
    pub(crate) fn close(&mut self, reason: &str) {
        if self.state == IssueState::Open {
            self.closes += 1;
            self.state = IssueState::Closed {
                reason: reason.to_owned(),
                at: now(),
            };
        }
    }
}
