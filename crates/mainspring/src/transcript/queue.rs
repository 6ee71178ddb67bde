//! What a transcript says about the queue of what a person types while the agent is at work.

use mainspring_kernel::client_queue::QueueLine;

use super::ReadQueue;
use super::backwards::{BackStep, Backwards};
use super::file::Transcript;
use super::prompts::TURN;

/// A turn that begins with what waited in the queue has the line about that among so many lines
/// before its prompt.
const BEFORE_PROMPT: u32 = 40;

impl Transcript {
    /// The lines about the queue, oldest first: those of the last turn, and of the turns before it
    /// as far as each began with what had waited in the queue. Lines before the byte `since` are
    /// not read.
    pub(crate) fn of_queue(&self, since: u64, read: ReadQueue) -> Vec<QueueLine> {
        let mut lines = Backwards::within(TURN, self);
        let mut found = Vec::new();
        // How many lines before the turn's prompt are still read.
        let mut left = None;
        while let Ok(BackStep::Line { offset, bytes }) = lines.step()
            && offset >= since
            && left != Some(0)
        {
            left = left.map(|left| left - 1);
            let line = read(bytes);
            match &line {
                Some(QueueLine::Prompt(_)) if left.is_none() => left = Some(BEFORE_PROMPT),
                Some(QueueLine::Dequeued(_)) => left = None,
                _ => {}
            }
            found.extend(line);
        }
        found.reverse();
        found
    }
}
