//! The hosts: what their hooks send, and how they want to be answered.

pub(crate) mod agent;
pub(crate) mod claude;
pub(crate) mod install;
mod jsonc;
pub(crate) mod text;

use std::path::PathBuf;

use mainspring_kernel::{Answer, Digest, Event, Millis};
use mainspring_store::digest;

/// One event as a host sent it, decoded.
#[derive(Debug, Clone)]
pub struct Payload {
    pub event: Event,
    /// The host's own name for the event: it wants it back in the answer.
    pub wire_name: String,
    /// The agent's directory at that moment; it moves when the agent runs `cd`.
    pub cwd: Option<PathBuf>,
    pub transcript: Option<PathBuf>,
    /// The agent's last words, where the host gives them.
    pub last_message: Option<String>,
    /// What a tool is about to be given, as JSON; only before it runs.
    pub(crate) tool_input: Option<String>,
    /// Where a typed command comes from: `projectSettings`, `plugin`.
    pub(crate) command_source: Option<String>,
    /// The team that the agent works in.
    pub(crate) team: Option<String>,
    /// All of it, as it was sent.
    bytes: Vec<u8>,
}

/// How the agent is told to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wording {
    /// `decision: block`, which every client and every host of this family understands. The
    /// person reads it as "Stop hook error", and the agent reads it twice.
    Block,
    /// As context, which the person reads as "Stop hook feedback". The client counts it as it
    /// counts a block.
    Context,
}

/// What is known of an event beside what its payload says. A drop-in is registered for one
/// kind, and what its script is given need not name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecodeAs {
    Named,
    Stop,
    StopUnlessNamed,
    /// A skill was invoked, by the agent or typed.
    Skill,
    Idle,
    SessionStart,
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum DecodeError {
    #[error("the hook got no input")]
    Empty,
    #[error("the hook's input is not UTF-8 text")]
    NotText,
    #[error("the hook's input is not a JSON object: {0}")]
    NotJson(String),
}

impl Payload {
    /// An event that a command plays: no host sent it. Its time tells it from the next one.
    pub(crate) fn played(event: Event, cwd: PathBuf, at: Millis) -> Self {
        Self {
            event,
            wire_name: String::new(),
            cwd: Some(cwd),
            transcript: None,
            last_message: None,
            tool_input: None,
            command_source: None,
            team: None,
            bytes: at.0.to_le_bytes().into(),
        }
    }

    pub(crate) fn digest(&self) -> Digest {
        digest::of(&[&self.bytes])
    }
}

/// The event that a host sent.
pub(crate) fn decode(bytes: Vec<u8>, known: DecodeAs) -> Result<Payload, DecodeError> {
    claude::decode(bytes, known)
}

/// The line for the host; `None` where there is nothing to say.
pub(crate) fn encode(answer: &Answer, event: &str, wording: Wording) -> Option<String> {
    claude::encode(answer, event, wording)
}
