//! The commands for a plan.

mod refused;

use alloc::string::String;

use super::Review;
use super::cycle::CycleKey;
use super::findings::Reply;
use super::phase::{Phase, Review as Kind, TaskId};
use super::plan::{Fields, Lack, Memory, Plan, State};
use super::table::Tasks;
use crate::hidden::quote;
use crate::ids::SessionId;
use crate::machine::{Nothing, Step};
use crate::verbs::{Actor, VerbStep};

pub use refused::Refused;

/// Who runs a command about a plan, and what it needs to know besides the plan.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    pub actor: &'a Actor,
    /// The user typed this very action in the client, and the agent carries it out.
    pub typed: Typed,
    pub models: &'a [String],
    pub tasks: &'a Tasks,
}

/// Is there a `plan.md`?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    Yes,
    No,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Typed {
    ByUser,
    No,
}

impl Asked<'_> {
    /// Is it an agent that acts on its own?
    fn is_agents_own(&self) -> bool {
        matches!(self.actor, Actor::Agent(_)) && self.typed == Typed::No
    }
}

/// Records a new plan, whose first review is then due. `memory` is what we remember of an earlier
/// plan with this name, if this is still that plan.
pub fn init(
    state: &State,
    name: &str,
    memory: Memory,
    asked: Asked<'_>,
) -> Result<VerbStep<Review>, Refused> {
    let recorded = match state {
        State::Nothing => false,
        State::Bare(plan) => plan.lack != Lack::Missing,
        State::Plan(_) => true,
    };
    if recorded {
        return Err(Refused::Recorded(name.into()));
    }
    let plan = Plan {
        id: name.into(),
        fields: fresh(asked.models),
        memory,
        passing: None,
    };
    let key = CycleKey::of(Kind::Plan, &plan.fields);
    Ok(moved("init", entered(plan, key, asked)?, asked.actor))
}

/// The plan, if its `state.json` can be read.
pub fn recorded(state: &State) -> Result<&Plan, Refused> {
    match state {
        State::Plan(plan) => Ok(plan),
        State::Bare(plan) => Err(match &plan.lack {
            Lack::Missing => Refused::NoState(plan.id.clone()),
            Lack::Unreadable(problem) => Refused::Unreadable {
                plan: plan.id.clone(),
                problem: problem.clone(),
            },
        }),
        State::Nothing => Err(Refused::NoState(String::new())),
    }
}

/// The state of a new plan.
pub(super) fn fresh(models: &[String]) -> Fields {
    let mut fields = Fields {
        phase: Some(Phase::NewPlan),
        ..Fields::default()
    };
    fields.enter(Kind::Plan, models);
    fields
}

/// The plan's state after an action.
pub fn advance(
    plan: &Plan,
    phase: &Phase,
    task: Option<&TaskId>,
    asked: Asked<'_>,
) -> Result<VerbStep<Review>, Refused> {
    let before = &plan.fields;
    if let Phase::Unknown(text) = phase {
        return Err(Refused::NoSuchPhase(text.clone()));
    }
    if let Some((field, text)) = before.undecidable() {
        return Err(Refused::Unknown(field, quote(text, 80)));
    }
    if let Some(task) = task {
        known(&plan.id, task, asked.tasks)?;
    }
    if asked.is_agents_own() {
        stay_under_review(&plan.id, before, phase, task)?;
    }
    let next = advanced(before, phase, task, asked.models)?;
    let rule = match phase {
        Phase::ContinueTask => "continue",
        _ if next.due().is_some() => "advance-due",
        _ => "advance-idle",
    };
    let begun = enters(phase).and_then(|_| next.cycle());
    let mut plan = with_fields(plan, next);
    if let (Some(task), Some(done)) = (task, &mut plan.memory.done)
        && !done.contains(task)
    {
        done.push(task.clone());
    }
    match begun {
        // An agent that says twice that it is done does not begin twice.
        Some(key) if asked.is_agents_own() && plan.memory.in_cycle(&key).is_some() => {
            keep_counts(&mut plan, &key);
        }
        Some(key) => plan = entered(plan, key, asked)?,
        None => {}
    }
    Ok(moved(rule, plan, asked.actor))
}

/// The review that follows an action.
const fn enters(phase: &Phase) -> Option<Kind> {
    match phase {
        Phase::NewPlan => Some(Kind::Plan),
        Phase::CreateTasks => Some(Kind::Tasks),
        Phase::CompleteTask | Phase::CompleteTaskTdd => Some(Kind::Code),
        Phase::NextTask
        | Phase::NextTaskTdd
        | Phase::ContinueTask
        | Phase::Review(_)
        | Phase::PostReview(_)
        | Phase::Complete
        | Phase::Unknown(_) => None,
    }
}

/// The plan enters a cycle; the fields are at zero already. A cycle that had all its reviews is
/// entered anew only if a person wants it.
fn entered(mut plan: Plan, key: CycleKey, asked: Asked<'_>) -> Result<Plan, Refused> {
    if asked.is_agents_own() && plan.memory.is_exhausted(&key) {
        return Err(Refused::Exhausted {
            plan: plan.id,
            review: key.review,
        });
    }
    if *asked.actor == Actor::Person {
        plan.memory.allow_again();
    }
    plan.memory.clear_trouble();
    let open = asked.tasks.open_beside(key.task.as_ref()).count();
    if !asked.is_agents_own() {
        plan.memory.forgive(&key);
    }
    plan.memory.begin(key).open = open;
    Ok(plan)
}

/// `state.json` shows the cycle as it is.
fn keep_counts(plan: &mut Plan, key: &CycleKey) {
    if let Some(cycle) = plan.memory.in_cycle(key) {
        plan.fields.phase_iteration = Some(cycle.done);
        plan.fields.consecutive_clean = cycle.streak;
    }
}

/// Is this a task of the plan? Without a table, nobody knows.
fn known(plan: &str, task: &TaskId, tasks: &Tasks) -> Result<(), Refused> {
    if tasks.may_have(task) {
        return Ok(());
    }
    Err(Refused::NoSuchTask {
        plan: plan.into(),
        task: task.clone(),
        tasks: tasks.rows.iter().map(|row| row.id.clone()).collect(),
    })
}

fn advanced(
    fields: &Fields,
    phase: &Phase,
    task: Option<&TaskId>,
    models: &[String],
) -> Result<Fields, Refused> {
    let mut next = fields.clone();
    next.phase = Some(phase.clone());
    if let Some(task) = task {
        next.current_task = Some(task.as_str().into());
    }
    let need_task = || match &next.current_task {
        Some(_) => Ok(()),
        None => Err(Refused::NoTask(phase.clone())),
    };
    match phase {
        Phase::NewPlan => {
            next.current_task = None;
            next.enter(Kind::Plan, models);
        }
        Phase::CreateTasks => {
            next.current_task = None;
            next.enter(Kind::Tasks, models);
        }
        Phase::CompleteTask | Phase::CompleteTaskTdd => {
            need_task()?;
            next.tdd = *phase == Phase::CompleteTaskTdd;
            next.enter(Kind::Code, models);
        }
        Phase::NextTask | Phase::NextTaskTdd => {
            need_task()?;
            next.leave();
        }
        // Set by hand: there is no cycle, so the answer starts none.
        Phase::Review(_) | Phase::Complete => next.leave(),
        Phase::PostReview(review) => {
            next.next_phase = next.phase_iteration.map(|_| Phase::Review(*review));
        }
        Phase::ContinueTask | Phase::Unknown(_) => {}
    }
    Ok(next)
}

/// An agent leaves a cycle only through its reviews.
fn stay_under_review(
    plan: &str,
    fields: &Fields,
    phase: &Phase,
    task: Option<&TaskId>,
) -> Result<(), Refused> {
    let Some(review) = fields.awaited() else {
        return Ok(());
    };
    let same_task = task.is_none_or(|task| Some(task.as_str()) == fields.current_task.as_deref());
    let within = fields.max_reviews == 0
        || match phase {
            Phase::PostReview(answered) => *answered == review,
            Phase::ContinueTask => true,
            Phase::NewPlan => review == Kind::Plan,
            Phase::CreateTasks => review == Kind::Tasks,
            Phase::CompleteTask | Phase::CompleteTaskTdd => review == Kind::Code && same_task,
            Phase::NextTask
            | Phase::NextTaskTdd
            | Phase::Review(_)
            | Phase::Complete
            | Phase::Unknown(_) => false,
        };
    if within {
        Ok(())
    } else {
        Err(under_review(plan, review))
    }
}

fn under_review(plan: &str, review: Kind) -> Refused {
    Refused::UnderReview {
        plan: plan.into(),
        review,
    }
}

/// Sets one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Setting {
    MaxReviews(u32),
    CurrentTask(Option<TaskId>),
    Tdd(bool),
}

pub fn set(plan: &Plan, setting: Setting, asked: Asked<'_>) -> Result<VerbStep<Review>, Refused> {
    let before = &plan.fields;
    let mut next = before.clone();
    match setting {
        Setting::MaxReviews(count) => next.max_reviews = count,
        Setting::CurrentTask(task) => {
            if let Some(task) = &task {
                known(&plan.id, task, asked.tasks)?;
            }
            // The review is of the current task's code.
            match before.awaited() {
                Some(Kind::Code) if asked.is_agents_own() => {
                    return Err(under_review(&plan.id, Kind::Code));
                }
                Some(_) | None => next.current_task = task.map(|task| task.as_str().into()),
            }
        }
        Setting::Tdd(tdd) => next.tdd = tdd,
    }
    Ok(moved("set", with_fields(plan, next), asked.actor))
}

/// Begins a fresh cycle of reviews: of this kind, or else of the kind that the plan is in or was
/// in last.
pub fn restart(
    plan: &Plan,
    kind: Option<Kind>,
    task: Option<&TaskId>,
    asked: Asked<'_>,
) -> Result<VerbStep<Review>, Refused> {
    let before = &plan.fields;
    if let Some(task) = task {
        known(&plan.id, task, asked.tasks)?;
    }
    let last = match before.phase {
        Some(Phase::Review(review) | Phase::PostReview(review)) => Some(review),
        _ => None,
    };
    let kind = kind.or_else(|| before.awaited()).or(last);
    let kind = kind.ok_or_else(|| Refused::NoKind(plan.id.clone()))?;
    if let Some(review) = before.awaited()
        && asked.is_agents_own()
        && (review != kind || (task.is_some() && before.task().as_ref() != task))
    {
        return Err(under_review(&plan.id, review));
    }
    let mut next = before.clone();
    if let Some(task) = task {
        next.current_task = Some(task.as_str().into());
    }
    if kind == Kind::Code && next.task().is_none() {
        return Err(Refused::NoTask(Phase::Review(kind)));
    }
    next.enter(kind, asked.models);
    let key = CycleKey::of(kind, &next);
    let plan = entered(with_fields(plan, next), key, asked)?;
    Ok(moved("restart", plan, asked.actor))
}

/// What was reviewed is good enough, and the plan goes on.
pub fn accept(
    plan: &Plan,
    written: Written,
    asked: Asked<'_>,
) -> Result<VerbStep<Review>, Refused> {
    let before = &plan.fields;
    let Some(review) = before.awaited() else {
        return Err(Refused::NothingDue(plan.id.clone()));
    };
    if written == Written::No {
        return Err(Refused::NotWritten(plan.id.clone()));
    }
    let target = before.target(review, asked.tasks, asked.models);
    let mut plan = plan.clone();
    let key = CycleKey::of(review, before);
    if plan.memory.in_cycle(&key).is_none() {
        plan.memory.begin(key);
    }
    plan.memory.allow_again();
    plan.memory.clear_trouble();
    plan.go(&target);
    let rule = if target.is_review() {
        "accept-last"
    } else {
        "accept"
    };
    Ok(moved(rule, plan, asked.actor))
}

/// Answers a finding. What a person says of it is a decision.
pub fn answer(plan: &Plan, reply: &Reply, asked: Asked<'_>) -> Result<VerbStep<Review>, Refused> {
    let mut plan = plan.clone();
    let known = match asked.actor {
        Actor::Agent(_) => plan.memory.answer(reply),
        Actor::Person => plan.memory.decide(reply),
    };
    if known {
        return Ok(moved("answer", plan, asked.actor));
    }
    let open = plan.memory.ledger.iter().filter(|entry| entry.is_open());
    Err(Refused::NoFinding {
        id: reply.id.clone(),
        open: open.map(|entry| entry.id.clone()).collect(),
        plan: plan.id,
    })
}

/// Gives the plan to a session. If a person names none, the next session that stops here gets it.
pub fn adopt(state: &State, to: Option<&SessionId>) -> VerbStep<Review> {
    let mut after = state.clone();
    if let Some((_, memory)) = after.known() {
        memory.moved_by(to);
        memory.owner = to.cloned();
    }
    Step::take("adopt", after, Nothing)
}

/// Makes the due review run now, even if it failed or waits for a person.
pub fn review_now(plan: &Plan, actor: &Actor) -> Result<VerbStep<Review>, Refused> {
    if plan.fields.awaited().is_none() {
        return Err(Refused::NothingDue(plan.id.clone()));
    }
    let mut plan = plan.clone();
    plan.memory.clear_trouble();
    Ok(moved("review-now", plan, actor))
}

fn with_fields(plan: &Plan, fields: Fields) -> Plan {
    Plan {
        fields,
        ..plan.clone()
    }
}

fn moved(rule: &'static str, mut plan: Plan, actor: &Actor) -> VerbStep<Review> {
    plan.memory.moved_by(actor.session());
    plan.memory.changed();
    if *actor == Actor::Person {
        plan.memory.waiting = None;
    }
    plan.note_awaited();
    if plan.memory.awaited.is_none() {
        plan.memory.leave();
    }
    Step::take(rule, plan.into(), Nothing)
}

#[cfg(test)]
mod tests;
