//! Why a command about a claim does nothing, and what to type next.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::verbs::Refusal;

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
    #[error("you have not agreed to close #{0} yet")]
    Unconfirmed(u64),
    #[error("the user has not agreed to close #{issue} yet: ask `Should I close issue #{issue}?`")]
    Unanswered { issue: u64, examples: String },
    /// The number of the pull request, if there is one.
    #[error("{}", not_merged(*.0))]
    NotMerged(Option<u64>),
    #[error("nothing has failed: issue #{issue} is in phase {phase}")]
    NothingFailed { issue: u64, phase: &'static str },
    #[error("issue #{issue} is {whose}")]
    Somebodys {
        issue: u64,
        /// Whose it is on GitHub: its assignees, or the agent on its card.
        whose: String,
    },
    #[error("#{0} is a pull request, not an issue")]
    IsPull(u64),
    #[error("nobody has claimed issue #{0} on the git server")]
    NotHeld(u64),
}

fn not_merged(pr: Option<u64>) -> String {
    match pr {
        Some(pr) => format!("pull request #{pr} is not merged"),
        None => "there is no pull request, and the branch is not merged either".into(),
    }
}

/// May a claim be taken over?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lease {
    Live,
    Expired,
    /// It is the same person's, in another clone.
    OwnClone,
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
            Self::Newer(_) => &["use the Mainspring that wrote it: `mainspring --version`"],
            Self::AnotherIssue { .. } => &[
                "finish it, or give it back with `mainspring claim abort`",
                "`--worktree` claims another one beside it",
            ],
            Self::Branch { .. } => &["`--branch NAME` names another one"],
            Self::NoIssue { .. } => &["`gh issue list` shows what there is"],
            Self::Held { lease, .. } => match lease {
                Lease::Expired => {
                    &["`--steal` takes it over: nothing was heard of it for more than a day"]
                }
                Lease::OwnClone => &[
                    "it is your own claim, in another clone: `--steal` takes it over at once",
                    "`mainspring claim release N` gives it back",
                ],
                Lease::Live => &["it can be taken over when nothing is heard of it for a day"],
            },
            Self::Merged(_) => &[
                "`mainspring claim done` closes the issue when the user says so",
                "for more work on it, run `mainspring claim rework`",
            ],
            Self::Closing(_) => &[
                "it is closed at the next stop",
                "for more work on it, run `mainspring claim rework`",
            ],
            Self::NoPull => &["`mainspring handoff --summary \"…\"` asks for one"],
            Self::Unconfirmed(_) => &["`mainspring claim done --yes` closes it"],
            Self::Unanswered { examples, .. } => {
                return Vec::from([
                    format!("their whole message must be {examples}"),
                    "or they run `mainspring claim done --yes` in a terminal".into(),
                ]);
            }
            Self::NotMerged(_) => {
                &["you are told when it is merged; a person can run `mainspring claim done --yes`"]
            }
            Self::NothingFailed { .. } => &["`mainspring claim status` says what comes next"],
            Self::Somebodys { .. } => &[
                "ask the user; `--anyway` takes it all the same",
                "`mainspring claim list` shows who has what",
            ],
            Self::IsPull(pr) => {
                return Vec::from([
                    format!("`gh pr view {pr}` names the issue that it is about; claim that one"),
                    format!("to work on the pull request itself: `gh pr checkout {pr}`"),
                ]);
            }
            Self::NotHeld(_) => &["`mainspring claim list` shows who has what"],
        };
        lines.iter().copied().map(Into::into).collect()
    }
}
