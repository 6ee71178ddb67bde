//! The stop, in the order of the table: who owns the plan, which review is due, what came of it;
//! and the ground rules if no review runs.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::after::{Stop, conclude, examine, pass, with_notes};
use super::due::{DueReview, Next};
use super::messages::directory;
use super::{AnswerFile, Door, Fields, Kind, OtherSessions, Plan, Record, Review, State};
use crate::effect::EffectStatus;
use crate::hidden::quote;
use crate::machine::{Input, OnStop, Step};

pub(super) fn on_stop(state: &State, input: &Input<'_, Review>) -> Stop {
    let State::Plan(plan) = state else {
        return Step::take("no-plan", State::Nothing, OnStop::Pass);
    };
    let mut plan = Plan::clone(plan);
    if let EffectStatus::Done(intent, outcome) = input.effect_status
        && intent.effect.plan == plan.id
    {
        plan.memory.spent = plan.memory.spent.saturating_add(outcome.cost);
    }
    match ownership(plan, input) {
        Ownership::NoSession => Step::ignore(state, OnStop::Pass),
        Ownership::Others(plan, notes) => with_notes(
            Step::take("not-ours", State::Plan(plan.into()), OnStop::Pass),
            notes,
        ),
        Ownership::Ours(plan, mut notes) => {
            notes.extend(edited_out(&plan, input.facts.door));
            let mut step = decide(plan, input);
            if let State::Plan(plan) = &mut step.state {
                plan.follow_awaited();
            }
            step.notes.splice(0..0, notes);
            step
        }
    }
}

/// A review was due or waited for its answer, and somebody removed it from `state.json` without
/// a command of ours. The file counts, and the person is told.
fn edited_out(plan: &Plan, door: Door) -> Option<String> {
    let Record::Fields(fields) = &plan.record else {
        return None;
    };
    let awaited = plan.memory.awaited.filter(|_| door == Door::Hook)?;
    (fields.awaited().is_none()).then(|| {
        format!(
            "somebody removed the {} from plan '{}' by editing its state.json; the cycle was not \
             finished. `mainspring plan set next_phase {}` makes the review due again",
            awaited.label(),
            plan.id,
            awaited.action()
        )
    })
}

/// Does the plan belong to this session?
enum Ownership {
    NoSession,
    Others(Plan, Vec<String>),
    Ours(Plan, Vec<String>),
}

fn ownership(mut plan: Plan, input: &Input<'_, Review>) -> Ownership {
    if input.facts.door == Door::Compat {
        return Ownership::Ours(plan, Vec::new());
    }
    let Some(here) = &input.event.session else {
        return Ownership::NoSession;
    };
    let live = is_live(&plan);
    // The session that runs a review of a plan without an owner becomes the owner when the review
    // comes back, because a verdict cannot be fetched twice. Until then no other session becomes
    // the owner.
    let running = matches!(input.effect_status, EffectStatus::Running(_));
    let returned = matches!(input.effect_status, EffectStatus::Done(..));
    match (&plan.memory.owner, input.facts.company) {
        (Some(owner), _) if owner == here => Ownership::Ours(plan, Vec::new()),
        (None, OtherSessions::Alone) if !live || running => Ownership::Ours(plan, Vec::new()),
        (None, company) if company == OtherSessions::Alone || returned => {
            plan.memory.moved_by(Some(here));
            let note = format!(
                "plan '{}' had no session and now belongs to this one. `mainspring plan set next_phase \
                 null` ends its reviews",
                plan.id
            );
            Ownership::Ours(plan, [note].into())
        }
        (Some(_) | None, _) => {
            let matters = live || !input.facts.violations.is_empty();
            let mut notes = Vec::new();
            if matters && plan.memory.tell(here) {
                let whose = match &plan.memory.owner {
                    Some(owner) => format!("belongs to session {owner}"),
                    None => String::from("belongs to no session, and several are at work here"),
                };
                notes.push(format!(
                    "plan '{}' {whose}: this stop neither reviews it nor waits for it. \
                     `mainspring plan adopt` takes it over",
                    plan.id
                ));
            }
            Ownership::Others(plan, notes)
        }
    }
}

/// Is a review due, or the answer to one?
pub(super) fn is_live(plan: &Plan) -> bool {
    match &plan.record {
        Record::Missing | Record::Unreadable(_) => false,
        Record::Fields(fields) => {
            fields.unknown().is_none() && (fields.due().is_some() || fields.unanswered().is_some())
        }
    }
}

fn decide(mut plan: Plan, input: &Input<'_, Review>) -> Stop {
    let Record::Fields(fields) = &mut plan.record else {
        return examine(plan, input, "valid");
    };
    if let Some((field, phase)) = fields.unknown() {
        let note = format!(
            "{field} of plan '{}' is \"{}\", which this version does not know: it is left as it \
             is, and no review is run",
            plan.id,
            quote(phase, 80)
        );
        return examine(plan, input, "valid").note(note);
    }
    if let Some(review) = fields.unanswered() {
        match input.facts.answer {
            AnswerFile::Written => fields.answered(review),
            AnswerFile::Missing => {
                let note = unanswered_note(&plan.id, fields, review);
                return examine(plan, input, "unanswered").note(note);
            }
        }
    }
    match fields.due() {
        Some(review) => due(plan, review, input),
        None => with_notes(examine(plan, input, "valid"), late(input)),
    }
}

/// The reviewer came back after somebody had moved the plan to another phase.
fn late(input: &Input<'_, Review>) -> Option<String> {
    match input.effect_status {
        EffectStatus::Done(intent, _) => Some(format!(
            "{}/{} came after the plan had moved on, so it does not count",
            directory(&intent.effect.plan),
            intent.effect.file()
        )),
        EffectStatus::Clear | EffectStatus::Running(_) | EffectStatus::Abandoned(_) => None,
    }
}

/// A review must run, or has just run.
fn due(plan: Plan, review: Kind, input: &Input<'_, Review>) -> Stop {
    let Record::Fields(fields) = &plan.record else {
        return examine(plan, input, "valid");
    };
    let due = DueReview {
        plan: &plan,
        fields,
        review,
        task: match review {
            Kind::Code => fields.task(),
            Kind::Plan | Kind::Tasks | Kind::AllCode => None,
        },
        input,
    };
    if let EffectStatus::Done(intent, outcome) = input.effect_status
        && due.is_for(&intent.effect)
    {
        return conclude(plan, &intent.effect, outcome, input);
    }
    let step = match due.next() {
        Next::Pass(rule, target) => pass(plan, rule, target),
        Next::Examine(rule, note) => examine(plan, input, rule).note(note),
        Next::LetGo(rule, note) => with_notes(
            Step::take(rule, State::Plan(plan.into()), OnStop::Pass),
            note,
        ),
        Next::Run(request) => {
            let wait = request.not_before.since(input.now);
            let limit = input.facts.settings.deadline.plus(wait);
            Step::need("review", State::Plan(plan.into()), request, limit)
        }
    };
    with_notes(step, late(input))
}

fn unanswered_note(plan: &str, fields: &Fields, review: Kind) -> String {
    let iteration = fields.phase_iteration.unwrap_or(0);
    let task = fields.task();
    format!(
        "plan '{plan}': {} waits for its answer, {}",
        review.file(task.as_ref(), iteration),
        review.answer_file(task.as_ref(), iteration)
    )
}
