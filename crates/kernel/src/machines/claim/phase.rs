//! How far a claimed issue is, according to the claim file.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::ids::Millis;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The agent works. GitHub is not called.
    Coding,
    /// The agent handed over its work: a pull request is due at the next stop.
    ReadyForPr,
    PrCreated,
    ChecksRunning,
    /// The pull request is merged, and the person was asked whether to close the issue.
    MergedDetected,
    /// The person said yes: the issue is closed at the next stop.
    Done,
    /// GitHub refused or failed. It is tried again later, a limited number of times.
    Failed(Failure),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Failure {
    pub during: Task,
    pub attempts: u32,
    pub next: Next,
    pub cause: String,
}

/// What failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Creating the pull request.
    Open,
    /// Closing the issue.
    Close,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Next {
    At(Millis),
    /// Only when somebody sets the phase again.
    Never,
}

/// How long to wait after each failed attempt; after the last one we give up.
const WAITS: [Millis; 4] = [
    Millis::seconds(2 * 60),
    Millis::seconds(8 * 60),
    Millis::seconds(30 * 60),
    Millis::seconds(2 * 60 * 60),
];

impl Next {
    /// When to try again after this many failed attempts. The server may ask for a later time.
    pub fn after(attempts: u32, now: Millis, not_before: Option<Millis>) -> Self {
        let index = attempts.saturating_sub(1) as usize;
        match WAITS.get(index) {
            Some(wait) => Self::At(now.plus(*wait).max(not_before.unwrap_or_default())),
            None => Self::Never,
        }
    }

    pub fn is_due(self, now: Millis) -> bool {
        match self {
            Self::At(at) => now >= at,
            Self::Never => false,
        }
    }
}

impl Task {
    /// The phase that leads to it.
    pub const fn phase(self) -> Phase {
        match self {
            Self::Open => Phase::ReadyForPr,
            Self::Close => Phase::Done,
        }
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "creating the pull request",
            Self::Close => "closing the issue",
        }
    }
}

impl Phase {
    /// The phase in the claim file. The details of `failed` are in a field of their own.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Coding => "coding",
            Self::ReadyForPr => "ready_for_pr",
            Self::PrCreated => "pr_created",
            Self::ChecksRunning => "checks_running",
            Self::MergedDetected => "merged_detected",
            Self::Done => "done",
            Self::Failed(_) => "failed",
        }
    }

    /// Every phase. `failed` without details waits until somebody sets the phase.
    pub const ALL: [Self; 7] = [
        Self::Coding,
        Self::ReadyForPr,
        Self::PrCreated,
        Self::ChecksRunning,
        Self::MergedDetected,
        Self::Done,
        Self::Failed(Failure {
            during: Task::Open,
            attempts: 0,
            next: Next::Never,
            cause: String::new(),
        }),
    ];

    /// `None` for an unknown phase.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.as_str() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_reads_back_from_its_word() {
        for phase in Phase::ALL {
            assert_eq!(Phase::parse(phase.as_str()), Some(phase));
        }
        for word in ["", "Coding", "coding ", "closed"] {
            assert_eq!(Phase::parse(word), None, "{word:?}");
        }
    }

    #[test]
    fn attempts_are_spaced_out_and_end() {
        let now = Millis::seconds(1_000);
        let minutes = |attempts| match Next::after(attempts, now, None) {
            Next::At(at) => Some(at.since(now).0 / 60_000),
            Next::Never => None,
        };
        let spacing: alloc::vec::Vec<_> = (1..=6).map(minutes).collect();
        assert_eq!(spacing, [Some(2), Some(8), Some(30), Some(120), None, None]);
    }

    #[test]
    fn the_servers_word_on_when_wins_if_it_is_later() {
        let now = Millis::seconds(1_000);
        let later = Millis::seconds(9_000);
        assert_eq!(Next::after(1, now, Some(later)), Next::At(later));
        assert_eq!(
            Next::after(1, now, Some(now)),
            Next::At(now.plus(Millis::seconds(120)))
        );
        assert!(!Next::after(1, now, Some(later)).is_due(Millis(later.0 - 1)));
        assert!(Next::after(1, now, Some(later)).is_due(later));
        assert!(!Next::Never.is_due(Millis(u64::MAX)));
    }
}
