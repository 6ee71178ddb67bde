//! What should be stored, counted from the decisions by code that shares nothing with the machines.

use std::collections::BTreeMap;

use mainspring_kernel::block_ledger::ToolUse;
use mainspring_kernel::deliberate::{Outcome, Ruling};
use mainspring_kernel::effect::EffectStatus;
use mainspring_kernel::event::{Chain, Kind, StartSource};
use mainspring_kernel::journal::Entry;
use mainspring_kernel::machines::looping::State;
use mainspring_kernel::machines::{MachineInput, Transition};
use mainspring_kernel::{Answer, Case, Decision, Digest, SessionId};

#[derive(Debug, Default)]
pub(super) struct Oracle {
    /// Holds in a row without tool use, per session.
    blocks: BTreeMap<SessionId, u32>,
    /// The iteration of every frame of the loop, the outermost first.
    pub(super) stack: Vec<u32>,
    iterated: BTreeMap<Digest, u32>,
    /// How often each review was counted since somebody last changed the plan by hand.
    counted: BTreeMap<(u32, u32), u32>,
    pub(super) cycle: u32,
    pub(super) suspended: bool,
    /// The answers to hosts, which must be in the journal.
    pub(super) printed: Vec<(Digest, Answer)>,
}

/// What is wrong, as a sentence.
pub(super) type Verdict = Result<(), String>;

fn wrong(text: impl Into<String>) -> Verdict {
    Err(text.into())
}

pub(super) fn holds(answer: &Answer) -> bool {
    matches!(&answer.decision, Decision::Stop { hold } if !hold.is_empty())
}

/// The iterations of a loop's frames.
pub(super) fn stack(state: &State) -> Vec<u32> {
    match state {
        State::Active(run) | State::Completing { run, .. } | State::Stuck(run) => {
            let outer = run.outer.iter().map(|frame| frame.iter);
            outer.chain([run.top.iter]).collect()
        }
        State::Idle(_) | State::Aborted { .. } | State::Corrupt(_) => Vec::new(),
    }
}

impl Oracle {
    pub(super) fn blocks(&self, session: &SessionId) -> u32 {
        self.blocks.get(session).copied().unwrap_or(0)
    }

    /// A record of a hook is durable.
    pub(super) fn recorded(&mut self, entry: &Entry, cap: u32) -> Verdict {
        let Entry::Turn { case, ruling } = entry else {
            return Ok(());
        };
        if self.suspended && asks(ruling) {
            return wrong("a suspended machine asked for something");
        }
        let Ruling::Settled(settlement) = &**ruling else {
            return Ok(());
        };
        let held = settlement.outcome == Outcome::Held;
        if let Some(session) = &case.event.session {
            let blocks = self.blocks.entry(session.clone()).or_default();
            if settlement.outcome != Outcome::Observed && begins_anew(case) {
                *blocks = 0;
            }
            *blocks += u32::from(held);
            if *blocks > cap {
                return wrong("a stop was held beyond the host's cap");
            }
            if settlement.ledger.blocks != *blocks {
                return wrong(format!(
                    "the ledger counts {} holds and there were {blocks}",
                    settlement.ledger.blocks
                ));
            }
        }
        for (input, moved) in case.inputs.iter().zip(&settlement.transitions) {
            self.moved(case, input, moved, settlement.outcome)?;
        }
        Ok(())
    }

    fn moved(
        &mut self,
        case: &Case,
        input: &MachineInput,
        moved: &Transition,
        outcome: Outcome,
    ) -> Verdict {
        match (input, moved) {
            (MachineInput::Loop(_), Transition::Loop(moved)) => {
                match (moved.rule.as_str(), outcome) {
                    ("iterate", Outcome::Held) => {
                        if let Some(top) = self.stack.last_mut() {
                            *top += 1;
                        }
                        let times = self.iterated.entry(case.delivery.clone()).or_default();
                        *times += 1;
                        if *times > 1 {
                            return wrong("one stop was two iterations");
                        }
                    }
                    ("signal" | "completing" | "max-inner", Outcome::Held)
                        if !moved.said.is_nothing() =>
                    {
                        self.stack.pop();
                        if let Some(top) = self.stack.last_mut() {
                            *top += 1;
                        }
                    }
                    ("signal" | "completing" | "max-inner", Outcome::Passed | Outcome::Capped) => {
                        self.stack.pop();
                    }
                    ("max" | "stale", Outcome::Passed | Outcome::Held | Outcome::Told) => {
                        self.stack.clear();
                    }
                    _ => {}
                }
                let found = stack(&moved.state);
                if found != self.stack {
                    return wrong(format!(
                        "the loop's frames are at {found:?} and should be at {:?}",
                        self.stack
                    ));
                }
            }
            (MachineInput::Review(input), Transition::Review(moved)) => {
                let counts = matches!(moved.rule.as_str(), "issues" | "clean" | "passed");
                if let (true, EffectStatus::Done(intent, _)) = (counts, &input.effect_status) {
                    let review = (self.cycle, intent.effect.iteration);
                    let times = self.counted.entry(review).or_default();
                    *times += 1;
                    if *times > 1 {
                        return wrong("one review was counted twice");
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The host has read an answer.
    pub(super) fn answered(&mut self, delivery: &Digest, answer: &Answer) {
        if !answer.is_nothing() {
            self.printed.push((delivery.clone(), answer.clone()));
        }
    }
}

fn asks(ruling: &Ruling) -> bool {
    match ruling {
        Ruling::Repeated(_) => false,
        Ruling::Intends(_) => true,
        Ruling::Settled(settlement) => holds(&settlement.answer),
    }
}

/// Does the host's count start again with this event?
fn begins_anew(case: &Case) -> bool {
    case.tools == ToolUse::Seen
        || match &case.event.kind {
            Kind::Stop { chain, .. } => *chain == Chain::First,
            Kind::SessionStart { source } => *source != StartSource::Compact,
            Kind::Prompt { .. } => true,
            _ => false,
        }
}
