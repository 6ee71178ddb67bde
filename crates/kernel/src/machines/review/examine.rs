//! A stop without a review: are the ground rules kept?

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::messages::{command, command_without_plan, quoted};
use super::plan::{Complaint, Lack, State};
use super::stop::{Stop, with_notes};
use super::{Facts, Review, structure};
use crate::event::{self, Chain};
use crate::hidden::quote;
use crate::machine::{Input, Machine as _, OnStop, Step};

/// `rule` is the arrow that is taken if they are kept.
pub(super) fn examine(
    plan: impl Into<State>,
    input: &Input<'_, Review>,
    rule: &'static str,
) -> Stop {
    let mut state = plan.into();
    let facts = input.facts;
    let first = chain(input) == Chain::First;
    let due = Review::label(&state) == "due";
    let mut notes = if first {
        facts.warnings.clone()
    } else {
        Vec::new()
    };
    let mut violations = facts.violations.clone();
    if facts.asker.records() {
        violations.extend(broken_record(&state, facts));
    }
    let Some((id, memory)) = state.known() else {
        return Step::take(rule, state, OnStop::Pass);
    };
    if violations.is_empty() {
        if memory.complaint.take().is_some() {
            notes.push(structure::approval(id));
        }
        return with_notes(Step::take(rule, state, OnStop::Pass), notes);
    }
    let text = structure::complaint(id, &violations);
    let complaint = Some(Complaint {
        session: input.event.session.clone(),
        text: text.clone(),
    });
    // A session is held once for the same; anybody else, once for each time that they ask.
    let asked = first && !facts.asker.records();
    if memory.complaint == complaint && !asked {
        notes.push(format!("still broken, as said before: {text}"));
        let rule = if due { "unchanged-due" } else { "unchanged" };
        return with_notes(Step::take(rule, state, OnStop::Pass), notes);
    }
    memory.complaint = complaint;
    let rule = if due { "invalid-due" } else { "invalid" };
    with_notes(Step::take(rule, state, OnStop::Hold(text)), notes)
}

/// What is wrong with `state.json`, and what mends it. An agent can run that.
fn broken_record(state: &State, facts: &Facts) -> Option<String> {
    let (id, problem) = match state {
        State::Nothing => return None,
        State::Bare(plan) => match &plan.lack {
            Lack::Missing => {
                let init = command_without_plan(&format!("init {}", quoted(&plan.id)));
                let text = format!("it has no state.json, so nothing reviews it: run {init}");
                return facts.unrecorded.then_some(text);
            }
            Lack::Unreadable(problem) => (&plan.id, problem.clone()),
        },
        State::Plan(plan) => {
            let (field, phase) = plan.fields.undecidable()?;
            let phase = quote(phase, 80);
            let problem = format!("{field} in state.json is \"{phase}\", which is no phase");
            (&plan.id, problem)
        }
    };
    Some(format!("{problem}: run {}", command(id, "repair")))
}

pub(super) fn chain(input: &Input<'_, Review>) -> Chain {
    match &input.event.kind {
        event::Kind::Stop { chain, .. } => *chain,
        _ => Chain::First,
    }
}
