//! A pull request as one query returned it, and the sum of its checks.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::hidden::quote;
use crate::ids::Millis;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pull {
    pub number: u64,
    pub url: String,
    pub state: PullState,
    pub review: Review,
    /// The commit of these checks: the current head.
    pub head: String,
    pub checks: Vec<Check>,
    /// Checks that the base branch requires, but that are not registered yet.
    pub awaited: Vec<String>,
    pub extent: Extent,
    #[serde(default, skip_serializing_if = "Outlook::is_plain")]
    pub outlook: Outlook,
    /// When it was merged, by GitHub's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_at: Option<Millis>,
    /// The end of the log of the first failed check.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<String>,
}

/// What stands between an open pull request and its merge, besides checks and reviews.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "GitHub answers each by itself"
)]
pub struct Outlook {
    pub draft: bool,
    pub conflict: bool,
    /// It is in the merge queue.
    pub queued: bool,
    /// GitHub merges it by itself when it may.
    pub auto_merge: bool,
    /// The commit of the last forced push, if there was one.
    pub forced_to: Option<String>,
}

impl Outlook {
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PullState {
    Open,
    Merged,
    Closed,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Review {
    #[default]
    None,
    /// The base branch asks for one, and it was not given yet.
    Required,
    Approved,
    ChangesRequested,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Check {
    pub name: String,
    pub state: CheckState,
    pub need: Need,
    /// The page of its job; empty if it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub url: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    Passed,
    Failed,
    Running,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    Required,
    Optional,
}

/// Are these all the checks? If there is more than one page of them, GitHub's own sum counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    All,
    Partial { total: u32, sum: CheckState },
}

/// The sum of the checks of the current head.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ci {
    /// None are registered. That is not green: they may still come.
    #[default]
    NotStarted,
    Running,
    Failed,
    Passed,
}

/// A message names this many failed checks.
const NAMED: usize = 5;

impl Pull {
    /// If the base branch requires some checks, only those count; otherwise all do.
    pub fn ci(&self) -> Ci {
        if let Extent::Partial { sum, .. } = self.extent {
            return match sum {
                CheckState::Passed => Ci::Passed,
                CheckState::Failed => Ci::Failed,
                CheckState::Running => Ci::Running,
            };
        }
        if self.checks.is_empty() && self.awaited.is_empty() {
            return Ci::NotStarted;
        }
        let counts = |check: &&Check| check.need == Need::Required || !self.has_required();
        let deciding: Vec<CheckState> =
            self.checks.iter().filter(counts).map(|c| c.state).collect();
        if deciding.contains(&CheckState::Failed) {
            Ci::Failed
        } else if deciding.contains(&CheckState::Running) || !self.awaited.is_empty() {
            Ci::Running
        } else {
            Ci::Passed
        }
    }

    fn has_required(&self) -> bool {
        !self.awaited.is_empty() || self.checks.iter().any(|check| check.need == Need::Required)
    }

    fn total(&self) -> usize {
        match self.extent {
            Extent::All => self.checks.len() + self.awaited.len(),
            Extent::Partial { total, .. } => total as usize,
        }
    }

    fn count(&self, state: CheckState) -> usize {
        self.checks
            .iter()
            .filter(|check| check.state == state)
            .count()
    }

    /// The failed checks, required ones first.
    fn failed(&self) -> impl Iterator<Item = &Check> {
        let failed = |need| {
            self.checks
                .iter()
                .filter(move |check| check.state == CheckState::Failed && check.need == need)
        };
        failed(Need::Required).chain(failed(Need::Optional))
    }

    /// The names of the failed checks, at most five.
    fn failed_names(&self) -> String {
        let mark = self.has_required();
        let names: Vec<String> = self
            .failed()
            .map(|check| match (mark, check.need) {
                (true, Need::Optional) => format!("{} (optional)", quote(&check.name, 80)),
                (true | false, Need::Required) | (false, Need::Optional) => quote(&check.name, 80),
            })
            .collect();
        let shown = names[..names.len().min(NAMED)].join(", ");
        match names.len().saturating_sub(NAMED) {
            0 => shown,
            more => format!("{shown} and {more} more"),
        }
    }

    /// Where the logs of the failed checks are, a line each.
    pub fn failed_links(&self) -> String {
        let linked = self.failed().filter(|check| !check.url.is_empty());
        let lines: Vec<String> = linked
            .take(NAMED)
            .map(|check| format!("\n{}: {}", quote(&check.name, 80), quote(&check.url, 300)))
            .collect();
        lines.concat()
    }

    /// Can it be merged now, and if not, what does it wait for?
    pub fn outlook_words(&self) -> String {
        let number = self.number;
        let Outlook {
            draft,
            conflict,
            queued,
            auto_merge,
            ..
        } = self.outlook;
        match self.review {
            _ if conflict => {
                format!("PR #{number} cannot be merged: it has conflicts with its base branch.")
            }
            Review::ChangesRequested => {
                format!("PR #{number} cannot be merged: a reviewer requests changes.")
            }
            _ if draft => format!(
                "PR #{number} is a draft: `gh pr ready {number}` marks it as ready, if the user wants that."
            ),
            _ if queued => format!("PR #{number} is in the merge queue."),
            Review::Required => format!("PR #{number} waits for a review."),
            Review::None | Review::Approved if auto_merge => {
                format!("PR #{number} is merged by GitHub itself: auto-merge is on.")
            }
            Review::None | Review::Approved => format!("PR #{number} is ready to merge."),
        }
    }

    /// The same as [`Pull::sentence`], for a person's desktop.
    pub fn notice(&self) -> String {
        let number = self.number;
        match self.ci() {
            Ci::NotStarted => format!("PR #{number}: no checks yet"),
            Ci::Running => format!("PR #{number}: checks are running"),
            Ci::Failed => format!("PR #{number}: checks failed: {}", self.failed_names()),
            Ci::Passed => format!("Checks passed. {}", self.outlook_words()),
        }
    }

    /// One sentence about the checks, for the agent.
    pub fn sentence(&self) -> String {
        let number = self.number;
        let total = self.total();
        let passed = self.count(CheckState::Passed);
        let failed = self.count(CheckState::Failed);
        match self.ci() {
            Ci::NotStarted => {
                format!("CI has not started: no checks are registered for PR #{number} yet.")
            }
            Ci::Running => {
                let running = total.saturating_sub(passed).saturating_sub(failed);
                let also = match failed {
                    0 => String::new(),
                    _ => format!(", failed: {}", self.failed_names()),
                };
                format!(
                    "CI for PR #{number}: {passed}/{total} passed, {running} still running{also}."
                )
            }
            Ci::Failed => format!(
                "CI failed for PR #{number}: {failed} of {total} checks FAILED: {}. \
                 Look at the logs, fix it on the branch and push.",
                self.failed_names()
            ),
            Ci::Passed if failed > 0 => format!(
                "CI passed: every required check of PR #{number} is green. Failed, but not required: {}. {}",
                self.failed_names(),
                self.outlook_words()
            ),
            Ci::Passed => {
                let checks = if total == 1 {
                    "1 check"
                } else {
                    &format!("{total} checks")
                };
                format!("CI passed! All {checks} green. {}", self.outlook_words())
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
