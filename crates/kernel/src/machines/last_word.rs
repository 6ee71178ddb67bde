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

    /// What stands behind the command.
    pub(super) fn arguments(&self) -> Vec<String> {
        let rest = self.text.split_once(char::is_whitespace);
        rest.map(|(_, rest)| words(rest)).unwrap_or_default()
    }

    /// The words of the question that a yes answers: the last one that the agent asked, in what the
    /// user was shown as the agent's own words.
    pub(super) fn question(&self) -> Vec<String> {
        let shown = shown(&self.after);
        let asked = shown
            .split_inclusive(['?', '？', '؟', '!', '.', '\n'])
            .rfind(|sentence| is_question(sentence));
        asked.map(words).unwrap_or_default()
    }
}

/// Words of a question to which a yes means no, or another thing.
const TURNED: [&str; 9] = [
    "not", "dont", "never", "leave", "keep", "open", "reject", "without", "instead",
];

/// Is it turned around, so that a yes would not mean what was asked for?
pub(super) fn is_turned(question: &[String]) -> bool {
    question.iter().any(|word| TURNED.contains(&word.as_str()))
}

/// A text without comments, code and quotes: in those, nobody is asked.
fn shown(text: &str) -> String {
    let mut shown = String::new();
    let mut fence = None;
    for line in without_comments(text).lines() {
        let start = line.trim_start();
        let mark = ["```", "~~~"]
            .into_iter()
            .find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None)
                if !start.starts_with('>')
                    && !line.starts_with('\t')
                    && !line.starts_with("    ") =>
            {
                shown.push_str(line);
                shown.push('\n');
            }
            (None, None) | (Some(_), _) => {}
        }
    }
    shown
}

fn without_comments(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("<!--") {
        kept.push_str(before);
        rest = comment.split_once("-->").map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    kept
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
