//! Why a command about a claim does nothing, and what to type next.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::consent::EXAMPLES;
use crate::machines::verbs::Refusal;

#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refused {
    #[error("no issue is claimed here")]
    NoClaim,
    #[error(".agent-claim.json has schema_version {0}, which is newer than this Mainspring writes")]
    Newer(u64),
    #[error("issue #{issue} is claimed here, phase {phase}")]
    AnotherIssue { issue: u64, phase: &'static str },
    #[error("{name:?} cannot be a branch: {why}")]
    Branch { name: String, why: String },
    #[error("{repository} has no issue #{issue}")]
    NoIssue { repository: String, issue: u64 },
    #[error("issue #{0} is closed")]
    IssueClosed(u64),
    #[error("issue #{issue} is claimed by {holder}")]
    Held {
        issue: u64,
        /// Who holds it, and since when.
        holder: String,
        lease: Lease,
    },
    /// The text says what is missing.
    #[error("{0}")]
    Lacking(String),
    #[error("the pull request of issue #{0} is merged, and a claim has one")]
    Merged(u64),
    #[error("issue #{0} is being closed")]
    Closing(u64),
    #[error("there is no pull request yet")]
    NoPull,
    #[error("issue #{0} would be closed")]
    Unconfirmed(u64),
    #[error(
        "the user has not said yes since the merge was reported: ask them whether to close issue \
         #{0}"
    )]
    Unanswered(u64),
    #[error("the pull request has not been seen merged yet")]
    NotMerged,
}

/// May somebody else's claim be taken over?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lease {
    Live,
    Expired,
}

impl Refusal for Refused {
    fn next(&self) -> Vec<String> {
        let lines: &[&str] = match self {
            Self::IssueClosed(issue) => {
                return Vec::from([format!("`gh issue reopen {issue}`, or claim another one")]);
            }
            // The message says what to do.
            Self::Lacking(_) => &[],
            Self::NoClaim => &["`mainspring claim N` claims one"],
            Self::Newer(_) => &["use the Mainspring that wrote it, or remove the file"],
            Self::AnotherIssue { .. } => &[
                "finish it, or give it back with `mainspring claim abort`",
                "`--worktree` claims another one beside it",
            ],
            Self::Branch { .. } => &["`--branch NAME` names another one"],
            Self::NoIssue { .. } => &["`gh issue list` shows what there is"],
            Self::Held { lease, .. } => match lease {
                Lease::Expired => {
                    &["`--steal` takes it over: it has been held for more than a day"]
                }
                Lease::Live => &["it can be taken over a day after it was claimed"],
            },
            Self::Merged(_) => &[
                "`mainspring claim done` closes the issue when the user says so",
                "for more work on it, set `phase` to `coding` in .agent-claim.json",
            ],
            Self::Closing(_) => &[
                "it is closed at the next stop",
                "for more work on it, set `phase` to `coding` in .agent-claim.json",
            ],
            Self::NoPull => &["`mainspring handoff --summary \"…\"` asks for one"],
            Self::Unconfirmed(_) => &["`mainspring claim done --yes` closes it"],
            Self::Unanswered(_) => {
                return Vec::from([format!(
                    "their next message counts if it is {EXAMPLES} and nothing else; or they run \
                     `mainspring claim done --yes` in a terminal"
                )]);
            }
            Self::NotMerged => &[
                "`mainspring claim status --now` looks; a person can run `mainspring claim done --yes`",
            ],
        };
        lines.iter().copied().map(Into::into).collect()
    }
}
