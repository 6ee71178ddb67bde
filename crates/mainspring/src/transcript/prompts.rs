//! What the user wrote, newest first.

use super::backwards::{Backwards, Step};
use super::entry::PromptLine;
use super::file::{Transcript, Unreadable};

impl Transcript {
    /// The user's messages in the part that is read, newest first.
    pub(crate) fn prompts(
        &self,
        read: fn(&[u8]) -> Option<PromptLine>,
    ) -> Result<Vec<PromptLine>, Unreadable> {
        let mut lines = Backwards::new(self);
        let mut found = Vec::new();
        while let Step::Line { bytes, .. } = lines.step()? {
            found.extend(read(bytes));
        }
        Ok(found)
    }

    /// Has another turn begun since the one of this prompt? What has not been written into
    /// the transcript yet is not known.
    pub(crate) fn is_past(
        &self,
        prompt: &str,
        turn: fn(&[u8]) -> Option<String>,
    ) -> Result<bool, Unreadable> {
        let mut lines = Backwards::new(self);
        let mut newer = false;
        while let Step::Line { bytes, .. } = lines.step()? {
            match turn(bytes) {
                Some(id) if id == prompt => return Ok(newer),
                Some(_) => newer = true,
                None => {}
            }
        }
        Ok(false)
    }
}
