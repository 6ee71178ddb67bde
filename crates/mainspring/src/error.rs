//! An error that a person reads: what went wrong, where, and what to type next.

use std::fmt;
use std::path::Path;

use mainspring_kernel::machines;
use mainspring_kernel::verbs::Refusal as _;
use mainspring_store::{ShownPath as _, Trouble};
use serde::Serialize;

use crate::exit::Exit;

#[derive(Debug, Serialize)]
pub(crate) struct CliError {
    pub(crate) kind: FailureKind,
    pub(crate) cause: String,
    pub(crate) hints: Vec<String>,
}

/// What kind of failure it is. A program reads it in the JSON of a command that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FailureKind {
    /// What was typed means nothing here.
    Usage,
    /// It is not this caller's to do, or not now.
    Refused,
    /// What was named is not there.
    NotFound,
    /// Another process has it, or was faster.
    Busy,
    /// A file is not what it must be.
    Damaged,
    /// It was tried, and did not work.
    Failed,
    /// No failure of the command: the cause is what it printed, and the exit code says how bad
    /// that is.
    #[serde(skip)]
    Shown(Exit),
}

impl CliError {
    /// Something was tried, and did not work.
    pub(crate) fn new(cause: impl fmt::Display) -> Self {
        Self::of(FailureKind::Failed, cause)
    }

    pub(crate) fn usage(cause: impl fmt::Display) -> Self {
        Self::of(FailureKind::Usage, cause)
    }

    pub(crate) fn refused(cause: impl fmt::Display) -> Self {
        Self::of(FailureKind::Refused, cause)
    }

    pub(crate) fn not_found(cause: impl fmt::Display) -> Self {
        Self::of(FailureKind::NotFound, cause)
    }

    pub(crate) fn no_file(path: &Path) -> Self {
        Self::not_found(format!("there is no file {}", path.shown()))
    }

    pub(crate) fn busy(cause: impl fmt::Display) -> Self {
        Self::of(FailureKind::Busy, cause)
    }

    pub(crate) fn damaged(cause: impl fmt::Display) -> Self {
        Self::of(FailureKind::Damaged, cause)
    }

    /// A view whose exit code says how bad its findings are.
    pub(crate) fn shown(text: String, exit: Exit) -> Self {
        Self::of(FailureKind::Shown(exit), text)
    }

    /// A command that did not do what it was for. `said` is what its machine said about it.
    pub(crate) fn undone(what: &str, said: &str) -> Self {
        Self::refused(match said.trim_end() {
            "" => what,
            said => said,
        })
    }

    fn of(kind: FailureKind, cause: impl fmt::Display) -> Self {
        Self {
            kind,
            cause: cause.to_string(),
            hints: Vec::new(),
        }
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

/// What a machine refuses, with what to type next.
macro_rules! refusals {
    ($($refused:path,)*) => {
        $(impl From<$refused> for CliError {
            fn from(refused: $refused) -> Self {
                Self {
                    hints: refused.next(),
                    ..Self::refused(refused)
                }
            }
        })*
    };
}

refusals! {
    mainspring_kernel::authority::Denied,
    machines::looping::verbs::Refused,
    machines::check::verbs::Refused,
    machines::review::verbs::Refused,
    machines::claim::verbs::Refused,
    machines::tasks::verbs::Refused,
    machines::pulse::verbs::Refused,
}

impl From<Trouble> for CliError {
    fn from(trouble: Trouble) -> Self {
        let kind = match trouble {
            Trouble::Corrupt { .. } | Trouble::Damaged { .. } | Trouble::Newer { .. } => {
                FailureKind::Damaged
            }
            Trouble::Unsafe { .. } => FailureKind::Refused,
            Trouble::Busy { .. } => FailureKind::Busy,
            Trouble::Io { .. }
            | Trouble::TooLarge { .. }
            | Trouble::NotAFile { .. }
            | Trouble::Unfinished(_)
            | Trouble::Other(_) => FailureKind::Failed,
        };
        Self::of(kind, trouble)
    }
}

impl From<serde_json::Error> for CliError {
    fn from(error: serde_json::Error) -> Self {
        Self::new(error)
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.cause)?;
        for hint in &self.hints {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}
