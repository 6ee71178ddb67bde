//! A file's lines, last one first.

use std::ops::Range;

use super::file::{Transcript, Unreadable};

/// No more than this is read from a transcript, however large it is.
pub(super) const LIMIT: usize = 1 << 20;

/// Most stops need the last few lines only.
const CHUNK: usize = 64 << 10;

/// Reads as far back as it is asked to, up to the limit.
pub(super) struct Backwards<'t> {
    transcript: &'t Transcript,
    /// The file's last part. Only what is behind `filled` has been read into it.
    window: Vec<u8>,
    filled: usize,
    /// What is behind this has been handed out.
    end: usize,
    /// Where in the file the window begins.
    base: u64,
}

pub(super) enum Step<'w> {
    Line {
        offset: u64,
        bytes: &'w [u8],
    },
    /// The file has no more lines.
    Start,
    /// It may have more, beyond the limit. A line cut by the limit is not handed out.
    Edge,
}

impl<'t> Backwards<'t> {
    pub(super) fn new(transcript: &'t Transcript) -> Self {
        let length = usize::try_from(transcript.size())
            .unwrap_or(usize::MAX)
            .min(LIMIT);
        Self {
            transcript,
            window: vec![0; length],
            filled: length,
            end: length,
            base: transcript.size() - length as u64,
        }
    }

    /// Of the whole file.
    pub(super) fn length(&self) -> u64 {
        self.transcript.size()
    }

    pub(super) fn bytes_read(&self) -> usize {
        self.window.len() - self.filled
    }

    pub(super) fn step(&mut self) -> Result<Step<'_>, Unreadable> {
        Ok(match self.take_line()? {
            Some(line) => Step::Line {
                offset: self.base + line.start as u64,
                bytes: &self.window[line],
            },
            None if self.base == 0 => Step::Start,
            None => Step::Edge,
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

/// In pieces: what a piece contains is looked for many bytes at a time, and where, one by one.
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
