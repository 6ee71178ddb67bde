//! What our exit codes mean. `hook` exits with 0 unless it could not print an answer.

use std::process::ExitCode;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Success,
    /// The command failed, and stderr says why and what to type next; or a person answered no.
    Failure,
    /// The command succeeded, and its output names a problem.
    Warned,
    /// The command line is not valid.
    Usage,
    /// A background hook exits with this code to wake the agent; stderr says why.
    Wake,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Success => Self::SUCCESS,
            Exit::Failure => Self::FAILURE,
            Exit::Usage | Exit::Wake => Self::from(2),
            Exit::Warned => Self::from(3),
        }
    }
}
