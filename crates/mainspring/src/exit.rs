//! What our exit codes mean. `hook` always exits 0 unless it could not even answer.

use std::process::ExitCode;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Success,
    /// The command could not do what was asked; stderr says why and what to type next.
    Failure,
    /// It was done, and there is something to look at.
    Warned,
    /// The command line was not understood.
    Usage,
    /// What a background hook ends with to wake the agent; stderr says why.
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
