//! Why a command about a plan is refused, and what to type instead.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::machines::review::messages::{command, directory};
use crate::machines::review::phase::{Phase, Review as Kind, TaskId};
use crate::verbs::Refusal;

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
        "the {} of plan '{plan}' is not over, and an agent does not leave it: finish it, or ask \
         the user", review.label()
    )]
    UnderReview { plan: String, review: Kind },
    #[error(
        "the {} of plan '{plan}' had all its reviews, and an agent does not begin again: ask the \
         user", review.label()
    )]
    Exhausted { plan: String, review: Kind },
    #[error("plan '{plan}' has no open finding {id}")]
    NoFinding {
        plan: String,
        id: String,
        open: Vec<String>,
    },
    #[error("no review of plan '{0}' is due")]
    NothingDue(String),
    #[error("plan '{0}' has no plan.md: there is nothing to accept")]
    NotWritten(String),
    #[error("it is not clear which review of plan '{0}' is meant")]
    NoKind(String),
    #[error("tasks.md of plan '{plan}' has no task {task}")]
    NoSuchTask {
        plan: String,
        task: TaskId,
        tasks: Vec<TaskId>,
    },
}

impl Refusal for Refused {
    fn next(&self) -> Vec<String> {
        match self {
            Self::Recorded(_) => Vec::from([
                "`mainspring plan status` shows it; `mainspring plan advance` moves it".into(),
            ]),
            Self::NoState(plan) => Vec::from([format!("`mainspring plan init {plan}` makes one")]),
            Self::Unreadable { plan, .. } => Vec::from([format!(
                "{} puts back its last good content; or repair {}/state.json by hand",
                command(plan, "repair"),
                directory(plan)
            )]),
            Self::NoSuchPhase(_) => {
                let names: Vec<String> = Phase::ALL.iter().map(ToString::to_string).collect();
                Vec::from([format!("the phases are {}", names.join(", "))])
            }
            Self::UnderReview { plan, .. } => Vec::from([format!(
                "a person ends the reviews with {}",
                command(plan, "accept")
            )]),
            Self::Exhausted { plan, .. } => Vec::from([format!(
                "a person begins again with {}, or goes on with {}",
                command(plan, "review restart"),
                command(plan, "accept")
            )]),
            Self::NothingDue(plan) | Self::NoKind(plan) => Vec::from([format!(
                "{} makes one due; the kinds are plan, tasks, code and all-code",
                command(plan, "review restart plan")
            )]),
            Self::NotWritten(plan) => Vec::from([format!(
                "write {}/plan.md first; {} says what comes next",
                directory(plan),
                command(plan, "route")
            )]),
            Self::NoSuchTask { tasks, .. } => {
                let ids: Vec<&str> = tasks.iter().map(TaskId::as_str).collect();
                Vec::from([format!("its tasks are {}", ids.join(", "))])
            }
            Self::NoFinding { open, .. } if open.is_empty() => {
                Vec::from(["no finding is open".into()])
            }
            Self::NoFinding { open, .. } => Vec::from([format!("open are {}", open.join(", "))]),
            // Their messages say what to do.
            Self::Unknown(..) | Self::NoTask(_) => Vec::new(),
        }
    }
}
