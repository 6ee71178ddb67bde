//! The single pass over the end of a transcript, and its result.

use super::Shows;
use super::backwards::{BackStep, Backwards};
use super::entry::{Entry, Outcome, Saying};
use super::file::{Transcript, Unreadable};

/// A failed tool call counts as a recent error for this many lines.
const RECENT_LINES: u32 = 40;

/// What the end of a transcript shows.
#[derive(Debug, PartialEq, Eq)]
pub struct Tail {
    /// The text blocks, oldest first, of the agent's latest message with text since the user's
    /// last prompt and the last block. Empty if there is none, or if it may be older than our
    /// last block. If the payload has the last message, that is the last of these texts, and is
    /// never late.
    pub final_texts: Vec<String>,
    /// The same, if the record of our last block is missing, but the text stands after the place
    /// where the transcript ended then. Some hosts never write such a record.
    pub(crate) unproved_texts: Vec<String>,
    /// Does a tool use stand after that place?
    pub(crate) tool_since_block: bool,
    /// The number of blocked stops in a row, without tool use between them.
    pub(crate) run: Run,
    /// How many of our own blocks have not been written into the transcript yet.
    pub(crate) unrecorded: u32,
    /// Did one of the last tool calls fail?
    pub(crate) recent_error: bool,
    /// Did the agent use a tool since the last prompt? The last lines may not be written yet.
    pub(crate) turn: ToolUse,
    /// The part of the file that was understood: without a last line that is still being
    /// written.
    pub size: u64,
    /// The length of the whole file, with such a line.
    pub(crate) length: u64,
    pub bytes_read: usize,
}

/// What the ledger recorded when it last blocked a stop of this session.
///
/// The host writes the transcript later than its events: at four of nine stops of a scripted
/// session, the previous block was not in it yet. The blocks that have appeared since then tell
/// how many are still missing, and that the text in the transcript is older than they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastBlock {
    /// No block since the user's last prompt, as at the first stop of a turn.
    None,
    At {
        /// [`Tail::size`] at that stop.
        size: u64,
        /// [`Tail::unrecorded`] at that stop, plus one for the block itself.
        unrecorded: u32,
    },
}

/// A number of stops. The first may be before the part of the file that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Run {
    Exactly(u32),
    AtLeast(u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolUse {
    /// Also if the user has spoken: then nothing counts towards the host's limit.
    Yes,
    No,
    Unknown,
}

impl Tail {
    pub(super) fn read(
        transcript: &Transcript,
        entry: fn(&[u8]) -> Option<Entry>,
        last_block: LastBlock,
    ) -> Result<Self, Unreadable> {
        let mut scan = Scan::new(match last_block {
            // The file was replaced by a shorter one, and the ledger's record is about the old
            // file.
            LastBlock::At { size, .. } if size > transcript.size() => LastBlock::None,
            known => known,
        });
        let mut lines = Backwards::new(transcript);
        let mut size = transcript.size();
        let reach = loop {
            if scan.is_decided() {
                break ScanEnd::Enough;
            }
            match lines.step()? {
                BackStep::Line { bytes, .. } if bytes.trim_ascii().is_empty() => {}
                BackStep::Line { offset, bytes } => match entry(bytes) {
                    Some(entry) => scan.see(offset, entry),
                    None if offset + bytes.len() as u64 == size => size = offset,
                    None => scan.see(offset, Entry::Other),
                },
                BackStep::Start => break ScanEnd::Start,
                BackStep::Edge => break ScanEnd::Edge,
            }
        };
        Ok(scan.conclude(reach, size, &lines))
    }

    /// Does it have what the agent said last? Then everything before that is there, too. Words that
    /// may be older than our last block do not count, unless the transcript never shows a block.
    pub(crate) fn has_last_words(&self, words: &str, shows: Shows) -> bool {
        let unproved = (shows == Shows::Talk).then_some(&self.unproved_texts);
        let mut texts = self
            .final_texts
            .iter()
            .chain(unproved.into_iter().flatten());
        texts
            .next_back()
            .is_some_and(|text| text.trim() == words.trim())
    }

    pub(crate) fn tool_used_since_last_block(&self) -> ToolUse {
        match self.run {
            Run::Exactly(0) => ToolUse::Yes,
            Run::AtLeast(0) => ToolUse::Unknown,
            Run::Exactly(_) | Run::AtLeast(_) => ToolUse::No,
        }
    }
}

/// Why the scan ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScanEnd {
    Enough,
    Start,
    Edge,
}

/// What was found so far, reading backwards.
struct Scan {
    blocked_at: u64,
    unrecorded: u32,
    lines: u32,
    recent_error: bool,
    texts: FinalTexts,
    /// A tool use or a prompt was found: the run of blocks begins after it.
    is_before_run: bool,
    turn: Option<ToolUse>,
    /// The position of the earliest line of the block that is being read.
    block: Option<u64>,
    blocks_since_tool: u32,
    blocks_since_ours: u32,
    /// Did the last line that was read exist when we last blocked?
    is_before_ours: bool,
    since_ours: SinceOurs,
}

/// What was found that did not exist when we last blocked.
#[derive(Default)]
struct SinceOurs {
    /// Something that the agent said.
    text: bool,
    tool: bool,
}

impl Scan {
    fn new(last_block: LastBlock) -> Self {
        let (blocked_at, unrecorded) = match last_block {
            LastBlock::None => (u64::MAX, 0),
            LastBlock::At { size, unrecorded } => (size, unrecorded),
        };
        Self {
            blocked_at,
            unrecorded,
            lines: 0,
            recent_error: false,
            texts: FinalTexts::default(),
            is_before_run: false,
            turn: None,
            block: None,
            blocks_since_tool: 0,
            blocks_since_ours: 0,
            is_before_ours: false,
            since_ours: SinceOurs::default(),
        }
    }

    fn is_decided(&self) -> bool {
        let run_is_known = self.is_before_run && self.is_before_ours && self.block.is_none();
        run_is_known && self.texts.is_complete && self.lines >= RECENT_LINES
    }

    fn see(&mut self, offset: u64, entry: Entry) {
        self.lines += 1;
        self.is_before_ours = offset < self.blocked_at;
        match entry {
            Entry::ToolResults(Outcome::Failed) => self.recent_error |= self.lines <= RECENT_LINES,
            Entry::ToolResults(Outcome::Fine) | Entry::Other => {}
            Entry::Block => {
                self.block = Some(offset);
                self.texts.is_complete = true;
            }
            Entry::Prompt => {
                self.end_block();
                self.is_before_run = true;
                self.turn.get_or_insert(ToolUse::No);
                self.texts.is_complete = true;
            }
            Entry::Agent(saying) => {
                self.end_block();
                let since = offset >= self.blocked_at;
                self.since_ours.text |= since && !saying.texts.is_empty();
                self.since_ours.tool |= since && saying.tools > 0;
                if saying.tools > 0 {
                    self.is_before_run = true;
                    self.turn.get_or_insert(ToolUse::Yes);
                }
                self.texts.see(saying);
            }
        }
    }

    /// Lines of the agent's separate the records of blocked stops. A record that partly existed
    /// when we last blocked was counted then.
    fn end_block(&mut self) {
        let Some(oldest) = self.block.take() else {
            return;
        };
        if !self.is_before_run {
            self.blocks_since_tool += 1;
        }
        if oldest >= self.blocked_at {
            self.blocks_since_ours += 1;
        }
    }

    fn conclude(mut self, reach: ScanEnd, size: u64, lines: &Backwards<'_>) -> Tail {
        self.end_block();
        let unrecorded = if reach == ScanEnd::Edge && !self.is_before_ours {
            // A whole MiB was written since, and the block's record came first.
            0
        } else {
            self.unrecorded.saturating_sub(self.blocks_since_ours)
        };
        let blocks = self.blocks_since_tool + unrecorded;
        let run_is_whole = self.is_before_run || reach == ScanEnd::Start;
        let texts = self.texts.into_texts();
        let (final_texts, unproved_texts) = match (unrecorded, self.since_ours.text) {
            (0, _) => (texts, Vec::new()),
            (_, true) => (Vec::new(), texts),
            (_, false) => (Vec::new(), Vec::new()),
        };
        Tail {
            final_texts,
            unproved_texts,
            tool_since_block: self.since_ours.tool,
            run: if run_is_whole {
                Run::Exactly(blocks)
            } else {
                Run::AtLeast(blocks)
            },
            unrecorded,
            recent_error: self.recent_error,
            turn: match (self.turn, reach) {
                (Some(turn), _) => turn,
                (None, ScanEnd::Start) => ToolUse::No,
                (None, ScanEnd::Enough | ScanEnd::Edge) => ToolUse::Unknown,
            },
            size,
            length: lines.length(),
            bytes_read: lines.bytes_read(),
        }
    }
}

/// The text blocks of one message, newest first while they are being collected.
#[derive(Default)]
struct FinalTexts {
    message: Option<String>,
    texts: Vec<String>,
    is_complete: bool,
}

impl FinalTexts {
    fn see(&mut self, saying: Saying) {
        if self.is_complete {
            return;
        }
        if self.texts.is_empty() {
            self.message = saying.message;
        } else if self.message.is_none() || self.message != saying.message {
            self.is_complete = true;
            return;
        }
        self.texts.extend(saying.texts.into_iter().rev());
    }

    fn into_texts(mut self) -> Vec<String> {
        self.texts.reverse();
        self.texts
    }
}
