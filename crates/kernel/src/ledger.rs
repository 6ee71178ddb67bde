//! What is counted per session: our blocks against the host's cap, and the last answer,
//! for an event that the host delivers twice.

use serde::{Deserialize, Serialize};

use crate::decision::Answer;
use crate::event::{Chain, Kind, StartSource};
use crate::ids::{Digest, Millis};

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ledger {
    /// Holds in a row without tool use between them, as the host counts them.
    pub blocks: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Delivered>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Delivered {
    pub delivery: Digest,
    pub at: Millis,
    pub answer: Answer,
}

/// Two registrations of ours, or a retry, deliver within this time of each other.
const REDELIVERY: Millis = Millis::seconds(2);

/// What the host does with a hook that keeps blocking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cap {
    /// After this many blocks without tool use the next one is overridden.
    After(u32),
    Never,
}

/// Did the agent use a tool since we last held it?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolUse {
    Seen,
    NotSeen,
}

impl Ledger {
    /// The answer that this very delivery got a moment ago.
    pub fn repeated(&self, delivery: &Digest, now: Millis) -> Option<&Answer> {
        let last = self.last.as_ref()?;
        let same = last.delivery == *delivery && now.since(last.at) <= REDELIVERY;
        same.then_some(&last.answer)
    }

    /// The count as it stands when this event arrives.
    #[must_use]
    pub fn opened(mut self, kind: &Kind, tools: ToolUse) -> Self {
        let fresh = match kind {
            Kind::Stop { chain, .. } => *chain == Chain::First || tools == ToolUse::Seen,
            // A compaction happens in the middle of a chain, and the host counts on.
            Kind::SessionStart { source } => *source != StartSource::Compact,
            Kind::Prompt { .. } => true,
            Kind::SessionEnd { .. }
            | Kind::Expansion { .. }
            | Kind::BeforeTool { .. }
            | Kind::AfterTool { .. }
            | Kind::Idle
            | Kind::Other { .. } => false,
        };
        if fresh {
            self.blocks = 0;
        }
        self
    }

    /// Would the host override one more hold?
    pub fn exhausted(&self, cap: Cap) -> bool {
        match cap {
            Cap::After(limit) => self.blocks >= limit,
            Cap::Never => false,
        }
    }
}
