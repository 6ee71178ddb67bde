//! What is stored of a plan: the eight fields of its `state.json`, which belong to the agent and
//! the person, and our own memory of it.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::cycle::{Cycle, CycleKey};
use super::findings::Entry;
use super::phase::{Phase, Review, TaskId};
use super::table::Tasks;
use crate::ids::{Millis, SessionId};

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// No plan here.
    Nothing,
    /// A plan whose `state.json` says nothing: only its structure is checked.
    Bare(Box<BarePlan>),
    Plan(Box<Plan>),
}

impl State {
    /// What a plan's directory and our memory of it say.
    pub fn of(id: String, fields: Result<Fields, Lack>, memory: Memory) -> Self {
        match fields {
            Ok(fields) => Self::Plan(Box::new(Plan {
                id,
                fields,
                memory,
                passing: None,
            })),
            Err(lack) => Self::Bare(Box::new(BarePlan { id, memory, lack })),
        }
    }

    pub fn plan(&self) -> Option<&Plan> {
        match self {
            Self::Plan(plan) => Some(plan),
            Self::Bare(_) | Self::Nothing => None,
        }
    }

    /// The plan's name, and what we remember of it.
    pub fn memory(&self) -> Option<(&str, &Memory)> {
        match self {
            Self::Plan(plan) => Some((&plan.id, &plan.memory)),
            Self::Bare(plan) => Some((&plan.id, &plan.memory)),
            Self::Nothing => None,
        }
    }

    /// The same, to change it.
    pub(super) fn known(&mut self) -> Option<(&str, &mut Memory)> {
        match self {
            Self::Plan(plan) => Some((&plan.id, &mut plan.memory)),
            Self::Bare(plan) => Some((&plan.id, &mut plan.memory)),
            Self::Nothing => None,
        }
    }

    pub fn owner(&self) -> Option<&SessionId> {
        self.memory()?.1.owner.as_ref()
    }

    /// Is a review due, or the answer to one?
    pub(super) fn is_live(&self) -> bool {
        self.plan()
            .is_some_and(|plan| plan.fields.awaited().is_some())
    }
}

impl From<Plan> for State {
    fn from(plan: Plan) -> Self {
        Self::Plan(plan.into())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Plan {
    /// The name of its directory.
    pub id: String,
    /// What its `state.json` says.
    pub fields: Fields,
    pub memory: Memory,
    /// The next phase, if every machine lets the agent go at this stop. It never outlives a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passing: Option<Target>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BarePlan {
    pub id: String,
    pub memory: Memory,
    pub lack: Lack,
}

/// Why a plan's `state.json` says nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lack {
    /// There is none: nobody recorded the plan.
    Missing,
    /// It is left as it is; the text says what is wrong.
    Unreadable(String),
}

/// Missing fields have their defaults.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fields {
    pub max_reviews: u32,
    /// The text in the file. See [`Fields::task`].
    pub current_task: Option<String>,
    pub phase: Option<Phase>,
    /// How many reviews the cycle had; null outside a cycle.
    pub phase_iteration: Option<u32>,
    pub next_phase: Option<Phase>,
    /// Passed on unchanged.
    pub review_model: String,
    pub consecutive_clean: u32,
    pub tdd: bool,
}

pub const DEFAULT_MAX_REVIEWS: u32 = 8;
pub const DEFAULT_MODELS: [&str; 2] = ["opus", "sonnet"];

impl Default for Fields {
    fn default() -> Self {
        Self {
            max_reviews: DEFAULT_MAX_REVIEWS,
            current_task: None,
            phase: None,
            phase_iteration: None,
            next_phase: None,
            review_model: DEFAULT_MODELS[0].to_owned(),
            consecutive_clean: 0,
            tdd: false,
        }
    }
}

impl Fields {
    /// Was a task completed whose review has not run yet?
    pub fn completes_task(&self) -> bool {
        let completed = matches!(
            self.phase,
            Some(Phase::CompleteTask | Phase::CompleteTaskTdd)
        );
        completed && self.due().is_some()
    }

    /// The current task, if its id can be part of a file name.
    pub fn task(&self) -> Option<TaskId> {
        TaskId::parse(self.current_task.as_deref()?)
    }

    /// The review that the next stop runs.
    pub fn due(&self) -> Option<Review> {
        match self.next_phase {
            Some(Phase::Review(review)) => Some(review),
            _ => None,
        }
    }

    /// The review that the agent must answer.
    pub fn unanswered(&self) -> Option<Review> {
        match self.next_phase {
            Some(Phase::PostReview(review)) => Some(review),
            _ => None,
        }
    }

    /// The review that is due, or waits for its answer.
    pub fn awaited(&self) -> Option<Review> {
        self.due().or_else(|| self.unanswered())
    }

    /// A phase that this version does not know.
    pub fn unknown(&self) -> Option<(&'static str, &str)> {
        [("phase", &self.phase), ("next_phase", &self.next_phase)]
            .into_iter()
            .find_map(|(field, phase)| match phase {
                Some(Phase::Unknown(text)) => Some((field, text.as_str())),
                _ => None,
            })
    }

    /// An unknown phase that keeps us from knowing what comes next. `next_phase` alone decides.
    pub fn undecidable(&self) -> Option<(&'static str, &str)> {
        let unknown = self.unknown()?;
        match self.next_phase {
            None | Some(Phase::Unknown(_)) => Some(unknown),
            Some(_) => None,
        }
    }

    /// The last review is answered, so the next one is due.
    pub(super) fn answered(&mut self, review: Review) {
        self.phase = Some(Phase::PostReview(review));
        self.next_phase = Some(Phase::Review(review));
    }

    /// Starts a cycle of reviews: with the strongest model, and all counts at zero.
    pub(super) fn enter(&mut self, review: Review, models: &[String]) {
        self.next_phase = Some(Phase::Review(review));
        self.phase_iteration = Some(0);
        self.review_model = first(models);
        self.consecutive_clean = 0;
    }

    /// Leaves a cycle, or begins none.
    pub(super) fn leave(&mut self) {
        self.next_phase = None;
        self.phase_iteration = None;
    }

    /// The action that builds the next task.
    pub(super) fn implement(&self) -> Phase {
        if self.tdd {
            Phase::CompleteTaskTdd
        } else {
            Phase::CompleteTask
        }
    }

    /// The phase after a cycle.
    pub(super) fn target(&self, review: Review, tasks: &Tasks, models: &[String]) -> Target {
        // Without a table it is unknown which tasks are left; the action for the next task finds
        // out.
        let is_left = tasks.rows.is_empty() || tasks.remain_beside(self.task().as_ref());
        let next = match review {
            Review::Plan => Phase::CreateTasks,
            Review::AllCode => Phase::Complete,
            Review::Code if !is_left => Phase::Review(Review::AllCode),
            Review::Tasks | Review::Code => self.implement(),
        };
        Target {
            after: review,
            next,
            model: first(models),
            count: None,
        }
    }
}

/// The phase that follows a cycle of reviews, when the person continues.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Target {
    pub after: Review,
    /// The last task is followed by the review of all code.
    pub next: Phase,
    /// The model that another cycle begins with.
    pub model: String,
    /// How many reviews there were, if `state.json` still says so afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
}

impl Target {
    pub const fn is_review(&self) -> bool {
        matches!(self.next, Phase::Review(_))
    }
}

/// The strongest model, with which every cycle starts.
fn first(models: &[String]) -> String {
    models
        .first()
        .cloned()
        .unwrap_or_else(|| DEFAULT_MODELS[0].to_owned())
}

/// The model after this one. If this one is not in the list, the first.
pub(super) fn alternate(model: &str, models: &[String]) -> String {
    models
        .iter()
        .position(|held| held == model)
        .and_then(|at| models.get(at + 1))
        .cloned()
        .unwrap_or_else(|| first(models))
}

impl Plan {
    /// The name of its state, as the table has it.
    pub(super) fn label(&self) -> &'static str {
        if self.fields.due().is_some() {
            "due"
        } else if self.fields.unanswered().is_some() {
            "answering"
        } else {
            "idle"
        }
    }

    /// The cycle is over, and the plan goes on.
    pub(super) fn go(&mut self, target: &Target) {
        let fields = &mut self.fields;
        fields.phase = Some(Phase::Review(target.after));
        if let Phase::Review(review) = target.next {
            fields.enter(review, core::slice::from_ref(&target.model));
        } else {
            fields.next_phase = Some(target.next.clone());
        }
        if let Some(key) = fields.cycle() {
            self.memory.begin(key);
        } else {
            fields.phase_iteration = target.count;
            self.memory.leave();
        }
    }

    /// The task that was added after the final review had become due.
    pub(super) fn added_task<'a>(&self, tasks: &'a Tasks) -> Option<&'a TaskId> {
        let key = CycleKey {
            review: Review::AllCode,
            task: None,
        };
        let cycle = self.memory.in_cycle(&key).filter(|cycle| cycle.done == 0)?;
        tasks.open_beside(None).nth(cycle.open)
    }

    /// The tasks that are done, and of which nobody said so. Each is named once.
    pub(super) fn forgotten(&mut self, tasks: &Tasks) -> Vec<TaskId> {
        // A finished plan is not looked at any more.
        let over = matches!(self.fields.phase, Some(Phase::Complete));
        let current = self.fields.task();
        let Some(known) = &mut self.memory.done else {
            return Vec::new();
        };
        let new = tasks.done().filter(|task| !known.contains(task)).cloned();
        let mut new: Vec<TaskId> = new.collect();
        known.extend(new.iter().cloned());
        new.retain(|task| !over && current.as_ref() != Some(task));
        new
    }

    /// Remembers which review is awaited after a command.
    pub(super) fn note_awaited(&mut self) {
        self.memory.awaited = self.fields.awaited();
    }

    /// Follows a review that a command of ours made due. One that was written into the file by
    /// hand is not followed.
    pub(super) fn follow_awaited(&mut self) {
        if self.memory.awaited.is_some() {
            self.note_awaited();
        }
    }
}

/// What we remember of a plan. It is stored outside the repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// The session that last changed it.
    pub owner: Option<SessionId>,
    /// Sessions that were told that it is not theirs, the latest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<SessionId>,
    /// The last violation of the ground rules, and the session that was held for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complaint: Option<Complaint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<OverdueReview>,
    /// What all reviews of the plan have cost, in millionths of a dollar.
    pub spent: u64,
    /// The review that a command of ours made due and that is not over. If `state.json` does
    /// not have it any more, somebody edited the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub awaited: Option<Review>,
    /// The cycle that the plan is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycle: Option<Cycle>,
    /// Cycles that had all their reviews. An agent does not begin them again until a person
    /// has spoken.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exhausted: Vec<CycleKey>,
    /// The plan waits for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Waiting>,
    /// The tasks of which we know that they are done; `None` before the first look.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done: Option<Vec<TaskId>>,
    /// What reviewers found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ledger: Vec<Entry>,
    /// The post-review file that nobody recorded, and for which the agent was held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reminded: Option<String>,
}

/// The plan waits for a person. What for, is found anew at each event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Waiting {
    /// The agent has not heard of it.
    Untold,
    /// The agent was told at a prompt, and to ask its user.
    Told,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Complaint {
    pub session: Option<SessionId>,
    pub text: String,
}

/// A review that failed and is still due.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OverdueReview {
    pub key: CycleKey,
    pub failures: u32,
    pub at: Millis,
    pub parked: Parked,
}

/// Does the review wait for a person?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parked {
    No,
    Yes,
}

impl Memory {
    /// More sessions than this do not work in one project at once.
    const MOST_TOLD: usize = 8;

    /// Is the session told for the first time?
    pub(super) fn tell(&mut self, session: &SessionId) -> bool {
        if self.told.contains(session) {
            return false;
        }
        if self.told.len() >= Self::MOST_TOLD {
            self.told.remove(0);
        }
        self.told.push(session.clone());
        true
    }

    /// The session that changes a plan owns it.
    pub fn moved_by(&mut self, session: Option<&SessionId>) {
        if let Some(session) = session {
            self.owner = Some(session.clone());
            self.told.retain(|told| told != session);
        }
    }

    /// Somebody changed the plan: a review that failed before is counted anew. One that waits for
    /// a person waits on.
    pub fn changed(&mut self) {
        self.trouble.take_if(|trouble| trouble.parked == Parked::No);
    }

    /// Nothing keeps the review that is due from starting any more.
    pub(super) fn clear_trouble(&mut self) {
        self.trouble = None;
        self.waiting = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn models(list: &[&str]) -> Vec<String> {
        list.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn models_alternate_in_the_list_and_return_to_its_head() {
        let two = models(&["opus", "sonnet"]);
        for (from, to) in [("opus", "sonnet"), ("sonnet", "opus"), ("haiku", "opus")] {
            assert_eq!(alternate(from, &two), to);
        }
        let three = models(&["a", "b", "c"]);
        assert_eq!(alternate("b", &three), "c");
        assert_eq!(alternate("c", &three), "a");
        assert_eq!(alternate("x", &[]), "opus");
    }

    #[test]
    fn a_session_is_told_once_and_old_ones_are_forgotten() {
        let mut memory = Memory::default();
        let session = |n: usize| SessionId::parse(&alloc::format!("s{n}")).expect("an id");
        assert!(memory.tell(&session(0)));
        assert!(!memory.tell(&session(0)));
        for n in 1..=Memory::MOST_TOLD {
            assert!(memory.tell(&session(n)));
        }
        assert_eq!(memory.told.len(), Memory::MOST_TOLD);
        assert!(memory.tell(&session(0)), "long ago");
    }
}
