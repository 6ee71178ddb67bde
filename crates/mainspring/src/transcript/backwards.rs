//! Reads a file's lines from the last to the first.

use std::ops::Range;

use super::file::{Transcript, Unreadable};

/// At most this much of a transcript is usually read, however large it is.
pub(super) const LIMIT: usize = 1 << 20;

/// Most stops need only the last few lines.
const CHUNK: usize = 64 << 10;

/// Reads backwards as far as needed, up to the limit.
pub(super) struct Backwards<'t> {
    transcript: &'t Transcript,
    /// The end of the file. Only the bytes after `filled` have been read.
    window: Vec<u8>,
    filled: usize,
    /// The bytes after this have been returned.
    end: usize,
    /// The position of the window in the file.
    base: u64,
}

pub(super) enum BackStep<'w> {
    Line {
        offset: u64,
        bytes: &'w [u8],
    },
    /// The file has no earlier lines.
    Start,
    /// It may have more lines before the limit. A line that the limit cuts is not returned.
    Edge,
}

impl<'t> Backwards<'t> {
    pub(super) fn new(transcript: &'t Transcript) -> Self {
        Self::within(LIMIT, transcript)
    }

    /// With another limit than most readers have.
    pub(super) fn within(limit: usize, transcript: &'t Transcript) -> Self {
        let length = usize::try_from(transcript.size())
            .unwrap_or(usize::MAX)
            .min(limit);
        Self {
            transcript,
            window: vec![0; length],
            filled: length,
            end: length,
            base: transcript.size() - length as u64,
        }
    }

    /// The length of the whole file.
    pub(super) fn length(&self) -> u64 {
        self.transcript.size()
    }

    pub(super) fn bytes_read(&self) -> usize {
        self.window.len() - self.filled
    }

    pub(super) fn step(&mut self) -> Result<BackStep<'_>, Unreadable> {
        Ok(match self.take_line()? {
            Some(line) => BackStep::Line {
                offset: self.base + line.start as u64,
                bytes: &self.window[line],
            },
            None if self.base == 0 => BackStep::Start,
            None => BackStep::Edge,
        })
    }

    fn take_line(&mut self) -> Result<Option<Range<usize>>, Unreadable> {
        let line_end = self.end;
        let mut unsearched = self.end;
        if line_end == 0 {
            return Ok(None);
        }
        loop {
            if let Some(at) = last_newline(&self.window[self.filled..unsearched]) {
                self.end = self.filled + at;
                return Ok(Some(self.end + 1..line_end));
            }
            if self.filled == 0 {
                self.end = 0;
                return Ok((self.base == 0).then_some(0..line_end));
            }
            unsearched = self.filled;
            self.fill()?;
        }
    }

    fn fill(&mut self) -> Result<(), Unreadable> {
        let from = self.filled.saturating_sub(CHUNK);
        self.transcript
            .read_exact_at(&mut self.window[from..self.filled], self.base + from as u64)?;
        self.filled = from;
        Ok(())
    }
}

/// Searches in chunks: a check of a whole chunk is fast, and only the chunk with the newline is
/// searched byte by byte.
fn last_newline(bytes: &[u8]) -> Option<usize> {
    let mut end = bytes.len();
    for piece in bytes.rchunks(PIECE) {
        end -= piece.len();
        if piece.contains(&b'\n') {
            let at = piece.iter().rposition(|byte| *byte == b'\n');
            return at.map(|at| end + at);
        }
    }
    None
}

const PIECE: usize = 128;
