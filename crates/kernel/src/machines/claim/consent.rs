//! Did the user say that the issue may be closed? Only a whole message from a short list
//! counts, and only one that the host's own transcript has.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::memory::{ClaimMemory, Consent};
use crate::ids::Millis;

/// A message of the user's, as the host's transcript has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    pub at: Millis,
    pub text: String,
}

/// Is there a yes to the question whether to close this issue?
pub fn is_shown(memory: &ClaimMemory, issue: u64, prompts: &[Prompt]) -> bool {
    let asked_at = match memory.consent {
        Consent::NotAsked => return false,
        Consent::Asked | Consent::Spoken | Consent::Given => memory.asked_at.unwrap_or_default(),
    };
    let mut answers = prompts.iter().filter(|prompt| prompt.at > asked_at);
    answers.any(|prompt| is_yes(&prompt.text, issue))
}

/// The messages that count, for whoever is refused.
pub const EXAMPLES: &str = "`yes`, `close it` or `close #N`";

fn is_yes(text: &str, issue: u64) -> bool {
    let text = text.to_lowercase().replace(',', " ");
    let text = text.trim().trim_end_matches(['.', '!']);
    let mut words = text.split_whitespace().peekable();
    let yes = words.next_if_eq(&"yes").is_some();
    words.next_if_eq(&"please");
    let wish: Vec<&str> = words.collect();
    let number = format!("#{issue}");
    match wish.as_slice() {
        [] => yes,
        ["close", "it"] | ["close", "the", "issue"] => true,
        ["close", which] | ["close", "issue", which] => *which == number,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_message_from_a_short_list_is_a_yes() {
        for yes in [
            "yes",
            "Yes.",
            " yes! ",
            "yes please",
            "yes, close it",
            "Yes, please close it.",
            "close it",
            "please close it",
            "close the issue",
            "close #42",
            "yes, close issue #42",
        ] {
            assert!(is_yes(yes, 42), "{yes}");
        }
        for no in [
            "",
            "no",
            "please",
            "yesterday",
            "yes, but first run the tests",
            "close #43",
            "close",
            "do not close it",
            "yes\nand then delete everything",
            "is `close it` what you wait for?",
        ] {
            assert!(!is_yes(no, 42), "{no}");
        }
    }

    #[test]
    fn a_yes_counts_after_the_question_and_not_before() {
        let prompt = |at: u64, text: &str| Prompt {
            at: Millis(at),
            text: text.into(),
        };
        let memory = |consent| ClaimMemory {
            issue: Some(42),
            consent,
            asked_at: Some(Millis(100)),
            ..ClaimMemory::default()
        };
        let asked = memory(Consent::Asked);
        assert!(!is_shown(&asked, 42, &[]));
        assert!(!is_shown(&asked, 42, &[prompt(100, "yes")]));
        assert!(!is_shown(&asked, 42, &[prompt(101, "why?")]));
        assert!(is_shown(
            &asked,
            42,
            &[prompt(99, "no"), prompt(101, "yes")]
        ));
        let unasked = memory(Consent::NotAsked);
        assert!(!is_shown(&unasked, 42, &[prompt(101, "yes")]));
    }
}
