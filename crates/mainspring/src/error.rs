//! An error that a person reads: what went wrong, where, and what to type next.

use std::fmt;

use mainspring_kernel::machines;
use mainspring_kernel::verbs::Refusal as _;
use mainspring_store::Trouble;

use crate::exit::Exit;

#[derive(Debug)]
pub(crate) struct CliError {
    pub(crate) cause: String,
    pub(crate) hints: Vec<String>,
    /// Text that goes to stdout although the command failed, and the exit code for it.
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

    /// A view whose exit code says how bad its findings are.
    pub(crate) fn shown(text: String, exit: Exit) -> Self {
        Self {
            cause: String::new(),
            hints: Vec::new(),
            shown: Some((text, exit)),
        }
    }

    /// A command that did not do what it was for. `said` is what its machine said about it.
    pub(crate) fn undone(what: &str, said: &str) -> Self {
        Self::new(match said.trim_end() {
            "" => what,
            said => said,
        })
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

/// What a machine refuses, with what to type next.
macro_rules! refusals {
    ($($machine:ident,)*) => {
        $(impl From<machines::$machine::verbs::Refused> for CliError {
            fn from(refused: machines::$machine::verbs::Refused) -> Self {
                Self {
                    hints: refused.next(),
                    ..Self::new(refused)
                }
            }
        })*
    };
}

refusals! { looping, check, review, claim, tasks, pulse, }

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
