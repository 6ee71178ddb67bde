//! What is wrong with a signal that almost counts.

use std::fmt;

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
    /// Words, list bullets, emphasis or punctuation share its line.
    WithinLine,
    /// A whole line that begins like the signal and names another id or value.
    OtherId,
    /// Invisible characters, backslashes or another case: it looks like the signal, but
    /// differs.
    Altered,
}

impl fmt::Display for NearMiss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (place, remedy) = match self.flaw {
            Flaw::CodeFence => ("in a code fence", "say it bare"),
            Flaw::IndentedCode => ("in indented code", "say it bare"),
            Flaw::InlineCode => ("in backticks", "say it bare"),
            Flaw::Quote => ("in a quote", "say it bare"),
            Flaw::HtmlComment => ("in an HTML comment", "say it bare"),
            Flaw::WithinLine => ("among other words", "say it on a line of its own"),
            Flaw::OtherId => ("with another id", "say it exactly as given"),
            Flaw::Altered => ("with altered characters", "say it exactly as given"),
        };
        write!(f, "token {place}, line {}: {remedy}", self.line)
    }
}
