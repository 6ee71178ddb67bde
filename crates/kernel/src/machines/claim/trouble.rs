//! Why GitHub could not be asked. A person is told once, until it works again.

use alloc::format;
use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::memory::ClaimMemory;
use super::work::{Fault, FaultKind};
use crate::hidden::quote;
use crate::ids::Millis;
use crate::machines::claim::text::unended;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LookTrouble {
    pub kind: FaultKind,
    pub cause: String,
    pub since: Millis,
    /// A person was told, at a prompt or a start.
    pub told: bool,
}

impl LookTrouble {
    /// For a person, in every view.
    pub fn words(&self) -> String {
        let cause = unended(&quote(&self.cause, 300));
        match self.kind {
            FaultKind::SignedOut => format!(
                "the pull request is not watched: gh is not signed in ({cause}). `gh auth login` signs in"
            ),
            FaultKind::RateLimited => {
                format!("the pull request is not watched for now: GitHub limits requests ({cause})")
            }
            FaultKind::Unreachable => {
                format!("the pull request is not watched: GitHub cannot be reached ({cause})")
            }
        }
    }
}

impl ClaimMemory {
    /// A look failed. Returns the words for a person if that is new.
    pub fn look_failed(&mut self, fault: &Fault, now: Millis) -> Option<String> {
        self.not_before = fault.not_before;
        let known = self.trouble.as_ref();
        if known.is_some_and(|known| known.kind == fault.kind) {
            return None;
        }
        let trouble = LookTrouble {
            kind: fault.kind,
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
        let mut memory = ClaimMemory::default();
        let now = Millis(5);
        for (kind, not_before, part) in [
            (FaultKind::SignedOut, None, "gh is not signed in (it broke)"),
            (FaultKind::SignedOut, None, ""),
            (FaultKind::Unreachable, None, "cannot be reached (it broke)"),
            (FaultKind::Unreachable, None, ""),
            (
                FaultKind::RateLimited,
                Some(Millis(9)),
                "GitHub limits requests",
            ),
        ] {
            let fault = Fault {
                kind,
                not_before,
                ..Fault::new("it broke.")
            };
            let said = memory.look_failed(&fault, now);
            assert_eq!(said.is_some(), !part.is_empty(), "{fault:?}");
            assert!(said.unwrap_or_default().contains(part));
            assert_eq!(memory.not_before, fault.not_before);
        }
        assert!(memory.untold_trouble().is_some());
        assert_eq!(memory.untold_trouble(), None);
    }
}
