//! What a stop adds to the counts of a session, and the receipt at the end.

use super::notes::{capped_note, held_note, same_answer_note};
use super::{Case, Outcome, Ruling};
use crate::block_ledger::BlockLedger;
use crate::decision::{HoldTexts, Note};
use crate::event::Speaker;
use crate::machines::MachineInput;
use crate::receipt::Receipt;

impl Ruling {
    /// Does the agent go on, or is something started? Then a person's order may still change it.
    pub fn goes_on(&self) -> bool {
        match self {
            Self::Repeated(answer) => !answer.decision.is_nothing(),
            Self::Intends(_) => true,
            Self::Settled(settlement) => settlement.outcome == Outcome::Held,
        }
    }
}

/// Counts the hold, or ends the count, and writes the receipt. The note is for the person.
pub(super) fn settle_stop(
    case: &Case,
    hold: &HoldTexts,
    ledger: &mut BlockLedger,
) -> (Outcome, Option<Note>) {
    let seeks = ledger.seeks_prompt(&case.event, false);
    let prompted = ledger.prompted.take();
    if let Some(receipt) = ledger.receipt.as_mut().filter(|_| seeks) {
        receipt.count_from(prompted);
    }
    if hold.is_empty() {
        // A sub-agent's stop does not end the work that the agent is kept going for.
        let receipt = match case.event.speaker {
            Speaker::Main => ledger.receipt.take(),
            Speaker::Subagent => None,
        };
        let note = receipt.map(|mut receipt| {
            take_in(&mut receipt, &case.inputs);
            Note::optional(receipt.line(case.now))
        });
        return (Outcome::Passed, note);
    }
    let exhausted = ledger.exhausted(case.cap);
    ledger.let_go = exhausted || ledger.is_futile(case.said.as_ref());
    if exhausted {
        ledger.receipt = None;
        return (Outcome::Capped, Some(capped_note(hold, ledger, case.cap)));
    }
    if ledger.let_go {
        ledger.receipt = None;
        return (Outcome::SameAnswer, Some(same_answer_note(hold)));
    }
    ledger.hold(case.transcript, case.said.as_ref());
    let receipt = ledger.receipt.get_or_insert_with(|| {
        let mut receipt = Receipt::begin(case.now);
        if prompted.is_some() {
            receipt.count_from(prompted);
        }
        receipt
    });
    receipt.hold(hold);
    take_in(receipt, &case.inputs);
    let note = (receipt.holds == 1).then(|| held_note(hold, case.typed_here));
    (Outcome::Held, note)
}

/// Adds the results of this stop's effects to the receipt.
fn take_in(receipt: &mut Receipt, inputs: &[MachineInput]) {
    for input in inputs {
        input.summarize(receipt);
    }
}
