//! Reads the end of a session's transcript at a stop.
//!
//! A transcript grows to gigabytes, is written later than the events that it records, and may
//! end in the middle of a line. So we read at most its last 1 MiB, skip lines that we do not
//! understand, and allow for lines that are not written yet: see [`LastBlock`].
//!
//! Only assistant lines of the main conversation are the agent's own statements. Lines of
//! sub-agents, tool results, the user, the host, summaries, error messages and our own reasons
//! are not.

mod backwards;
mod entry;
mod file;
mod prompts;
mod queue;
mod repair;
mod tail;

use std::path::PathBuf;
use std::thread;
use std::time::Instant;

use mainspring_kernel::client_queue::QueueLine;
use mainspring_kernel::{Millis, SessionId};

use crate::env::Environment;
use crate::limits;
pub(crate) use entry::{Entry, Outcome, PromptLine, Saying};
pub use file::Transcript;
pub(crate) use file::expand_home;
#[cfg(test)]
pub(crate) use file::{Unreadability, Unreadable};
pub use repair::repair;
#[cfg(test)]
pub(crate) use tail::Run;
pub use tail::Tail;
pub(crate) use tail::{LastBlock, ToolUse};

/// The format of a host's transcripts.
#[derive(Debug)]
pub(crate) struct TranscriptFormat {
    /// Parses one line; `None` if it is not complete or has an unknown format.
    pub(crate) entry: fn(&[u8]) -> Option<Entry>,
    /// What the user wrote, if the line is a message of theirs.
    pub(crate) prompt: fn(&[u8]) -> Option<PromptLine>,
    /// What the line says about the queue of what a person types while the agent is at work;
    /// `None` if the transcript does not show that queue.
    pub(crate) queue: Option<ReadQueue>,
    /// For a host that writes the lines before a stop later than it sends the stop: is this the
    /// line about the event with this time? Everything before the stop is written with it.
    pub(crate) about_stop: Option<fn(&[u8], &str) -> bool>,
    pub(crate) shows: Shows,
    /// Finds a session's transcript if no event names it.
    pub(crate) find: fn(&Environment, &SessionId) -> Option<PathBuf>,
}

/// What a transcript shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shows {
    /// We do not read it.
    Nothing,
    /// What was said and done, but not that a hook held the agent.
    Talk,
    /// Also that a hook held the agent.
    Holds,
}

/// What a line says about the queue, if anything.
pub(crate) type ReadQueue = fn(&[u8]) -> Option<QueueLine>;

/// For a host whose transcripts we do not read: its events say what we need.
pub(crate) const UNREAD: TranscriptFormat = TranscriptFormat {
    entry: |_| Some(Entry::Other),
    prompt: |_| None,
    queue: None,
    about_stop: None,
    shows: Shows::Nothing,
    find: |_, _| None,
};

/// The time in a line, in the form that all hosts write.
pub(crate) fn time(text: &str) -> Option<Millis> {
    let time: jiff::Timestamp = text.parse().ok()?;
    u64::try_from(time.as_millisecond()).ok().map(Millis)
}

/// Looks until it finds something, but not for long: what is not there by then is not read. Some hosts
/// write a transcript a moment later than they send the events that it is about, or even begin it
/// then.
pub(crate) fn look_again<T>(look: impl Fn() -> Option<T>) -> Option<T> {
    let end = Instant::now() + limits::LATE_LINES;
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if Instant::now() >= end {
            return None;
        }
        thread::sleep(limits::LATE_LINES_POLL);
    }
}
