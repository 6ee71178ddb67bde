//! Why GitHub could not be asked. A person is told once, until it works again.

use alloc::format;
use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::memory::ClaimMemory;
use super::work::Fault;
use crate::hidden::quote;
use crate::ids::Millis;
use crate::machines::claim::text::unended;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LookTrouble {
    pub kind: TroubleKind,
    pub cause: String,
    pub since: Millis,
    /// A person was told, at a prompt or a start.
    pub told: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TroubleKind {
    SignedOut,
    RateLimited,
    Unreachable,
}

impl TroubleKind {
    fn of(fault: &Fault) -> Self {
        let cause = fault.cause.as_str();
        let signed_out = ["gh auth login", "Bad credentials", "answered 401"];
        let limited = ["rate limit", "answered 429"];
        if signed_out.iter().any(|part| cause.contains(part)) {
            Self::SignedOut
        } else if fault.not_before.is_some() || limited.iter().any(|part| cause.contains(part)) {
            Self::RateLimited
        } else {
            Self::Unreachable
        }
    }
}

impl LookTrouble {
    /// For a person, in every view.
    pub fn words(&self) -> String {
        let cause = unended(&quote(&self.cause, 300));
        match self.kind {
            TroubleKind::SignedOut => format!(
                "the pull request is not watched: gh is not signed in ({cause}). `gh auth login` signs in"
            ),
            TroubleKind::RateLimited => {
                format!("the pull request is not watched for now: GitHub limits requests ({cause})")
            }
            TroubleKind::Unreachable => {
                format!("the pull request is not watched: GitHub cannot be reached ({cause})")
            }
        }
    }
}

impl ClaimMemory {
    /// A look failed. Returns the words for a person if that is new.
    pub fn look_failed(&mut self, fault: &Fault, now: Millis) -> Option<String> {
        self.not_before = fault.not_before;
        let kind = TroubleKind::of(fault);
        if self
            .trouble
            .as_ref()
            .is_some_and(|known| known.kind == kind)
        {
            return None;
        }
        let trouble = LookTrouble {
            kind,
            cause: quote(&fault.cause, 300),
            since: now,
            told: false,
        };
        let words = trouble.words();
        self.trouble = Some(trouble);
        Some(words)
    }

    /// The words of a trouble that no person was told of.
    pub fn untold_trouble(&mut self) -> Option<String> {
        let trouble = self.trouble.as_mut().filter(|trouble| !trouble.told)?;
        trouble.told = true;
        Some(trouble.words())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_trouble_is_told_once_until_it_works_again() {
        let fault = |cause: &str, not_before| Fault {
            cause: cause.into(),
            not_before,
        };
        let mut memory = ClaimMemory::default();
        let now = Millis(5);
        for (fault, part) in [
            (
                fault(
                    "To get started with GitHub CLI, please run: gh auth login.",
                    None,
                ),
                "gh is not signed in (To get started with GitHub CLI, please run: gh auth login).",
            ),
            (fault("GitHub answered 401: Bad credentials", None), ""),
            (
                fault("dial tcp: no such host", None),
                "cannot be reached (dial tcp: no such host)",
            ),
            (fault("connection refused", None), ""),
            (
                fault("GitHub answered 403: slow", Some(Millis(9))),
                "GitHub limits requests",
            ),
        ] {
            let said = memory.look_failed(&fault, now);
            assert_eq!(said.is_some(), !part.is_empty(), "{fault:?}");
            assert!(said.unwrap_or_default().contains(part));
            assert_eq!(memory.not_before, fault.not_before);
        }
        assert!(memory.untold_trouble().is_some());
        assert_eq!(memory.untold_trouble(), None);
    }
}
