//! The values in a plan's state: every phase, the four reviews, and what follows from them.

use alloc::format;
use alloc::string::String;
use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An action of the plan. An unknown one, from a later version, is kept as it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    NewPlan,
    CreateTasks,
    NextTask,
    NextTaskTdd,
    CompleteTask,
    CompleteTaskTdd,
    ContinueTask,
    Review(Review),
    PostReview(Review),
    Complete,
    /// An unknown phase. It is reported, and never overwritten.
    Unknown(String),
}

/// What a reviewer looks at.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Review {
    Plan,
    Tasks,
    Code,
    AllCode,
}

impl Review {
    pub const ALL: [Self; 4] = [Self::Plan, Self::Tasks, Self::Code, Self::AllCode];

    const fn words(self) -> [&'static str; 4] {
        match self {
            Self::Plan => ["plan", "plan-review", "post-plan-review", "plan review"],
            Self::Tasks => ["tasks", "tasks-review", "post-tasks-review", "tasks review"],
            Self::Code => ["code", "code-review", "post-code-review", "code review"],
            Self::AllCode => [
                "all-code",
                "all-code-review",
                "post-all-code-review",
                "all-code review",
            ],
        }
    }

    /// Its name in a command.
    pub const fn name(self) -> &'static str {
        self.words()[0]
    }

    /// The phase and the action of this name.
    pub const fn action(self) -> &'static str {
        self.words()[1]
    }

    /// The phase and the action that answer it.
    pub const fn answer(self) -> &'static str {
        self.words()[2]
    }

    /// Its name in a sentence: "a code review".
    pub const fn label(self) -> &'static str {
        self.words()[3]
    }

    /// The name of the file that the reviewer writes.
    pub fn file(self, task: Option<&TaskId>, iteration: u32) -> String {
        format!("{}-{iteration}.md", self.stem(task, "review"))
    }

    /// The name of the file that the agent answers with.
    pub fn answer_file(self, task: Option<&TaskId>, iteration: u32) -> String {
        format!("{}-{iteration}.md", self.stem(task, "post-review"))
    }

    fn stem(self, task: Option<&TaskId>, what: &str) -> String {
        match (self, task) {
            (Self::Plan, _) => format!("plan-{what}"),
            (Self::Tasks, _) => format!("tasks-{what}"),
            (Self::AllCode, _) => format!("all-code-{what}"),
            (Self::Code, Some(task)) => format!("task-{task}-{what}"),
            (Self::Code, None) => format!("code-{what}"),
        }
    }
}

/// A task's id. It is part of file names: letters, digits, `_` and `-`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskId(String);

impl TaskId {
    const MAX_BYTES: usize = 64;

    pub fn parse(text: &str) -> Option<Self> {
        let usable = !text.is_empty()
            && text.len() <= Self::MAX_BYTES
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
        usable.then(|| Self(text.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_number(&self) -> bool {
        self.0.bytes().all(|byte| byte.is_ascii_digit())
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Phase {
    /// Every phase, in the order of a plan's life.
    pub const ALL: [Self; 16] = [
        Self::NewPlan,
        Self::Review(Review::Plan),
        Self::PostReview(Review::Plan),
        Self::CreateTasks,
        Self::Review(Review::Tasks),
        Self::PostReview(Review::Tasks),
        Self::NextTask,
        Self::NextTaskTdd,
        Self::CompleteTask,
        Self::CompleteTaskTdd,
        Self::ContinueTask,
        Self::Review(Review::Code),
        Self::PostReview(Review::Code),
        Self::Review(Review::AllCode),
        Self::PostReview(Review::AllCode),
        Self::Complete,
    ];

    pub fn parse(text: &str) -> Self {
        Self::ALL
            .into_iter()
            .find(|phase| phase.as_str() == text)
            .unwrap_or_else(|| Self::Unknown(text.into()))
    }

    pub fn as_str(&self) -> &str {
        match self {
            Self::NewPlan => "new-plan",
            Self::CreateTasks => "create-tasks",
            Self::NextTask => "next-task",
            Self::NextTaskTdd => "next-task-tdd",
            Self::CompleteTask => "complete-task",
            Self::CompleteTaskTdd => "complete-task-tdd",
            Self::ContinueTask => "continue-task",
            Self::Review(review) => review.action(),
            Self::PostReview(review) => review.answer(),
            Self::Complete => "complete",
            Self::Unknown(text) => text,
        }
    }

    /// Roughly, how far a plan in this phase is.
    pub const fn stage(&self) -> &'static str {
        match self {
            Self::NewPlan => "Planning",
            Self::Review(Review::Plan) | Self::PostReview(Review::Plan) => "Plan review",
            Self::CreateTasks => "Task creation",
            Self::Review(Review::Tasks) | Self::PostReview(Review::Tasks) => "Task review",
            Self::NextTask
            | Self::NextTaskTdd
            | Self::CompleteTask
            | Self::CompleteTaskTdd
            | Self::ContinueTask
            | Self::Review(Review::Code)
            | Self::PostReview(Review::Code) => "Implementation",
            Self::Review(Review::AllCode) | Self::PostReview(Review::AllCode) => "Final review",
            Self::Complete => "Complete",
            Self::Unknown(_) => "Unknown",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for Phase {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Phase {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self::parse(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn every_phase_is_read_back_as_itself() {
        for phase in Phase::ALL {
            assert_eq!(Phase::parse(phase.as_str()), phase);
            assert_ne!(phase.stage(), "Unknown", "{phase}");
        }
        let later = Phase::parse("polish");
        assert_eq!(later, Phase::Unknown("polish".into()));
        assert_eq!(later.to_string(), "polish");
    }

    #[test]
    fn the_files_of_the_four_reviews() {
        let task = TaskId::parse("3").expect("an id");
        let files = Review::ALL.map(|review| {
            (
                review.file(Some(&task), 2),
                review.answer_file(Some(&task), 2),
            )
        });
        insta::assert_snapshot!(
            files.map(|(review, answer)| format!("{review}  {answer}")).join("\n"),
            @r"
        plan-review-2.md  plan-post-review-2.md
        tasks-review-2.md  tasks-post-review-2.md
        task-3-review-2.md  task-3-post-review-2.md
        all-code-review-2.md  all-code-post-review-2.md
        "
        );
    }

    #[test]
    fn a_task_id_is_never_a_path() {
        for text in ["", "..", "a/b", "a b", "1.2", "ä", &"9".repeat(65)] {
            assert_eq!(TaskId::parse(text), None, "{text:?}");
        }
        assert!(TaskId::parse("12").is_some_and(|id| id.is_number()));
        assert!(TaskId::parse("12b").is_some_and(|id| !id.is_number()));
    }
}
