//! The commands for a plan.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Review;
use super::messages::directory;
use super::phase::{Phase, Review as Kind, TaskId};
use super::plan::{Fields, Memory, Plan, Record, State};
use crate::hidden::quote;
use crate::ids::SessionId;
use crate::machine::{Machine, Nothing, Step};
use crate::verbs::{Actor, Refusal, VerbStep};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("plan '{0}' exists already: it has a state.json")]
    Recorded(String),
    #[error("plan '{0}' has no state.json")]
    NoState(String),
    #[error("plan '{plan}': {problem}")]
    Unreadable { plan: String, problem: String },
    #[error("there is no phase \"{0}\"")]
    NoSuchPhase(String),
    #[error("{0} of state.json is \"{1}\", which this version does not know: it is left as it is")]
    Unknown(&'static str, String),
    #[error("{0} needs a task: --task ID")]
    NoTask(Phase),
    #[error(
        "the {} of this plan is not over, and an agent does not leave it: finish it, or ask the \
         person who may (`mainspring plan set next_phase null` ends it)", .0.label()
    )]
    UnderReview(Kind),
    #[error("no review of plan '{0}' is due")]
    NothingDue(String),
}

impl Refusal for Refused {
    fn next(&self) -> Vec<String> {
        match self {
            Self::Recorded(_) => Vec::from([
                "`mainspring plan status` shows it; `mainspring plan advance` moves it".into(),
            ]),
            Self::NoState(plan) => Vec::from([format!("`mainspring plan init {plan}` makes one")]),
            Self::Unreadable { plan, .. } => Vec::from([format!(
                "repair {}/state.json by hand; it is never overwritten",
                directory(plan)
            )]),
            Self::NoSuchPhase(_) => {
                let names: Vec<String> = Phase::ALL.iter().map(ToString::to_string).collect();
                Vec::from([format!("the phases are {}", names.join(", "))])
            }
            Self::NothingDue(_) => {
                Vec::from(["`mainspring plan set next_phase plan-review` makes one due".into()])
            }
            // Their messages say what to do.
            Self::Unknown(..) | Self::NoTask(_) | Self::UnderReview(_) => Vec::new(),
        }
    }
}

/// Records a new plan, whose first review is then due. What we remember of an earlier plan with
/// this name stays, for example its cost.
pub fn init(
    state: &State,
    name: &str,
    memory: Memory,
    actor: &Actor,
    models: &[String],
) -> Result<VerbStep<Review>, Refused> {
    let recorded = match state {
        State::Nothing => false,
        State::Plan(plan) => plan.record != Record::Missing,
    };
    if recorded {
        return Err(Refused::Recorded(name.into()));
    }
    let plan = Plan {
        id: name.into(),
        record: Record::Fields(fresh(models)),
        memory,
        passing: None,
    };
    Ok(moved("init", plan, actor))
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
    actor: &Actor,
    models: &[String],
) -> Result<VerbStep<Review>, Refused> {
    let next = advanced(fields(plan)?, phase, task, actor, models)?;
    let rule = match phase {
        Phase::ContinueTask => "continue",
        _ if next.due().is_some() => "advance-due",
        _ => "advance-idle",
    };
    Ok(moved(rule, with_fields(plan, next), actor))
}

fn advanced(
    fields: &Fields,
    phase: &Phase,
    task: Option<&TaskId>,
    actor: &Actor,
    models: &[String],
) -> Result<Fields, Refused> {
    if let Phase::Unknown(text) = phase {
        return Err(Refused::NoSuchPhase(text.clone()));
    }
    if let Some((field, text)) = fields.unknown() {
        return Err(Refused::Unknown(field, quote(text, 80)));
    }
    if let Actor::Agent(_) = actor {
        stay_under_review(fields, phase, task)?;
    }
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
            next.next_phase = None;
            next.phase_iteration = None;
        }
        // Set by hand: there is no cycle, so the answer starts none.
        Phase::Review(_) => {
            next.next_phase = None;
            next.phase_iteration = None;
        }
        Phase::PostReview(review) => {
            next.next_phase = next.phase_iteration.map(|_| Phase::Review(*review));
        }
        Phase::Complete => next.next_phase = None,
        Phase::ContinueTask | Phase::Unknown(_) => {}
    }
    Ok(next)
}

/// An agent leaves a cycle only through its reviews.
fn stay_under_review(fields: &Fields, phase: &Phase, task: Option<&TaskId>) -> Result<(), Refused> {
    let Some(review) = fields.due().or_else(|| fields.unanswered()) else {
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
        Err(Refused::UnderReview(review))
    }
}

/// Sets one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Setting {
    MaxReviews(u32),
    NextPhase(Option<Phase>),
    CurrentTask(Option<TaskId>),
    Tdd(bool),
}

pub fn set(plan: &Plan, setting: Setting, actor: &Actor) -> Result<VerbStep<Review>, Refused> {
    let before = fields(plan)?;
    let mut next = before.clone();
    let aims = matches!(setting, Setting::NextPhase(_));
    match setting {
        Setting::MaxReviews(count) => next.max_reviews = count,
        Setting::CurrentTask(task) => next.current_task = task.map(|task| task.as_str().into()),
        Setting::Tdd(tdd) => next.tdd = tdd,
        Setting::NextPhase(Some(Phase::Unknown(text))) => return Err(Refused::NoSuchPhase(text)),
        Setting::NextPhase(phase) => {
            let around = match &phase {
                None | Some(Phase::Review(_) | Phase::PostReview(_)) => false,
                Some(_) => matches!(actor, Actor::Agent(_)),
            };
            match before.due().or_else(|| before.unanswered()) {
                Some(review) if around => return Err(Refused::UnderReview(review)),
                Some(_) | None => next.next_phase = phase,
            }
        }
    }
    let plan = with_fields(plan, next);
    let rule = match Review::label(&State::Plan(Box::new(plan.clone()))) {
        _ if !aims => "set",
        "due" => "set-due",
        "answering" => "set-answering",
        _ => "set-idle",
    };
    Ok(moved(rule, plan, actor))
}

/// Gives the plan to a session. If a person names none, the next session that stops here gets it.
pub fn adopt(plan: &Plan, to: Option<&SessionId>) -> VerbStep<Review> {
    let mut plan = plan.clone();
    plan.memory.moved_by(to);
    plan.memory.owner = to.cloned();
    Step::take("adopt", State::Plan(plan.into()), Nothing)
}

/// Makes the due review run now, even if it failed or waits for a person.
pub fn review_now(plan: &Plan, actor: &Actor) -> Result<VerbStep<Review>, Refused> {
    let fields = fields(plan)?;
    if fields.due().is_none() && fields.unanswered().is_none() {
        return Err(Refused::NothingDue(plan.id.clone()));
    }
    Ok(moved("review-now", plan.clone(), actor))
}

fn fields(plan: &Plan) -> Result<&Fields, Refused> {
    match &plan.record {
        Record::Fields(fields) => Ok(fields),
        Record::Missing => Err(Refused::NoState(plan.id.clone())),
        Record::Unreadable(problem) => Err(Refused::Unreadable {
            plan: plan.id.clone(),
            problem: problem.clone(),
        }),
    }
}

fn with_fields(plan: &Plan, fields: Fields) -> Plan {
    Plan {
        record: Record::Fields(fields),
        ..plan.clone()
    }
}

fn moved(rule: &'static str, mut plan: Plan, actor: &Actor) -> VerbStep<Review> {
    plan.memory.moved_by(actor.session());
    plan.note_awaited();
    Step::take(rule, State::Plan(plan.into()), Nothing)
}

#[cfg(test)]
mod tests;
