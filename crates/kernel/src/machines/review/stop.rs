//! The stop, in the order of the table: who owns the plan, whether its last review is answered,
//! which review is due.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::cycle::CycleKey;
use super::due::{due, wait};
use super::examine::examine;
use super::messages::{command, directory};
use super::phase::{Phase, TaskId};
use super::plan::{Plan, State};
use super::standstill::Standstill;
use super::{AnswerFile, Asker, Kind, OtherSessions, Review};
use crate::decision::listed;
use crate::effect::EffectStatus;
use crate::hidden::quote;
use crate::machine::{Input, OnStop, Step};

pub(super) type Stop = Step<Review, OnStop>;

pub(super) fn on_stop(before: &State, input: &Input<'_, Review>) -> Stop {
    let mut state = before.clone();
    let Some((id, memory)) = state.known() else {
        return Step::take("no-plan", State::Nothing, OnStop::Pass);
    };
    if let EffectStatus::Done(intent, outcome) = input.effect_status
        && intent.effect.plan == id
    {
        memory.spent = memory.spent.saturating_add(outcome.cost);
    }
    let (ownership, mut notes) = ownership(&mut state, input);
    match ownership {
        Ownership::NoSession => Step::ignore(before, OnStop::Pass),
        Ownership::Others => {
            // Another session adopted the plan while this one's reviewer was at work.
            notes.extend(late(input));
            with_notes(Step::take("not-ours", state, OnStop::Pass), notes)
        }
        Ownership::Ours => {
            notes.extend(state.plan().and_then(edited_out));
            let mut step = ours(state, input);
            step.notes.splice(0..0, notes);
            step
        }
    }
}

fn ours(mut state: State, input: &Input<'_, Review>) -> Stop {
    let tasks = &input.facts.tasks;
    if let Some((_, memory)) = state.known()
        && memory.done.is_none()
        && !tasks.rows.is_empty()
        && input.facts.asker.records()
    {
        memory.done = Some(tasks.done().cloned().collect());
    }
    let State::Plan(plan) = state else {
        return examine(state, input, "valid");
    };
    let mut step = decide(*plan, input);
    if let State::Plan(plan) = &mut step.state {
        plan.follow_awaited();
    }
    step
}

/// A review was due or waited for its answer, and somebody removed it from `state.json` without
/// a command of ours. The file counts, and the person is told.
fn edited_out(plan: &Plan) -> Option<String> {
    let awaited = plan.memory.awaited?;
    plan.fields.awaited().is_none().then(|| {
        format!(
            "somebody removed the {} from plan '{}' by editing its state.json; the cycle was not \
             finished. {} makes the review due again",
            awaited.label(),
            plan.id,
            command(&plan.id, &format!("review restart {}", awaited.name()))
        )
    })
}

/// Does the plan belong to this session?
enum Ownership {
    NoSession,
    Others,
    Ours,
}

fn ownership(state: &mut State, input: &Input<'_, Review>) -> (Ownership, Vec<String>) {
    let live = state.is_live();
    let (Asker::Session(company), Some((id, memory))) = (input.facts.asker, state.known()) else {
        return (Ownership::Ours, Vec::new());
    };
    let Some(here) = &input.event.session else {
        return (Ownership::NoSession, Vec::new());
    };
    // The session that runs a review of a plan without an owner becomes the owner when the review
    // comes back, because a verdict cannot be fetched twice. Until then no other session becomes
    // the owner.
    let running = matches!(input.effect_status, EffectStatus::Running(_));
    let whose = match (&memory.owner, company) {
        (Some(owner), _) if owner == here => return (Ownership::Ours, Vec::new()),
        (None, OtherSessions::Alone) if !live || running => return (Ownership::Ours, Vec::new()),
        (None, company) if company == OtherSessions::Alone || has_returned(input) => {
            memory.moved_by(Some(here));
            let note = format!(
                "plan '{id}' had no session and now belongs to this one. {} ends its reviews",
                command(id, "accept")
            );
            return (Ownership::Ours, [note].into());
        }
        (Some(owner), _) => format!("belongs to session {owner}"),
        (None, OtherSessions::Helper) => {
            "belongs to no session, and an agent started this one".into()
        }
        (None, _) => "belongs to no session, and several are at work here".into(),
    };
    let mut notes = Vec::new();
    let matters = live || !input.facts.violations.is_empty();
    if matters && memory.tell(here) {
        notes.push(format!(
            "plan '{id}' {whose}: this stop neither reviews it nor waits for it. {} takes it over",
            command(id, "adopt")
        ));
    }
    (Ownership::Others, notes)
}

fn has_returned(input: &Input<'_, Review>) -> bool {
    matches!(input.effect_status, EffectStatus::Done(..))
}

fn decide(mut plan: Plan, input: &Input<'_, Review>) -> Stop {
    if let Some((field, phase)) = plan.fields.undecidable() {
        let note = format!(
            "{field} of plan '{}' is \"{}\", which this version does not know: it is left as it \
             is, and no review is run",
            plan.id,
            quote(phase, 80)
        );
        return examine(plan, input, "valid").note(note);
    }
    if let Some(key) = plan.fields.cycle() {
        for reply in &input.facts.replies {
            plan.memory.answer_once(reply);
        }
        if !has_returned(input)
            && let Some(still) = Standstill::contested(&plan, &key)
        {
            return wait(plan, &key, &still, input);
        }
    }
    if let Some(review) = plan.fields.unanswered() {
        let task = plan.fields.task();
        let number = plan.memory.number(&plan.fields);
        let answer = review.answer_file(task.as_ref(), number);
        if input.facts.answer == AnswerFile::Missing {
            let file = review.file(task.as_ref(), number);
            let note = format!("plan '{}': {file} waits for its answer, {answer}", plan.id);
            return examine(plan, input, "unanswered").note(note);
        }
        // The agent is told once that nobody recorded the answer; then it counts as it is.
        let told = plan.memory.reminded.as_ref() == Some(&answer);
        if input.facts.asker.records() && !has_returned(input) && !told {
            return unrecorded_answer(plan, review, answer);
        }
        plan.fields.answered(review);
    }
    let step = match plan.fields.due() {
        Some(Kind::AllCode) if let Some(task) = plan.added_task(&input.facts.tasks) => {
            task_added(plan, task)
        }
        Some(review) => return due(plan, review, input),
        None => {
            plan.memory.leave();
            idle(plan, input)
        }
    };
    with_notes(step.drop_abandoned(), late(input))
}

fn unrecorded_answer(mut plan: Plan, review: Kind, answer: String) -> Stop {
    let reason = format!(
        "plan '{}': {answer} answers the {}, but nobody recorded it. If the answer is finished, \
         run {} and stop: the next review follows. If you just stop again, it counts as it is.",
        plan.id,
        review.label(),
        command(&plan.id, &format!("advance {}", review.answer()))
    );
    plan.memory.reminded = Some(answer);
    Step::take("unrecorded", plan.into(), OnStop::Hold(reason))
}

/// No review is due. The document's intent may ask for one that nobody recorded.
fn idle(mut plan: Plan, input: &Input<'_, Review>) -> Stop {
    if !input.facts.asker.records() {
        return examine(plan, input, "valid");
    }
    let task_comes = matches!(
        plan.fields.next_phase,
        Some(Phase::CompleteTask | Phase::CompleteTaskTdd)
    );
    let tasks = &input.facts.tasks;
    if task_comes && tasks.are_finished() {
        plan.fields
            .enter(Kind::AllCode, &input.facts.settings.models);
        plan.memory.begin(CycleKey::of(Kind::AllCode, &plan.fields));
        let note = format!(
            "plan '{}': no task is left. The all-code review starts at the next stop",
            plan.id
        );
        return Step::take("none-left", plan.into(), OnStop::Pass).note(note);
    }
    let forgotten = plan.forgotten(tasks);
    if forgotten.is_empty() {
        return examine(plan, input, "valid");
    }
    let reason = forgotten_reason(&plan, &forgotten);
    Step::take("forgotten", plan.into(), OnStop::Hold(reason))
}

fn forgotten_reason(plan: &Plan, tasks: &[TaskId]) -> String {
    let action = plan.fields.implement();
    let record = |task| command(&plan.id, &format!("advance {action} --task {task}"));
    let ids: Vec<&str> = tasks.iter().map(TaskId::as_str).collect();
    format!(
        "plan '{}': {} done in tasks.md, but nobody recorded it, so no review of the code is due. \
         If you built it, run {} (one task at a time: its review comes before the next). If it \
         needs no review, just stop again.",
        plan.id,
        match ids.as_slice() {
            [one] => format!("task {one} is"),
            several => format!("tasks {} are", listed(several)),
        },
        tasks.first().map(record).unwrap_or_default()
    )
}

fn task_added(mut plan: Plan, task: &TaskId) -> Stop {
    plan.fields.next_phase = Some(plan.fields.implement());
    plan.fields.phase_iteration = None;
    plan.memory.leave();
    let note = format!(
        "plan '{}': task {task} was added, so the all-code review waits until it is done",
        plan.id
    );
    Step::take("task-added", plan.into(), OnStop::Pass).note(note)
}

/// The reviewer came back after somebody had moved the plan to another phase.
pub(super) fn late(input: &Input<'_, Review>) -> Option<String> {
    match input.effect_status {
        EffectStatus::Done(intent, _) => Some(format!(
            "{}/{} came after the plan had moved on, so it does not count",
            directory(&intent.effect.plan),
            intent.effect.file()
        )),
        EffectStatus::Clear | EffectStatus::Running(_) | EffectStatus::Abandoned(_) => None,
    }
}

pub(super) fn with_notes(mut step: Stop, notes: impl IntoIterator<Item = String>) -> Stop {
    step.notes.extend(notes);
    step
}
