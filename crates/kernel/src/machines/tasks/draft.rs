//! A skill's task list as its file has it, before it is checked.
//!
//! The shell reads the JSON and turns every value into a [`Field`]. What is wrong with it is
//! decided here, so that the hook, `compat fsm` and `tasks validate` say the same.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// One element of the file's array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row {
    Task(Box<Draft>),
    /// Not an object; the text says what it is.
    Other(String),
}

/// One task, field by field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    pub id: Field<u64>,
    pub subject: Field<String>,
    pub description: Field<String>,
    pub active_form: Field<String>,
    pub owner: Field<String>,
    pub status: Field<Status>,
    pub blocked_by: Field<Vec<Field<u64>>>,
    pub blocks: Field<Vec<Field<u64>>>,
    pub metadata: Field<()>,
}

/// A value in the place of one of a known kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Field<T> {
    Missing,
    Given(T),
    /// Something else; the text names it briefly.
    Wrong(String),
}

impl<T> Field<T> {
    pub const fn given(&self) -> Option<&T> {
        match self {
            Self::Given(value) => Some(value),
            Self::Missing | Self::Wrong(_) => None,
        }
    }
}

/// How far a task is, as the client writes it.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    #[default]
    Pending,
    InProgress,
    Completed,
}

impl Status {
    pub const ALL: [Self; 3] = [Self::Pending, Self::InProgress, Self::Completed];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }
}

/// The fields that a task list may have. Other fields are kept unread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Key {
    Id,
    Subject,
    Description,
    ActiveForm,
    Owner,
    Status,
    BlockedBy,
    Blocks,
    Metadata,
}

impl Key {
    pub const ALL: [Self; 9] = [
        Self::Id,
        Self::Subject,
        Self::Description,
        Self::ActiveForm,
        Self::Owner,
        Self::Status,
        Self::BlockedBy,
        Self::Blocks,
        Self::Metadata,
    ];

    /// The name in the file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Subject => "subject",
            Self::Description => "description",
            Self::ActiveForm => "activeForm",
            Self::Owner => "owner",
            Self::Status => "status",
            Self::BlockedBy => "blockedBy",
            Self::Blocks => "blocks",
            Self::Metadata => "metadata",
        }
    }

    /// What belongs there.
    pub const fn wants(self) -> &'static str {
        match self {
            Self::Id => "a whole number from 1 to 1000000",
            Self::Subject => "a string that is not empty",
            Self::Description | Self::ActiveForm | Self::Owner => "a string",
            Self::Status => "\"pending\", \"in_progress\" or \"completed\"",
            Self::BlockedBy | Self::Blocks => "a list of ids",
            Self::Metadata => "an object",
        }
    }
}
