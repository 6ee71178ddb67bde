//! What the agent itself said, reduced to what a machine may know of it.

use alloc::format;
use alloc::string::String;

use serde::{Deserialize, Serialize};

/// Which signal the agent gave in its final message. The shell reads the message; no other text
/// counts.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpokenSignal<S> {
    Said(S),
    /// It gave the signal in a way that does not count. The sentence says what to do instead.
    Near(String),
    Nothing,
}

impl<S> SpokenSignal<S> {
    /// The sentence for the next reason, after a space; empty if there was no near miss.
    pub(crate) fn near_miss(&self) -> String {
        match self {
            Self::Near(sentence) => format!(" Not counted: {sentence}."),
            Self::Said(_) | Self::Nothing => String::new(),
        }
    }
}
