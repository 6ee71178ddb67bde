//! What a session's transcript can tell at a stop, read backwards from its end.
//!
//! A transcript grows to gigabytes, is written behind the events it records, and may end in the
//! middle of a line. So at most its last 1 MiB is read, lines that cannot be understood are passed
//! over, and what has not been written yet is reckoned with: see [`LastBlock`].
//!
//! Only the main chain's own assistant lines are the agent's word. Its sub-agents, tool results, the
//! user, machine-made lines, summaries, error messages and our own reasons are not.

mod backwards;
mod entry;
mod file;
mod repair;
mod tail;

use std::path::PathBuf;

use mainspring_kernel::SessionId;

use crate::env::Environment;
pub(crate) use entry::{Entry, Outcome, Saying};
pub use file::Transcript;
pub(crate) use file::expand_home;
#[cfg(test)]
pub(crate) use file::{Unreadability, Unreadable};
pub use repair::repair;
#[cfg(test)]
pub(crate) use tail::Run;
pub use tail::Tail;
pub(crate) use tail::{LastBlock, ToolUse};

/// What a host's transcripts look like.
#[derive(Debug)]
pub(crate) struct TranscriptFormat {
    /// What one line says; `None` if it is not whole, or of no shape that is known.
    pub(crate) entry: fn(&[u8]) -> Option<Entry>,
    /// A session's transcript, where no event names it.
    pub(crate) find: fn(&Environment, &SessionId) -> Option<PathBuf>,
}
