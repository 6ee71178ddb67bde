//! What the agent does to continue a plan. It follows from the phase that comes next, or else from
//! the last one, or else (for a plan without a usable state) from the plan's files.

use alloc::format;
use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::messages::command;
use super::phase::{Phase, Review, TaskId};
use super::plan::{Fields, Lack, Plan, State};
use super::standstill::Standstill;
use super::table::{Document, Subtasks, Tasks};

/// What the shell read of the plan's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifacts {
    pub plan: Document,
    pub tasks: Tasks,
    /// The file of the current task; for a plan without a state, of the next task.
    pub current: Subtasks,
}

/// The last review and the last phase came after the agent's last commit.
pub const COMMIT_THE_REST: &str = "commit what is left of the plan's files, if anything is";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    pub step: NextStep,
    /// Why, as a sentence.
    pub because: String,
    pub by: By,
}

/// What the decision is based on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    State,
    /// There is no usable state: the files and the git history decide.
    History,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "do")]
pub enum NextStep {
    /// Perform this action.
    Act {
        action: String,
        task: Option<TaskId>,
    },
    /// End the turn: the review starts at the stop.
    Stop { review: Review },
    /// Everything is done, but not recorded yet.
    Finish,
    /// Everything is done.
    Complete,
    /// Show the state and ask the person.
    Ask,
    /// Mend `state.json` first.
    Repair,
}

impl Route {
    /// The text for the agent.
    pub fn sentence(&self) -> String {
        let what = match &self.step {
            NextStep::Act { action, task: None } => format!("Perform the action {action}."),
            NextStep::Act {
                action,
                task: Some(task),
            } => format!("Perform the action {action} for task {task}."),
            NextStep::Stop { review } => format!(
                "Stop: change nothing and end your turn. The {} starts when you stop.",
                review.label()
            ),
            NextStep::Finish => String::from("The plan is finished but not marked so."),
            NextStep::Complete => format!(
                "The plan is complete: {COMMIT_THE_REST}, and tell the user that all tasks are \
                 done."
            ),
            NextStep::Ask => String::from(
                "Ask: show the user the phase and the current task, and ask what to do next.",
            ),
            NextStep::Repair => {
                String::from("Mend state.json first, and then ask for the route again.")
            }
        };
        if self.because.is_empty() {
            return what;
        }
        format!("{what} {}", self.because)
    }
}

/// `still` says why the review that is due does not start, if only a person can change that.
pub fn route(state: &State, artifacts: &Artifacts, still: Option<(Review, Standstill)>) -> Route {
    match state {
        State::Plan(plan) => by_state(plan, artifacts, still),
        State::Bare(plan) => match &plan.lack {
            Lack::Missing => by_history("There is no state.json.", artifacts),
            Lack::Unreadable(cause) => repair(&plan.id, cause),
        },
        State::Nothing => by_history("There is no plan.", artifacts),
    }
}

/// No guess leads around a review that the file may have made due.
fn repair(plan: &str, cause: &str) -> Route {
    Route {
        step: NextStep::Repair,
        because: format!(
            "{cause}. Run {}, which puts back its last good content.",
            command(plan, "repair")
        ),
        by: By::State,
    }
}

fn by_state(plan: &Plan, artifacts: &Artifacts, still: Option<(Review, Standstill)>) -> Route {
    let fields = &plan.fields;
    if let Some((field, text)) = fields.undecidable() {
        let cause = format!("{field} of state.json is \"{text}\", which is not a phase");
        return repair(&plan.id, &cause);
    }
    let (step, because) = match (&fields.next_phase, still) {
        // The agent can still answer a review; the next one does not start.
        (Some(Phase::Review(_)), Some((review, still))) => {
            let sentence = still.sentence(&plan.id, review);
            (NextStep::Ask, format!("It waits for a person: {sentence}."))
        }
        (Some(next), _) => by_next(next, plan, artifacts),
        (None, _) => by_last(fields),
    };
    Route {
        step,
        because,
        by: By::State,
    }
}

fn by_next(next: &Phase, plan: &Plan, artifacts: &Artifacts) -> (NextStep, String) {
    let fields = &plan.fields;
    let task = fields.task();
    match next {
        Phase::PostReview(review) => {
            let of = match review {
                Review::Code => task.clone(),
                Review::Plan | Review::Tasks | Review::AllCode => None,
            };
            let file = review.file(of.as_ref(), plan.memory.number(fields));
            (
                act(review.answer(), of),
                format!("{file} waits for its answer."),
            )
        }
        Phase::Review(Review::AllCode) if let Some(task) = plan.added_task(&artifacts.tasks) => {
            let action = fields.implement();
            (
                act(action.as_str(), Some(task.clone())),
                "It was added before the all-code review, and comes first.".into(),
            )
        }
        Phase::Review(review) => at_review(*review, fields, artifacts),
        Phase::CompleteTask | Phase::CompleteTaskTdd if artifacts.tasks.are_finished() => (
            NextStep::Stop {
                review: Review::AllCode,
            },
            "No task is left.".into(),
        ),
        Phase::CompleteTask | Phase::CompleteTaskTdd => {
            let next_task = artifacts.tasks.next().map(|row| row.id.clone());
            (
                act(next.as_str(), next_task),
                "The reviews before it are over.".into(),
            )
        }
        Phase::NewPlan | Phase::CreateTasks => {
            (act(next.as_str(), None), format!("next_phase is {next}."))
        }
        Phase::NextTask | Phase::NextTaskTdd | Phase::ContinueTask => {
            (act(next.as_str(), task), format!("next_phase is {next}."))
        }
        Phase::Complete => (
            NextStep::Finish,
            format!(
                "The last reviews are over: run {}, {COMMIT_THE_REST}, and tell the user that all \
                 tasks are done.",
                command(&plan.id, "advance complete")
            ),
        ),
        Phase::Unknown(text) => (
            NextStep::Ask,
            format!("next_phase is \"{text}\", which is not a phase."),
        ),
    }
}

/// A review is due: was the work before it finished?
fn at_review(review: Review, fields: &Fields, artifacts: &Artifacts) -> (NextStep, String) {
    if let Some(Phase::PostReview(_)) = fields.phase {
        return (
            NextStep::Stop { review },
            "The last review is answered.".into(),
        );
    }
    let stop = |because: &str| (NextStep::Stop { review }, because.into());
    match review {
        Review::Plan => match artifacts.plan {
            Document::Whole => stop("plan.md is written."),
            Document::Partial => (
                act("new-plan", None),
                "plan.md is only half-written: go on with what is there.".into(),
            ),
            Document::Missing => (act("new-plan", None), "plan.md is missing.".into()),
        },
        Review::Tasks if artifacts.tasks.rows.is_empty() => (
            act("create-tasks", None),
            "tasks.md is missing or has no rows: finish it.".into(),
        ),
        Review::Tasks => stop("tasks.md is written."),
        Review::AllCode if fields.task().is_none() => stop("The tasks are built."),
        Review::Code | Review::AllCode => match artifacts.current {
            Subtasks::Built => stop("Every subtask of the current task is built."),
            Subtasks::Open => (
                act("continue-task", fields.task()),
                "Not every subtask of the current task is built.".into(),
            ),
            Subtasks::Unknown => (
                act("continue-task", fields.task()),
                "The current task's file names no subtask: see whether something is left.".into(),
            ),
        },
    }
}

fn by_last(fields: &Fields) -> (NextStep, String) {
    match &fields.phase {
        Some(
            phase @ (Phase::ContinueTask
            | Phase::NextTask
            | Phase::NextTaskTdd
            | Phase::CompleteTask
            | Phase::CompleteTaskTdd),
        ) => (
            act("continue-task", fields.task()),
            format!("{phase} was the last action, and nothing follows it by itself."),
        ),
        Some(Phase::Complete) => (NextStep::Complete, String::new()),
        Some(phase) => (
            NextStep::Ask,
            format!(
                "phase is {phase}, current_task is {}, and nothing follows by itself.",
                fields.current_task.as_deref().unwrap_or("null")
            ),
        ),
        None => (NextStep::Ask, "state.json names no phase.".into()),
    }
}

/// A plan from before there was a state, or with a state that cannot be read.
fn by_history(why: &str, artifacts: &Artifacts) -> Route {
    let (step, because) = match (artifacts.plan, artifacts.tasks.next()) {
        (Document::Missing | Document::Partial, _) if artifacts.tasks.rows.is_empty() => {
            (act("new-plan", None), "plan.md is not finished.")
        }
        (_, None) if artifacts.tasks.rows.is_empty() => {
            (act("create-tasks", None), "There are no tasks yet.")
        }
        (_, None) => (NextStep::Complete, "Every task of tasks.md is done."),
        (_, Some(row)) => {
            let begun = row.status == super::table::Status::InProgress;
            let action = if begun { "continue-task" } else { "next-task" };
            let because = if begun {
                "tasks.md says that it is in progress."
            } else {
                "It is the first of tasks.md that waits."
            };
            (act(action, Some(row.id.clone())), because)
        }
    };
    Route {
        step,
        because: format!(
            "{why} {because} Check that against `git log` before you start: the commits say what \
             was done last."
        ),
        by: By::History,
    }
}

fn act(action: &str, task: Option<TaskId>) -> NextStep {
    NextStep::Act {
        action: action.into(),
        task,
    }
}
