//! The stop, in the order of the table: whose plan, which review, what came of it, and
//! the ground rules where none is run.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::after::{Stop, conclude, examine, pass, with_notes};
use super::phase::Phase;
use super::plan::{CLEAN_ENOUGH, OverdueReview, Parked, Target};
use super::words::{directory, dollars};
use super::{
    AnswerFile, Door, Fields, Kind, OnFailure, OtherSessions, Plan, Record, Request, Review, State,
};
use crate::effect::EffectStatus;
use crate::event::{self, Background};
use crate::hidden::quote;
use crate::ids::Millis;
use crate::machine::{Input, OnStop, Step};

/// Before a failed review is tried again; before the second time, four times as long.
const BACK_OFF: Millis = Millis::seconds(5);

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
        Ownership::Ours(plan, notes) => {
            let mut step = decide(plan, input);
            step.notes.splice(0..0, notes);
            step
        }
    }
}

/// Whose plan it is.
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
    // Whoever runs a review of a plan without an owner is its owner when it comes back: a
    // verdict cannot be had twice. Until then nobody else becomes it in passing.
    let running = matches!(input.effect_status, EffectStatus::Running(_));
    let returned = matches!(input.effect_status, EffectStatus::Done(..));
    match (&plan.memory.owner, input.facts.company) {
        (Some(owner), _) if owner == here => Ownership::Ours(plan, Vec::new()),
        (None, OtherSessions::Alone) if !live || running => Ownership::Ours(plan, Vec::new()),
        (None, company) if company == OtherSessions::Alone || returned => {
            plan.memory.moved_by(Some(here));
            let note = format!(
                "plan '{}' had no session and is now this one's. `mainspring plan set next_phase \
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

/// Is a review due, or an answer to one?
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

/// The reviewer came back to a plan that somebody had moved meanwhile.
fn late(input: &Input<'_, Review>) -> Option<String> {
    match input.effect_status {
        EffectStatus::Done(intent, _) => Some(format!(
            "{}/{} came when the plan had moved on: it decides nothing",
            directory(&intent.effect.plan),
            intent.effect.file()
        )),
        EffectStatus::Clear | EffectStatus::Running(_) | EffectStatus::Abandoned(_) => None,
    }
}

/// A review is to be run, or has just been.
fn due(plan: Plan, review: Kind, input: &Input<'_, Review>) -> Stop {
    let Record::Fields(fields) = &plan.record else {
        return examine(plan, input, "valid");
    };
    let task = match review {
        Kind::Code => fields.task(),
        Kind::Plan | Kind::Tasks | Kind::AllCode => None,
    };
    let facts = input.facts;
    if let EffectStatus::Done(intent, outcome) = input.effect_status
        && intent.effect.is_for(&plan.id, review, task.as_ref())
    {
        return conclude(plan, &intent.effect, outcome, input);
    }
    let step = match before(&plan, fields, review, task, input) {
        Before::Pass(rule, target) => pass(plan, rule, target),
        Before::Examine(rule, note) => examine(plan, input, rule).note(note),
        Before::LetGo(rule, note) => with_notes(
            Step::take(rule, State::Plan(plan.into()), OnStop::Pass),
            note,
        ),
        Before::Run(request) => {
            let wait = request.not_before.since(input.now);
            let limit = facts.settings.deadline.plus(wait);
            Step::need("review", State::Plan(plan.into()), request, limit)
        }
    };
    with_notes(step, late(input))
}

/// What is clear before a reviewer is started.
enum Before {
    /// On to the next phase.
    Pass(&'static str, Target),
    /// No review; the ground rules have the word.
    Examine(&'static str, String),
    /// No review, and nothing else either.
    LetGo(&'static str, Option<String>),
    Run(Request),
}

fn before(
    plan: &Plan,
    fields: &Fields,
    review: Kind,
    task: Option<super::TaskId>,
    input: &Input<'_, Review>,
) -> Before {
    let facts = input.facts;
    let settings = &facts.settings;
    if is_waiting(input) {
        return Before::LetGo("background", None);
    }
    let target = || fields.target(review, &facts.tasks, &settings.models);
    if fields.max_reviews == 0 {
        return Before::Pass("skip", target());
    }
    // Clean enough already: another machine held the stop at which that was found.
    if fields.phase == Some(Phase::Review(review)) && fields.consecutive_clean >= CLEAN_ENOUGH {
        return Before::Pass("passed", target());
    }
    let abandoned = match input.effect_status {
        EffectStatus::Abandoned(intent) => Some(intent).filter(|intent| {
            let asked = &intent.effect;
            asked.is_for(&plan.id, review, task.as_ref())
                && asked.iteration > fields.phase_iteration.unwrap_or(0)
        }),
        EffectStatus::Clear | EffectStatus::Running(_) | EffectStatus::Done(..) => None,
    };
    let iteration = match abandoned {
        Some(intent) => intent.effect.iteration,
        None => next_free(fields.phase_iteration.unwrap_or(0), &facts.written),
    };
    if iteration > fields.max_reviews {
        return Before::Examine("limit", limit_note(plan, fields, review));
    }
    if let Some(most) = settings.max_cost
        && plan.memory.spent >= most
    {
        let note = format!(
            "the reviews of plan '{}' have cost {}, and max_cost_usd is {}: the cycle waits. Raise \
             it, or `mainspring plan set next_phase null`",
            plan.id,
            dollars(plan.memory.spent),
            dollars(most)
        );
        return Before::Examine("costs", note);
    }
    let tasks: Vec<_> = match review {
        Kind::Plan | Kind::Code => Vec::new(),
        Kind::Tasks | Kind::AllCode => facts.tasks.numbered().cloned().collect(),
    };
    let subject = match review {
        Kind::Code if task.is_none() => Err("state.json names no usable current_task"),
        Kind::Tasks | Kind::AllCode if tasks.is_empty() => Err("tasks.md names no task"),
        Kind::Plan | Kind::Code | Kind::Tasks | Kind::AllCode => Ok(()),
    };
    if let Err(lack) = subject {
        let note = format!("no {} of plan '{}': {lack}", review.words(), plan.id);
        return Before::LetGo("no-subject", Some(note));
    }
    if let EffectStatus::Running(intent) = input.effect_status {
        let note = format!(
            "a reviewer is already at work on {}/{}: this stop goes through, and the review stays due",
            directory(&intent.effect.plan),
            intent.effect.file()
        );
        return Before::LetGo("busy", Some(note));
    }
    let trouble = plan
        .memory
        .trouble
        .as_ref()
        .filter(|trouble| trouble.review == review && trouble.task == task);
    if trouble.is_some_and(|trouble| trouble.parked == Parked::Yes) {
        let note = format!(
            "the {} of plan '{}' is parked after a failure: `mainspring plan review --now` tries again",
            review.words(),
            plan.id
        );
        return Before::Examine("parked", note);
    }
    let not_before = match (settings.on_failure, trouble) {
        (OnFailure::Retry, Some(trouble)) => back_off(trouble),
        (OnFailure::Retry, None) | (OnFailure::Approve | OnFailure::Park, _) => Millis(0),
    };
    let resumes = abandoned.map_or_else(Vec::new, |intent| {
        let mut fences = intent.effect.resumes.clone();
        fences.push(intent.fence);
        fences
    });
    Before::Run(Request {
        plan: plan.id.clone(),
        review,
        task,
        iteration,
        model: fields.review_model.clone(),
        tasks,
        not_before,
        resumes,
    })
}

/// Numbers are not used twice: a review that lies there is never written over.
fn next_free(done: u32, written: &[u32]) -> u32 {
    let mut number = done.saturating_add(1);
    while written.contains(&number) && number < u32::MAX {
        number += 1;
    }
    number
}

fn back_off(trouble: &OverdueReview) -> Millis {
    let longer = 4_u64.saturating_pow(trouble.failures.saturating_sub(1).min(4));
    trouble.at.plus(Millis(BACK_OFF.0.saturating_mul(longer)))
}

/// Work is still going on, and the agent will be back by itself.
fn is_waiting(input: &Input<'_, Review>) -> bool {
    matches!(
        input.event.kind,
        event::Kind::Stop {
            background: Background::Working,
            ..
        }
    ) && input.facts.door == Door::Hook
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

fn limit_note(plan: &Plan, fields: &Fields, review: Kind) -> String {
    format!(
        "plan '{}': {} of {} {}s are done without two clean ones in a row. The word is yours: \
         `mainspring plan set max_reviews N` allows more, `mainspring plan set next_phase …` moves on",
        plan.id,
        fields.phase_iteration.unwrap_or(0),
        fields.max_reviews,
        review.words()
    )
}
