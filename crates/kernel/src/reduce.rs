//! What a record keeps of a text that a person or an agent wrote: its length and its digest.
//!
//! The case is reduced first, and the record's ruling is the decision on the reduced case. So no
//! text can get into a record inside of a message, and a replay makes the same ruling again. The
//! ruling that counts is the one on the whole case; both take the same arrows, because no rule
//! depends on what a text says. Where one depends on whether a text is usable, the machine adds to
//! its reduced state what is wrong with the text.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

use crate::deliberate::{Case, deliberate};
use crate::ids::Digest;
use crate::journal::Entry;

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

impl Case {
    /// Most cases have no texts, and need not be decided again.
    fn has_texts(&self, reducer: Reducer) -> bool {
        self.inputs.iter().any(|input| {
            let mut reduced = input.clone();
            reduced.reduce(reducer);
            reduced != *input
        })
    }

    #[must_use]
    pub fn reduced(mut self, reducer: Reducer) -> Self {
        for input in &mut self.inputs {
            input.reduce(reducer);
        }
        // It is only for an event that is delivered twice, and a repeated answer is not recorded.
        self.ledger.last = None;
        self
    }
}

impl Entry {
    /// The entry as the journal keeps it, and the entry with its texts, if it has any. A command's
    /// entry has none.
    #[must_use]
    pub fn reduced(self, reducer: Reducer) -> (Self, Option<Self>) {
        match self {
            Self::Turn { case, ruling } if case.has_texts(reducer) => {
                let reduced = Box::new(case.clone().reduced(reducer));
                let kept = Self::Turn {
                    ruling: Box::new(deliberate(&reduced)),
                    case: reduced,
                };
                (kept, Some(Self::Turn { case, ruling }))
            }
            Self::Turn { case, ruling } => {
                let case = Box::new(case.reduced(reducer));
                (Self::Turn { case, ruling }, None)
            }
            verb @ Self::Verb { .. } => (verb, None),
        }
    }
}
