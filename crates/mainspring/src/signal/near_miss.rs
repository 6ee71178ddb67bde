//! What is wrong with a signal that almost counts.

use std::fmt;

use mainspring_kernel::hidden::is_hidden;

/// A signal that is in the text and does not count. It displays as the sentence for the next
/// reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NearMiss {
    pub(crate) flaw: Flaw,
    /// Counted from 1.
    pub(crate) line: u32,
}

/// Why a signal does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    CodeFence,
    IndentedCode,
    InlineCode,
    Quote,
    HtmlComment,
    ListItem,
    Bold,
    Underscores,
    /// Only punctuation follows it.
    Punctuation,
    /// Words or other marks share its line.
    WithinLine,
    /// A whole line that begins like the signal and names another id or value.
    OtherId,
    /// A character that nobody sees is in it or next to it.
    Invisible,
    /// The escape that Markdown would remove is in it.
    Escaped,
    WrongCase,
    /// Space or a broken character is in it.
    Altered,
}

impl Flaw {
    /// What shares the line with a signal: the text before it and after it.
    pub(super) fn of_company(before: &str, after: &str) -> Self {
        let (left, right) = (before.trim(), after.trim());
        let is_unseen = |text: &str| text.chars().all(is_hidden);
        let is_mark = |c: char| !c.is_alphanumeric() && !c.is_whitespace() && !is_hidden(c);
        if left.starts_with('>') {
            Self::Quote
        } else if is_unseen(left) && is_unseen(right) {
            Self::Invisible
        } else if right.is_empty() && is_bullet(left) {
            Self::ListItem
        } else if is_emphasis(left, right) {
            if left.contains('_') {
                Self::Underscores
            } else {
                Self::Bold
            }
        } else if left.is_empty() && after.trim_end().chars().all(is_mark) {
            Self::Punctuation
        } else {
            Self::WithinLine
        }
    }

    /// How a line differs from the signal, if that is only in characters that do not show, or
    /// in case.
    pub(super) fn of_alteration(line: &str, signal: &str) -> Option<Self> {
        let line = line.trim_matches(|c: char| c.is_whitespace() || "*`.,;:!".contains(c));
        let lower = |c: char| c.to_ascii_lowercase();
        let seen = line.chars().filter(|c| !is_unseen(*c)).map(lower);
        if !seen.eq(signal.chars().map(lower)) {
            return None;
        }
        Some(if line.contains('\\') {
            Self::Escaped
        } else if line.contains(is_hidden) {
            Self::Invisible
        } else if line.contains(is_unseen) {
            Self::Altered
        } else {
            Self::WrongCase
        })
    }
}

/// Is it space, a character that rendered text does not show, or the escape that Markdown
/// removes?
fn is_unseen(c: char) -> bool {
    c.is_whitespace() || is_hidden(c) || matches!(c, '\\' | '\u{fffd}')
}

/// Do the same marks of emphasis stand on both sides?
pub(super) fn is_emphasis(left: &str, right: &str) -> bool {
    let is_mark = |c| matches!(c, '*' | '_');
    !left.is_empty() && left.chars().all(is_mark) && left.chars().rev().eq(right.chars())
}

fn is_bullet(text: &str) -> bool {
    let number = text.strip_suffix(['.', ')']).unwrap_or_default();
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    matches!(text, "-" | "*" | "+" | "•" | "–") || is_number
}

impl fmt::Display for NearMiss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (place, remedy) = match self.flaw {
            Flaw::CodeFence => ("in a code fence", "say it bare"),
            Flaw::IndentedCode => ("in indented code", "say it bare"),
            Flaw::InlineCode => ("in backticks", "say it bare"),
            Flaw::Quote => ("in a quote", "say it bare"),
            Flaw::HtmlComment => ("in an HTML comment", "say it bare"),
            Flaw::ListItem => ("in a list item", "say it bare"),
            Flaw::Bold => ("in bold or italics", "say it bare"),
            Flaw::Underscores => ("between underscores", "say it bare"),
            Flaw::Punctuation => ("with punctuation after it", "say it bare"),
            Flaw::WithinLine => ("among other words", "say it on a line of its own"),
            Flaw::OtherId => ("with another id", "say it exactly as given"),
            Flaw::Invisible => ("with an invisible character", "say it exactly as given"),
            Flaw::Escaped => ("with a backslash in it", "say it exactly as given"),
            Flaw::WrongCase => ("in the wrong case", "say it exactly as given"),
            Flaw::Altered => ("with altered characters", "say it exactly as given"),
        };
        write!(f, "token {place}, line {}: {remedy}", self.line)
    }
}
