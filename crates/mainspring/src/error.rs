//! An error that a person reads: what went wrong, where, and what to type next.

use std::fmt;

use mainspring_store::Trouble;

use crate::exit::Exit;

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
