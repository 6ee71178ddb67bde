//! What the user wrote last.

use super::backwards::{BackStep, Backwards};
use super::entry::{Entry, PromptLine};
use super::file::{Transcript, Unreadable};

/// The user's last message, and what the agent had said before it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Exchange {
    pub(crate) prompt: PromptLine,
    pub(crate) after: String,
}

/// A turn of some hours may have written this much since its prompt.
pub(super) const TURN: usize = 16 << 20;

/// More than the first line of any transcript that has something to say there.
const HEAD: usize = 16 << 10;

impl Transcript {
    /// The user's last message in the part that is read.
    pub(crate) fn last_exchange(
        &self,
        prompt: fn(&[u8]) -> Option<PromptLine>,
        entry: fn(&[u8]) -> Option<Entry>,
    ) -> Result<Option<Exchange>, Unreadable> {
        let mut lines = Backwards::new(self);
        let mut found = None;
        while let BackStep::Line { bytes, .. } = lines.step()? {
            match (&found, prompt(bytes)) {
                (None, typed) => found = typed,
                (Some(_), Some(_)) => break,
                (Some(_), None) => {
                    if let Some(Entry::Agent(saying)) = entry(bytes)
                        && !saying.texts.is_empty()
                    {
                        let after = saying.texts.join("\n");
                        return Ok(found.map(|prompt| Exchange { prompt, after }));
                    }
                }
            }
        }
        Ok(found.map(|prompt| Exchange {
            prompt,
            after: String::new(),
        }))
    }

    /// The user's last message, also if it is far away: it is looked for once in a turn.
    pub(crate) fn last_prompt(
        &self,
        prompt: fn(&[u8]) -> Option<PromptLine>,
    ) -> Result<Option<PromptLine>, Unreadable> {
        let mut lines = Backwards::within(TURN, self);
        while let BackStep::Line { bytes, .. } = lines.step()? {
            if let Some(found) = prompt(bytes) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Has a hook held the agent since the user's last message?
    pub(crate) fn is_held(&self, entry: fn(&[u8]) -> Option<Entry>) -> bool {
        let held = |line: &[u8]| match entry(line)? {
            Entry::Block => Some(true),
            Entry::Prompt => Some(false),
            Entry::ToolResults(_) | Entry::Agent(_) | Entry::Other => None,
        };
        self.find_last(held) == Some(true)
    }

    /// What this finds in the last line in which it finds anything.
    pub(crate) fn find_last<T>(&self, find: impl Fn(&[u8]) -> Option<T>) -> Option<T> {
        let mut lines = Backwards::new(self);
        while let Ok(BackStep::Line { bytes, .. }) = lines.step() {
            if let Some(found) = find(bytes) {
                return Some(found);
            }
        }
        None
    }

    /// The first line, if it is not too long for the head of a transcript.
    pub(crate) fn first_line(&self) -> Option<Vec<u8>> {
        let length = usize::try_from(self.size()).unwrap_or(usize::MAX).min(HEAD);
        let mut head = vec![0; length];
        self.read_exact_at(&mut head, 0).ok()?;
        let end = head.iter().position(|byte| *byte == b'\n')?;
        head.truncate(end);
        Some(head)
    }

    /// Is there such a line in the part that is read?
    pub(crate) fn has_line(&self, is_it: impl Fn(&[u8]) -> bool) -> bool {
        self.find_last(|line| is_it(line).then_some(())).is_some()
    }
}
