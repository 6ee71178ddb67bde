//! The hosts: what their hooks send, and how they want to be answered.

pub(crate) mod claude;
pub(crate) mod install;
mod jsonc;
pub(crate) mod text;

use std::path::PathBuf;

use mainspring_kernel::{Digest, Event};
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

impl Payload {
    pub(crate) fn digest(&self) -> Digest {
        digest::of(&[&self.bytes])
    }
}
