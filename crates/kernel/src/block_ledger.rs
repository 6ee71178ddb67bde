//! Counts per session: how often we held the agent, against the host's limit. It also keeps the
//! last answer, in case the host delivers an event twice.

use serde::{Deserialize, Serialize};

use crate::decision::Answer;
use crate::event::{Chain, Kind, StartSource};
use crate::ids::{Digest, Millis, Uptime};
use crate::receipt::Receipt;

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BlockLedger {
    /// Holds in a row without tool use between them, as the host counts them.
    pub blocks: u32,
    /// The transcript at the last hold since a prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<Mark>,
    /// The counts for the receipt.
    #[serde(default, skip_serializing_if = "Option::is_none", alias = "tally")]
    pub receipt: Option<Receipt>,
    /// When the person wrote the prompt that this stop follows, if that was looked up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompted: Option<Millis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Delivered>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Delivered {
    pub delivery: Digest,
    /// When it was answered. Records of earlier builds have a time of the wall clock instead,
    /// and are not repeated.
    #[serde(default)]
    pub uptime: Uptime,
    pub answer: Answer,
}

/// How far a transcript has come. A host writes the transcript later than it sends events, so at a
/// stop the transcript may still end before our last hold; the mark of that hold tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Mark {
    /// In bytes.
    pub size: u64,
    /// How many of our holds it does not show yet.
    pub unrecorded: u32,
}

/// If our hook is registered twice, or the host retries, both deliveries come within this time.
const REDELIVERY: Millis = Millis::seconds(2);

/// What the host does with a hook that keeps blocking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cap {
    /// It overrides the next block after this many without tool use.
    After(u32),
    Never,
}

/// Did the agent use a tool since we last held it?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolUse {
    Seen,
    NotSeen,
}

impl Delivered {
    fn is_recent(&self, now: Uptime) -> bool {
        now.since(self.uptime).is_some_and(|age| age <= REDELIVERY)
    }
}

impl BlockLedger {
    /// The answer that this same delivery got a moment ago.
    pub fn repeated(&self, delivery: &Digest, now: Uptime) -> Option<&Answer> {
        let last = self.last.as_ref()?;
        let same = last.delivery == *delivery && last.is_recent(now);
        same.then_some(&last.answer)
    }

    /// Drops the last answer once no second delivery can come any more.
    #[must_use]
    pub fn at(mut self, now: Uptime) -> Self {
        self.last.take_if(|last| !last.is_recent(now));
        self
    }

    /// The count when this event arrives.
    #[must_use]
    pub fn opened(mut self, kind: &Kind, tools: ToolUse) -> Self {
        let new_chain = match kind {
            Kind::Stop { chain, .. } => *chain == Chain::First,
            // A compaction happens in the middle of a chain, and the host goes on counting.
            Kind::SessionStart { source } => *source != StartSource::Compact,
            Kind::Prompt { .. } => true,
            Kind::SessionEnd { .. }
            | Kind::Expansion { .. }
            | Kind::BeforeTool { .. }
            | Kind::AfterTool { .. }
            | Kind::Idle
            | Kind::Watch
            | Kind::Other { .. } => false,
        };
        if new_chain || tools == ToolUse::Seen {
            self.blocks = 0;
        }
        if new_chain {
            self.mark = None;
            self.receipt = None;
        }
        self
    }

    /// Counts one more hold, and notes how far the transcript has come. If the transcript cannot
    /// be read, the last note stays, with one more hold that it does not show.
    pub(crate) fn hold(&mut self, transcript: Option<Mark>) {
        self.blocks = self.blocks.saturating_add(1);
        let shown = transcript.or(self.mark).unwrap_or_default();
        self.mark = Some(Mark {
            unrecorded: shown.unrecorded.saturating_add(1),
            ..shown
        });
    }

    /// Would the host override one more hold?
    pub fn exhausted(&self, cap: Cap) -> bool {
        match cap {
            Cap::After(limit) => self.blocks >= limit,
            Cap::Never => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hold_leaves_a_mark() {
        let mark = |size, unrecorded| Mark { size, unrecorded };
        let mut ledger = BlockLedger::default();
        for (transcript, left) in [
            (None, mark(0, 1)),
            (None, mark(0, 2)),
            (Some(mark(700, 2)), mark(700, 3)),
            (None, mark(700, 4)),
            (Some(mark(900, 0)), mark(900, 1)),
        ] {
            ledger.hold(transcript);
            assert_eq!(ledger.mark, Some(left));
        }
        assert_eq!(ledger.blocks, 5);
    }

    #[test]
    fn the_last_answer_is_kept_as_long_as_it_can_be_asked_for() {
        let said = Uptime(10_000);
        let ledger = BlockLedger {
            blocks: 3,
            last: Some(Delivered {
                delivery: Digest("one".into()),
                uptime: said,
                answer: Answer::nothing(&Kind::Idle),
            }),
            ..BlockLedger::default()
        };
        for later in [Millis(0), REDELIVERY, REDELIVERY.plus(Millis(1))] {
            let now = Uptime(said.0 + later.0);
            let repeats =
                |ledger: &BlockLedger| ledger.repeated(&Digest("one".into()), now).is_some();
            let aged = ledger.clone().at(now);
            assert_eq!(repeats(&aged), repeats(&ledger), "{later:?}");
            assert_eq!(aged.last.is_some(), later <= REDELIVERY, "{later:?}");
            assert_eq!(aged.blocks, 3);
        }
        assert!(ledger.at(Uptime(0)).last.is_none(), "after a reboot");
    }
}
