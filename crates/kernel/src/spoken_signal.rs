//! What the agent itself was heard to say, reduced to what a machine may know of it.

use alloc::format;
use alloc::string::String;

use serde::{Deserialize, Serialize};

/// Which signal the agent said in its final words. The shell looks; no other text counts.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpokenSignal<S> {
    Said(S),
    /// It said the signal in a way that does not count; the sentence that tells it how to.
    Near(String),
    Nothing,
}

impl<S> SpokenSignal<S> {
    /// The sentence for the next reason, with the space before it; nothing where there was
    /// no near miss.
    pub(crate) fn near_miss(&self) -> String {
        match self {
            Self::Near(sentence) => format!(" Not counted: {sentence}."),
            Self::Said(_) | Self::Nothing => String::new(),
        }
    }
}
