//! Counts per session: how often we held the agent, against the host's limit, and how often it gave
//! the same answer. It also keeps our own last answer, in case the host delivers an event twice.

use serde::{Deserialize, Serialize};

use crate::decision::Answer;
use crate::event::{Chain, Event, Kind, Speaker, StartSource};
use crate::ids::{Digest, Millis, Uptime};
use crate::receipt::Receipt;

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BlockLedger {
    /// Holds in a row, as the host counts them: see [`Cap`].
    pub blocks: u32,
    /// What the agent said at the last hold since a prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<Said>,
    /// A machine would have held the last stop, but the agent was let go: it waits for the person.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub let_go: bool,
    /// The transcript at the last hold since a prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<Mark>,
    /// The counts for the receipt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Receipt>,
    /// When the person wrote the prompt that this stop follows, if that was looked up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompted: Option<Millis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Delivered>,
}

/// What the agent said when it was held, and how often in a row without tool use.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Said {
    pub message: Digest,
    pub times: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Delivered {
    pub delivery: Digest,
    /// The registration of ours that was asked, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration: Option<Digest>,
    /// When it was answered.
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

/// If our hook is registered twice, both deliveries come within this time.
const REDELIVERY: Millis = Millis::seconds(2);

/// An agent that gives the same answer for this many times, without using a tool, will not give
/// another one: it is let go.
pub const SAME_ANSWERS: u32 = 5;

/// What the host does with a hook that keeps blocking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cap {
    /// It overrides the next block after this many without tool use.
    After(u32),
    /// It overrides the next block after this many in one turn, whatever tools were used.
    InTurn(u32),
    /// It never overrides us. So that nobody pays for an agent that only talks, we let go after
    /// this many without tool use.
    Ours(u32),
    Never,
}

impl Cap {
    /// Does the count begin anew when the agent uses a tool?
    pub const fn heeds_tools(self) -> bool {
        match self {
            Self::After(_) | Self::Ours(_) | Self::Never => true,
            Self::InTurn(_) => false,
        }
    }
}

/// Did the agent use a tool since we last held it?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolUse {
    Seen,
    NotSeen,
}

/// One delivery of an event.
#[derive(Debug, Clone, Copy)]
pub struct Delivery<'a> {
    pub id: &'a Digest,
    /// Through which registration of ours it came; `None` if that makes no difference.
    pub registration: Option<&'a Digest>,
}

impl Delivered {
    fn is_recent(&self, now: Uptime) -> bool {
        now.since(self.uptime).is_some_and(|age| age <= REDELIVERY)
    }
}

impl BlockLedger {
    /// The answer that this same delivery got a moment ago. The same payload through the same
    /// registration is not delivered twice: an agent that answers at once with the same words
    /// stops again.
    pub fn repeated(&self, delivery: &Delivery<'_>, now: Uptime) -> Option<&Answer> {
        let last = self.last.as_ref()?;
        let same = last.delivery == *delivery.id && last.is_recent(now);
        let by_another =
            delivery.registration.is_none() || last.registration.as_ref() != delivery.registration;
        (same && by_another).then_some(&last.answer)
    }

    /// Drops the last answer once no second delivery can come any more.
    #[must_use]
    pub fn at(mut self, now: Uptime) -> Self {
        self.last.take_if(|last| !last.is_recent(now));
        self
    }

    /// The count when this event arrives.
    #[must_use]
    pub fn opened(mut self, kind: &Kind, tools: ToolUse, cap: Cap) -> Self {
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
        let used_tools = tools == ToolUse::Seen;
        if new_chain || used_tools && cap.heeds_tools() {
            self.blocks = 0;
        }
        if new_chain || used_tools {
            self.said = None;
        }
        if new_chain {
            self.let_go = false;
            self.mark = None;
            self.receipt = None;
        }
        self
    }

    /// Is the time of the prompt wanted at this event? At the first stop of a chain only if
    /// something ran, which may have taken minutes: most such stops hold nobody, and the next one
    /// is early enough for the receipt.
    pub fn seeks_prompt(&self, event: &Event, has_run: bool) -> bool {
        let Kind::Stop { chain, .. } = &event.kind else {
            return false;
        };
        // A sub-agent's stop does not end the work that the receipt is about.
        event.speaker == Speaker::Main
            && match (chain, &self.receipt) {
                (Chain::Continued, Some(receipt)) => !receipt.sought,
                (Chain::First | Chain::Continued, _) => has_run,
            }
    }

    /// Counts one more hold, and notes how far the transcript has come. If the transcript cannot
    /// be read, the last note stays, with one more hold that it does not show.
    pub(crate) fn hold(&mut self, transcript: Option<Mark>, message: Option<&Digest>) {
        self.blocks = self.blocks.saturating_add(1);
        self.said = message.map(|message| Said {
            message: message.clone(),
            times: self.times(message),
        });
        let shown = transcript.or(self.mark).unwrap_or_default();
        self.mark = Some(Mark {
            unrecorded: shown.unrecorded.saturating_add(1),
            ..shown
        });
    }

    /// How often in a row the agent has said this, now included.
    fn times(&self, message: &Digest) -> u32 {
        match &self.said {
            Some(said) if said.message == *message => said.times.saturating_add(1),
            Some(_) | None => 1,
        }
    }

    /// Would one more hold only get the same answer again?
    pub fn is_futile(&self, message: Option<&Digest>) -> bool {
        message.is_some_and(|message| self.times(message) >= SAME_ANSWERS)
    }

    /// Is one more hold too many, unless the agent used a tool since the last one? Only then is it
    /// worth to wait for a transcript that is written late.
    pub fn hinges_on_tools(&self, event: &Event, cap: Cap, message: Option<&Digest>) -> bool {
        let at_stop = matches!(event.kind, Kind::Stop { .. }) && event.speaker == Speaker::Main;
        let lets_go = |ledger: &Self| ledger.exhausted(cap) || ledger.is_futile(message);
        let after = |tools| self.clone().opened(&event.kind, tools, cap);
        at_stop
            && lets_go(self)
            && lets_go(&after(ToolUse::NotSeen))
            && !lets_go(&after(ToolUse::Seen))
    }

    /// Would the host override one more hold, or is our own limit reached?
    pub fn exhausted(&self, cap: Cap) -> bool {
        match cap {
            Cap::After(limit) | Cap::InTurn(limit) | Cap::Ours(limit) => self.blocks >= limit,
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
            ledger.hold(transcript, None);
            assert_eq!(ledger.mark, Some(left));
        }
        assert_eq!(ledger.blocks, 5);
    }

    #[test]
    fn a_tool_call_resets_the_count_only_where_the_host_resets_its_own() {
        let stop = Kind::Stop {
            chain: Chain::Continued,
            background: crate::event::Background::Quiet,
        };
        for (cap, blocks) in [
            (Cap::After(8), 0),
            (Cap::Ours(8), 0),
            (Cap::Never, 0),
            (Cap::InTurn(8), 7),
        ] {
            let ledger = BlockLedger {
                blocks: 7,
                ..BlockLedger::default()
            };
            let opened = ledger.opened(&stop, ToolUse::Seen, cap);
            assert_eq!(opened.blocks, blocks, "{cap:?}");
            let first = Kind::Stop {
                chain: Chain::First,
                background: crate::event::Background::Quiet,
            };
            assert_eq!(opened.opened(&first, ToolUse::NotSeen, cap).blocks, 0);
        }
    }

    #[test]
    fn the_last_answer_is_kept_as_long_as_it_can_be_asked_for() {
        let said = Uptime(10_000);
        let ledger = BlockLedger {
            blocks: 3,
            last: Some(Delivered {
                delivery: Digest("one".into()),
                registration: None,
                uptime: said,
                answer: Answer::nothing(&Kind::Idle),
            }),
            ..BlockLedger::default()
        };
        for later in [Millis(0), REDELIVERY, REDELIVERY.plus(Millis(1))] {
            let now = Uptime(said.0 + later.0);
            let one = Digest("one".into());
            let delivery = Delivery {
                id: &one,
                registration: None,
            };
            let repeats = |ledger: &BlockLedger| ledger.repeated(&delivery, now).is_some();
            let aged = ledger.clone().at(now);
            assert_eq!(repeats(&aged), repeats(&ledger), "{later:?}");
            assert_eq!(aged.last.is_some(), later <= REDELIVERY, "{later:?}");
            assert_eq!(aged.blocks, 3);
        }
        assert!(ledger.at(Uptime(0)).last.is_none(), "after a reboot");
    }

    #[test]
    fn the_same_payload_is_delivered_twice_only_through_another_registration() {
        let (one, settings, plugin) = (
            Digest("one".into()),
            Digest("settings".into()),
            Digest("plugin".into()),
        );
        let ledger = BlockLedger {
            last: Some(Delivered {
                delivery: one.clone(),
                registration: Some(settings.clone()),
                uptime: Uptime(10_000),
                answer: Answer::nothing(&Kind::Idle),
            }),
            ..BlockLedger::default()
        };
        for (registration, repeats) in [
            (Some(&plugin), true),
            (Some(&settings), false),
            (None, true),
        ] {
            let id = &one;
            let delivery = Delivery { id, registration };
            let repeated = ledger.repeated(&delivery, Uptime(10_001));
            assert_eq!(repeated.is_some(), repeats, "{registration:?}");
        }
    }

    #[test]
    fn only_where_a_tool_call_would_make_one_more_hold_possible_is_it_looked_for_again() {
        let (same, other) = (Digest("same".into()), Digest("other".into()));
        let event = |speaker, kind| Event {
            session: None,
            speaker,
            kind,
        };
        let stop = |chain| Kind::Stop {
            chain,
            background: crate::event::Background::Quiet,
        };
        let held = |blocks, times| BlockLedger {
            blocks,
            said: Some(Said {
                message: same.clone(),
                times,
            }),
            ..BlockLedger::default()
        };
        let (few, many) = (1, SAME_ANSWERS - 1);
        for (blocks, times, message, cap, hinges, why) in [
            (8, few, &other, Cap::After(8), true, "the host's limit"),
            (8, few, &other, Cap::Ours(8), true, "our limit"),
            (7, few, &other, Cap::After(8), false, "one more is fine"),
            (8, few, &other, Cap::Never, false, "there is no limit"),
            (8, few, &other, Cap::InTurn(8), false, "no tool call helps"),
            (7, many, &same, Cap::After(8), true, "the same answer"),
            (7, many, &same, Cap::InTurn(8), true, "the same answer"),
            (8, many, &same, Cap::InTurn(8), false, "no tool call helps"),
            (7, many - 1, &same, Cap::After(8), false, "not often enough"),
        ] {
            let ledger = held(blocks, times);
            let asked = |by, kind| ledger.hinges_on_tools(&event(by, kind), cap, Some(message));
            let main = |kind| asked(Speaker::Main, kind);
            assert_eq!(main(stop(Chain::Continued)), hinges, "{why}: {cap:?}");
            assert!(!main(stop(Chain::First)), "a new chain begins: {why}");
            assert!(!main(Kind::Idle), "nobody is held there: {why}");
            let subagents = asked(Speaker::Subagent, stop(Chain::Continued));
            assert!(!subagents, "its words are in another transcript: {why}");
        }
    }

    #[test]
    fn an_answer_counts_as_the_same_until_another_one_or_a_tool_comes() {
        let (a, b) = (Digest("a".into()), Digest("b".into()));
        let mut ledger = BlockLedger::default();
        for held in 1..SAME_ANSWERS {
            assert!(!ledger.is_futile(Some(&a)), "{held}");
            ledger.hold(None, Some(&a));
        }
        assert!(ledger.is_futile(Some(&a)));
        assert!(!ledger.is_futile(Some(&b)));
        assert!(!ledger.is_futile(None), "nobody knows what was said");
        let stop = Kind::Stop {
            chain: Chain::Continued,
            background: crate::event::Background::Quiet,
        };
        let after_a_tool = ledger.clone().opened(&stop, ToolUse::Seen, Cap::Never);
        assert!(!after_a_tool.is_futile(Some(&a)));
        assert!(
            ledger
                .opened(&stop, ToolUse::NotSeen, Cap::Never)
                .is_futile(Some(&a))
        );
    }
}
