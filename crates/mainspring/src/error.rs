//! An error that a person reads: what went wrong, where, and what to type next.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::exit::Exit;

/// What went wrong with a file or a child, with its place in the message.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        doing: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error("{} is larger than {limit} bytes", path.display())]
    TooLarge { path: PathBuf, limit: u64 },
    #[error("{} is not a regular file", path.display())]
    NotAFile { path: PathBuf },
    #[error("{} {problem}", path.display())]
    Unsafe { path: PathBuf, problem: String },
    /// A file that is there and cannot be understood: reported, never replaced.
    #[error("cannot read {}: {problem}", path.display())]
    Corrupt { path: PathBuf, problem: String },
    /// The record is durable and a file of it could not follow.
    #[error("{0}; it is recorded, and the next event tries again")]
    Unfinished(Box<Self>),
    #[error("{0}")]
    Other(String),
}

impl Trouble {
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io {
            doing,
            path: path.to_owned(),
            source,
        }
    }

    pub(crate) fn corrupt(path: &Path, problem: impl fmt::Display) -> Self {
        Self::Corrupt {
            path: path.to_owned(),
            problem: problem.to_string(),
        }
    }
}

/// What a command fails with: a cause, and what to type next.
#[derive(Debug)]
pub(crate) struct CliError {
    pub(crate) cause: String,
    pub(crate) hints: Vec<String>,
    /// What goes to stdout all the same, and the exit code then.
    pub(crate) shown: Option<(String, Exit)>,
}

impl CliError {
    pub(crate) fn new(cause: impl fmt::Display) -> Self {
        Self {
            cause: cause.to_string(),
            hints: Vec::new(),
            shown: None,
        }
    }

    /// A view that was made, and says by its exit code how bad what it shows is.
    pub(crate) fn shown(text: String, exit: Exit) -> Self {
        Self {
            cause: String::new(),
            hints: Vec::new(),
            shown: Some((text, exit)),
        }
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl From<Trouble> for CliError {
    fn from(trouble: Trouble) -> Self {
        Self::new(trouble)
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
