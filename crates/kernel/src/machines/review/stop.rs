//! The stop, in the order of the table: who owns the plan, which review is due, what came of it;
//! and the ground rules if no review runs.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::after::{Stop, conclude, examine, pass, with_notes};
use super::cycle::{Counting, CycleKey};
use super::due::{DueReview, Next};
use super::messages::{command, directory};
use super::phase::{Phase, TaskId};
use super::plan::Waiting;
use super::standstill::Standstill;
use super::{AnswerFile, Door, Fields, Kind, Memory, OtherSessions, Plan, Record, Review, State};
use crate::decision::listed;
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
        Ownership::Others(plan, mut notes) => {
            // Another session adopted the plan while this one's reviewer was at work.
            notes.extend(late(input));
            let passed = Step::take("not-ours", State::Plan(plan.into()), OnStop::Pass);
            with_notes(passed, notes)
        }
        Ownership::Ours(mut plan, mut notes) => {
            notes.extend(edited_out(&plan, input.facts.door));
            let first_look = plan.memory.done.is_none() && !input.facts.tasks.rows.is_empty();
            if first_look && input.facts.counting == Counting::Cycles {
                plan.memory.done = Some(input.facts.tasks.done().cloned().collect());
            }
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
    Others(Plan, Vec<String>),
    Ours(Plan, Vec<String>),
}

fn ownership(mut plan: Plan, input: &Input<'_, Review>) -> Ownership {
    if input.facts.door != Door::Hook {
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
                "plan '{}' had no session and now belongs to this one. {} ends its reviews",
                plan.id,
                command(&plan.id, "accept")
            );
            Ownership::Ours(plan, [note].into())
        }
        (Some(_) | None, _) => {
            let matters = live || !input.facts.violations.is_empty();
            let mut notes = Vec::new();
            if matters && plan.memory.tell(here) {
                let whose = match &plan.memory.owner {
                    Some(owner) => format!("belongs to session {owner}"),
                    None if input.facts.company == OtherSessions::Helper => {
                        String::from("belongs to no session, and an agent started this one")
                    }
                    None => String::from("belongs to no session, and several are at work here"),
                };
                notes.push(format!(
                    "plan '{}' {whose}: this stop neither reviews it nor waits for it. {} takes \
                     it over",
                    plan.id,
                    command(&plan.id, "adopt")
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
        Record::Fields(fields) => fields.awaited().is_some(),
    }
}

fn decide(mut plan: Plan, input: &Input<'_, Review>) -> Stop {
    let Record::Fields(fields) = &plan.record else {
        return examine(plan, input, "valid");
    };
    if let Some((field, phase)) = fields.undecidable() {
        let note = format!(
            "{field} of plan '{}' is \"{}\", which this version does not know: it is left as it \
             is, and no review is run",
            plan.id,
            quote(phase, 80)
        );
        return examine(plan, input, "valid").note(note);
    }
    if let (Some(key), Counting::Cycles) = (fields.cycle(), input.facts.counting) {
        for reply in &input.facts.replies {
            plan.memory.answer_once(reply);
        }
        let returned = matches!(input.effect_status, EffectStatus::Done(..));
        if let (Some(still), false) = (Standstill::contested(&plan, &key), returned) {
            return wait(plan, key.review, &still, input);
        }
    }
    let Record::Fields(fields) = &mut plan.record else {
        return examine(plan, input, "valid");
    };
    if let Some(review) = fields.unanswered() {
        let number = plan.memory.number(fields);
        match input.facts.answer {
            AnswerFile::Written => {
                let file = review.answer_file(fields.task().as_ref(), number);
                if is_reminder_due(&plan.memory, &file, input) {
                    return unrecorded_answer(plan, review, file);
                }
                fields.answered(review);
            }
            AnswerFile::Missing => {
                let note = unanswered_note(&plan.id, fields, review, number);
                return examine(plan, input, "unanswered").note(note);
            }
        }
    }
    let step = match fields.due() {
        Some(Kind::AllCode) if let Some(task) = plan.added_task(&input.facts.tasks) => {
            task_added(plan, task).drop_abandoned()
        }
        Some(review) => return due(plan, review, input),
        None => {
            plan.memory.leave();
            idle(plan, input).drop_abandoned()
        }
    };
    with_notes(step, late(input))
}

/// Is the agent told, for the first time, that nobody recorded this answer? After that, the answer
/// counts as it is. A command of a person's is about the next review, not about the agent.
fn is_reminder_due(memory: &Memory, answer: &str, input: &Input<'_, Review>) -> bool {
    let returned = matches!(input.effect_status, EffectStatus::Done(..));
    let hook = input.facts.counting == Counting::Cycles && input.facts.door == Door::Hook;
    hook && !returned && memory.reminded.as_deref() != Some(answer)
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
    Step::take("unrecorded", State::Plan(plan.into()), OnStop::Hold(reason))
}

/// No review is due. The document's intent may ask for one that nobody recorded.
fn idle(mut plan: Plan, input: &Input<'_, Review>) -> Stop {
    let (Record::Fields(fields), Counting::Cycles) = (&mut plan.record, input.facts.counting)
    else {
        return examine(plan, input, "valid");
    };
    let task_comes = matches!(
        fields.next_phase,
        Some(Phase::CompleteTask | Phase::CompleteTaskTdd)
    );
    let tasks = &input.facts.tasks;
    if task_comes && tasks.are_finished() {
        fields.enter(Kind::AllCode, &input.facts.settings.models);
        let key = CycleKey::of(Kind::AllCode, fields);
        plan.memory.begin(key);
        let note = format!(
            "plan '{}': no task is left. The all-code review starts at the next stop",
            plan.id
        );
        return Step::take("none-left", State::Plan(plan.into()), OnStop::Pass).note(note);
    }
    let forgotten = plan.forgotten(tasks);
    if forgotten.is_empty() {
        return examine(plan, input, "valid");
    }
    let reason = forgotten_reason(&plan, &forgotten);
    Step::take("forgotten", State::Plan(plan.into()), OnStop::Hold(reason))
}

fn forgotten_reason(plan: &Plan, tasks: &[TaskId]) -> String {
    let action = match &plan.record {
        Record::Fields(fields) => fields.implement(),
        Record::Missing | Record::Unreadable(_) => Phase::CompleteTask,
    };
    let commands: Vec<String> = tasks
        .iter()
        .map(|task| command(&plan.id, &format!("advance {action} --task {task}")))
        .collect();
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
        commands.first().map_or("", String::as_str)
    )
}

fn task_added(mut plan: Plan, task: &TaskId) -> Stop {
    if let Record::Fields(fields) = &mut plan.record {
        fields.next_phase = Some(fields.implement());
        fields.phase_iteration = None;
    }
    plan.memory.leave();
    let note = format!(
        "plan '{}': task {task} was added, so the all-code review waits until it is done",
        plan.id
    );
    Step::take("task-added", State::Plan(plan.into()), OnStop::Pass).note(note)
}

/// Begins the cycle of the due review, if the plan is not in it yet: an earlier phase led here, or
/// somebody edited `state.json`. Counts that we have no record of are not believed.
fn begin(plan: &mut Plan, review: Kind, input: &Input<'_, Review>) -> Option<String> {
    let now = match input.effect_status {
        EffectStatus::Done(_, outcome) => outcome.cost,
        _ => 0,
    };
    let Record::Fields(fields) = &mut plan.record else {
        return None;
    };
    let key = CycleKey::of(review, fields);
    if plan.memory.in_cycle(&key).is_some() || plan.memory.is_exhausted(&key) {
        return None;
    }
    let claimed = fields.consecutive_clean;
    // An earlier version reviewed this plan, and counted in the file alone.
    let counted = match fields.phase_iteration {
        Some(count) if plan.memory.begun == 0 && plan.memory.spent > now => count,
        Some(_) | None => 0,
    };
    fields.phase_iteration = Some(counted);
    fields.consecutive_clean = 0;
    let open = input.facts.tasks.open_beside(key.task.as_ref()).count();
    let cycle = plan.memory.begin(key);
    (cycle.open, cycle.done, cycle.number) = (open, counted, counted);
    (claimed > 0).then(|| {
        format!(
            "state.json of plan '{}' has consecutive_clean {claimed}, but there is no record of \
             such a {} in this cycle: it counts from 0",
            plan.id,
            review.label()
        )
    })
}

/// No reviewer starts until a person decides.
fn wait(mut plan: Plan, review: Kind, still: &Standstill, input: &Input<'_, Review>) -> Stop {
    let said = plan.memory.waiting.is_some();
    if input.facts.counting == Counting::Cycles {
        if let (Standstill::Limit { .. }, Record::Fields(fields)) = (still, &plan.record) {
            plan.memory.exhaust(&CycleKey::of(review, fields));
        }
        plan.memory.waiting.get_or_insert(Waiting::Untold);
    }
    let note = still.sentence(&plan.id, review);
    let step = examine(plan, input, still.rule());
    match still {
        Standstill::Parked { .. } if said => step,
        _ => step.note(note),
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
fn due(mut plan: Plan, review: Kind, input: &Input<'_, Review>) -> Stop {
    let begun = match input.facts.counting {
        Counting::Files => None,
        Counting::Cycles => begin(&mut plan, review, input),
    };
    with_notes(at_due(plan, review, input), begun)
}

fn at_due(plan: Plan, review: Kind, input: &Input<'_, Review>) -> Stop {
    let Record::Fields(fields) = &plan.record else {
        return examine(plan, input, "valid");
    };
    let due = DueReview {
        plan: &plan,
        fields,
        review,
        task: CycleKey::of(review, fields).task,
        input,
    };
    if let EffectStatus::Done(intent, outcome) = input.effect_status
        && due.is_for(&intent.effect)
    {
        return conclude(plan, &intent.effect, outcome, input);
    }
    let step = match due.next() {
        Next::Pass(rule, target) => pass(plan, rule, target).drop_abandoned(),
        Next::Wait(still) => wait(plan, review, &still, input),
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

fn unanswered_note(plan: &str, fields: &Fields, review: Kind, number: u32) -> String {
    let task = fields.task();
    format!(
        "plan '{plan}': {} waits for its answer, {}",
        review.file(task.as_ref(), number),
        review.answer_file(task.as_ref(), number)
    )
}
