//! Text from a file for an agent: short, on one line, without hidden characters.

use alloc::string::String;

use crate::hidden;

/// The longest excerpt.
pub const EXCERPT: usize = 200;

/// The first [`EXCERPT`] characters on one line, without hidden characters.
pub fn excerpt(text: &str) -> String {
    hidden::quote(text, EXCERPT)
}
