//! Claude Code.

mod decode;
mod encode;
pub(crate) mod environment;
pub(crate) mod settings;
mod wire;

use super::agent::KnownAgent;
pub use decode::decode;
pub(crate) use encode::encode;

pub(super) const AGENT: KnownAgent = KnownAgent {
    name: "Claude Code",
    session: Some("CLAUDE_CODE_SESSION_ID"),
    marks: &["CLAUDECODE"],
    programs: &["claude"],
    folders: &["/node_modules/@anthropic-ai/claude-code/"],
};
