//! What happened, in our own terms. Each host's adapter translates to this.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::ids::SessionId;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Event {
    /// `None` if the host gave no usable id: then nothing that belongs to a session applies.
    pub session: Option<SessionId>,
    pub speaker: Speaker,
    pub kind: Kind,
}

impl Event {
    /// The agent's own event.
    pub fn of(session: Option<SessionId>, kind: Kind) -> Self {
        Self {
            session,
            speaker: Speaker::Main,
            kind,
        }
    }

    /// A stop while nothing runs in the background.
    pub fn stop(session: Option<SessionId>, chain: Chain) -> Self {
        let background = Background::Quiet;
        Self::of(session, Kind::Stop { chain, background })
    }
}

/// Whose event it is. A sub-agent's stop is not the agent's, and nothing it says counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    Main,
    Subagent,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Kind {
    SessionStart {
        source: StartSource,
    },
    SessionEnd {
        reason: EndReason,
    },
    /// A prompt arrived; not every prompt comes from a person.
    Prompt {
        author: Author,
    },
    /// The person typed `/command`.
    Expansion {
        command: String,
    },
    BeforeTool {
        tool: String,
    },
    AfterTool {
        tool: String,
        /// The skill that was invoked, if the tool is the host's skill tool.
        skill: Option<String>,
    },
    Stop {
        chain: Chain,
        background: Background,
    },
    /// The agent has been waiting for the person for a while.
    Idle,
    /// The watcher looks while the agent rests. This is not an event of a host.
    Watch,
    /// Well-formed, but not an event that we handle.
    Other {
        name: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartSource {
    Startup,
    Resume,
    Clear,
    Compact,
    Fork,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    Clear,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    Person,
    /// The host itself, for instance when a background task ended.
    Host,
}

/// Is this the first stop since a prompt, or has a hook continued the agent already?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Chain {
    First,
    Continued,
}

/// What still runs for the agent while it stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Background {
    /// Nothing, or only shells, which never wake the agent.
    Quiet,
    /// A sub-agent or workflow runs: the host wakes the agent when it ends.
    Working,
}

impl Kind {
    /// The names of the events that machines listen to.
    pub const NAMES: [&'static str; 9] = [
        "session_start",
        "session_end",
        "prompt",
        "expansion",
        "before_tool",
        "after_tool",
        "stop",
        "idle",
        "watch",
    ];

    /// The name that filters, graphs and the journal use.
    pub fn name(&self) -> &str {
        match self {
            Self::SessionStart { .. } => "session_start",
            Self::SessionEnd { .. } => "session_end",
            Self::Prompt { .. } => "prompt",
            Self::Expansion { .. } => "expansion",
            Self::BeforeTool { .. } => "before_tool",
            Self::AfterTool { .. } => "after_tool",
            Self::Stop { .. } => "stop",
            Self::Idle => "idle",
            Self::Watch => "watch",
            Self::Other { name } => name,
        }
    }
}
