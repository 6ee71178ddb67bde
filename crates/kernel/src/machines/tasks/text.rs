//! Text from a file on its way to an agent: short, on one line, and only what it seems.

use alloc::string::String;

use crate::hidden;

/// What is kept of one text.
pub const EXCERPT: usize = 200;

/// The first [`EXCERPT`] characters on one line, without what could make it read as
/// something else.
pub fn excerpt(text: &str) -> String {
    hidden::quote(text, EXCERPT)
}
