//! What a record keeps of a text that a person or an agent wrote: its length and its digest.
//!
//! The case is reduced first, and the record's ruling is the decision on the reduced case. So no
//! text can get into a record inside of a message, and a replay makes the same ruling again. The
//! ruling that counts is the one on the whole case; both take the same arrows, because no rule
//! depends on what a text says. Where one depends on whether a text is usable, the machine adds to
//! its reduced state what is wrong with the text.

use alloc::format;
use alloc::string::String;

use crate::ids::Digest;

/// Reduces texts, with a digest that the shell has to bring.
#[derive(Debug, Clone, Copy)]
pub struct Reducer {
    digest: fn(&[&[u8]]) -> Digest,
}

impl Reducer {
    pub const fn new(digest: fn(&[&[u8]]) -> Digest) -> Self {
        Self { digest }
    }

    /// A text with nothing to read in it is reduced to the empty text. Space around a text does not
    /// count, so equal texts stay equal when a machine trims one of them.
    pub fn text(self, text: &mut String) {
        let trimmed = text.trim();
        *text = if trimmed.is_empty() {
            String::new()
        } else {
            let digest = (self.digest)(&[trimmed.as_bytes()]).0;
            format!("[text of {} bytes, digest {digest}]", trimmed.len())
        };
    }
}
