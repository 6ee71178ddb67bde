//! The file `.agent-claim.json`: the state that the agent, the person and we share. The shell reads
//! it, and writes back only the fields that changed.

use alloc::format;
use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::phase::{Failure, Next, Phase, Task};
use super::text::{SUMMARY_MAX, title};
use crate::hidden::quote;
use crate::ids::Millis;
use crate::reduce::Reducer;

/// The schema that this version writes. A newer file is read and never written.
pub const SCHEMA: u64 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ClaimFile {
    pub item_id: String,
    pub issue_number: u64,
    pub branch: String,
    pub agent_id: String,
    pub phase: Phase,
    pub summary: String,
    /// In a record, which does not have the summary: why it cannot be a pull request's title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary_fault: Option<String>,
    /// What the card on the board should say.
    pub status: String,
    pub pr_number: Option<u64>,
    /// A date that cannot be read is also `None`: then it is time to poll.
    pub last_check_poll: Option<Millis>,
    /// What the card on the board said when we last moved it.
    pub last_synced_status: Option<String>,
}

/// The columns of the board.
pub mod status {
    pub const TODO: &str = "Todo";
    pub const IN_PROGRESS: &str = "In Progress";
    pub const IN_REVIEW: &str = "In Review";
    pub const DONE: &str = "Done";
    /// In the order of a claim's life.
    pub const ALL: [&str; 4] = [TODO, IN_PROGRESS, IN_REVIEW, DONE];
}

/// The least time between two polls of a pull request, or two looks at a branch without a claim.
pub const BACKOFF: Millis = Millis::seconds(120);

/// Is the back-off since `last` over? A date in the future counts as none; otherwise a clock that
/// was wrong once would stop the polling until that day.
pub fn is_due(last: Option<Millis>, now: Millis) -> bool {
    match last {
        None => true,
        Some(last) => last > now.plus(BACKOFF) || now.since(last) >= BACKOFF,
    }
}

/// When the pull request may be polled again; `None` if it may be at once.
pub fn poll_due(claim: &ClaimFile) -> Option<Millis> {
    claim.last_check_poll.map(|last| last.plus(BACKOFF))
}

impl ClaimFile {
    /// A new claim.
    pub fn claimed(issue_number: u64, branch: String, agent_id: String, item_id: String) -> Self {
        Self {
            item_id,
            issue_number,
            branch,
            agent_id,
            phase: Phase::Coding,
            summary: String::new(),
            summary_fault: None,
            status: status::IN_PROGRESS.into(),
            pr_number: None,
            last_check_poll: None,
            last_synced_status: None,
        }
    }

    /// Why the summary cannot be a pull request's title, if it cannot.
    pub fn summary_fault(&self) -> Option<String> {
        let summary = self.summary.trim();
        if self.summary_fault.is_some() {
            self.summary_fault.clone()
        } else if summary.is_empty() {
            Some("it is empty".into())
        } else if summary.chars().count() > SUMMARY_MAX {
            Some(format!("it is longer than {SUMMARY_MAX} characters"))
        } else if summary.contains('\0') {
            Some("it has a NUL character".into())
        } else if quote(&title(summary).0, 1).is_empty() {
            Some("its first line has nothing that can be seen".into())
        } else {
            None
        }
    }

    pub(super) fn reduce(&mut self, reducer: Reducer) {
        if !self.summary.trim().is_empty() {
            self.summary_fault = self.summary_fault();
            reducer.text(&mut self.summary);
        }
    }

    /// The pull request to watch, if there is one.
    pub const fn watched_pull(&self) -> Option<u64> {
        match &self.phase {
            Phase::PrCreated | Phase::ChecksRunning => self.pr_number,
            _ => None,
        }
    }

    /// Does the board's status differ from the claim's?
    pub fn card_is_behind(&self) -> bool {
        !self.status.is_empty() && self.last_synced_status.as_ref() != Some(&self.status)
    }

    /// Counts one more failed attempt.
    pub fn fail(
        &mut self,
        during: Task,
        cause: &str,
        now: Millis,
        not_before: Option<Millis>,
    ) -> Failure {
        let before = match &self.phase {
            Phase::Failed(failure) if failure.during == during => failure.attempts,
            Phase::Failed(_)
            | Phase::Coding
            | Phase::ReadyForPr
            | Phase::PrCreated
            | Phase::ChecksRunning
            | Phase::MergedDetected
            | Phase::Done => 0,
        };
        let attempts = before.saturating_add(1);
        let failure = Failure {
            during,
            attempts,
            next: Next::after(attempts, now, not_before),
            cause: cause.into(),
        };
        self.phase = Phase::Failed(failure.clone());
        failure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim() -> ClaimFile {
        ClaimFile::claimed(42, "claude/fix-42".into(), "me".into(), "PVTI_1".into())
    }

    #[test]
    fn the_card_is_behind_where_it_says_something_else() {
        let mut claim = claim();
        assert!(claim.card_is_behind());
        claim.last_synced_status = Some(claim.status.clone());
        assert!(!claim.card_is_behind());
        claim.status = "In Review".into();
        assert!(claim.card_is_behind());
        claim.status.clear();
        assert!(!claim.card_is_behind());
    }

    #[test]
    fn failures_are_counted_per_task() {
        let now = Millis::seconds(5);
        let mut claim = claim();
        claim.fail(Task::Open, "a", now, None);
        let twice = claim.fail(Task::Open, "b", now, None);
        assert_eq!((twice.attempts, twice.cause.as_str()), (2, "b"));
        assert_eq!(claim.phase, Phase::Failed(twice));
        let other = claim.fail(Task::Close, "c", now, None);
        assert_eq!((other.attempts, other.during), (1, Task::Close));
    }

    #[test]
    fn two_minutes_between_polls_and_an_absurd_date_polls() {
        let now = Millis::seconds(10_000);
        let ago = |seconds: u64| Some(Millis::seconds(10_000 - seconds));
        assert!(is_due(None, now));
        assert!(!is_due(ago(0), now));
        assert!(!is_due(ago(119), now));
        assert!(is_due(ago(120), now));
        assert!(
            !is_due(Some(Millis::seconds(10_060)), now),
            "a clock a little ahead"
        );
        assert!(
            is_due(Some(Millis::seconds(99_999)), now),
            "a clock of tomorrow"
        );
    }
}
