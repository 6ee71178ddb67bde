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
#[cfg(test)]
mod tests;

pub use file::Transcript;
pub(crate) use file::expand_home;
#[cfg(test)]
pub(crate) use file::{Unreadability, Unreadable};
pub use repair::repair;
#[cfg(test)]
pub(crate) use tail::Run;
pub(crate) use tail::ToolUse;
pub use tail::{LastBlock, Tail};
