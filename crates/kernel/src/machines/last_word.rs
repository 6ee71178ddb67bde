//! The user's last message in a client, and its words. A machine that needs a person's consent
//! accepts only a whole message from a short list.

use alloc::string::String;
use alloc::vec::Vec;

use crate::ids::Millis;

/// The user's last message, as the host's transcript has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastWord {
    pub at: Millis,
    pub text: String,
    /// What the agent had said before it; empty if nothing.
    pub after: String,
}

impl LastWord {
    /// The command that the user typed, without the slash.
    pub fn command(&self) -> Option<&str> {
        self.text.strip_prefix('/')?.split_whitespace().next()
    }
}

/// Is it a question? A question is no answer.
pub(super) fn is_question(text: &str) -> bool {
    text.contains(['?', '？', '؟'])
}

/// The words of a message, case and punctuation aside.
pub(super) fn words(text: &str) -> Vec<String> {
    let plain: String = text
        .chars()
        .filter(|c| !matches!(c, '\'' | '’'))
        .map(|c| {
            if c.is_alphanumeric() || c == '#' {
                c
            } else {
                ' '
            }
        })
        .collect();
    plain
        .to_lowercase()
        .split_whitespace()
        .map(Into::into)
        .collect()
}

/// The rest of what was said, if it begins like this; whether it does.
pub(super) fn without<'a, 'b>(said: &'a [&'b str], start: &[&str]) -> (bool, &'a [&'b str]) {
    match said.split_at_checked(start.len()) {
        Some((first, rest)) if first == start => (true, rest),
        _ => (false, said),
    }
}

/// The questions in what the agent said.
pub(super) fn questions(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(['?', '？', '؟', '!', '.', '\n'])
        .filter(|sentence| sentence.ends_with(['?', '？', '؟']))
}
