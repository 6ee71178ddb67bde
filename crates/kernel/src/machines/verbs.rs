//! What the commands of all machines share. Each machine has its own in `verbs.rs`: pure
//! functions from a state to a step of the table, or to why not. The shell loads, calls
//! one of them, writes what comes back, and prints.

use alloc::string::String;
use alloc::vec::Vec;

use crate::ids::SessionId;
use crate::machine::{Nothing, Step};

/// Who runs a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    /// An agent, of this session if its host names it.
    Agent(Option<SessionId>),
    Person,
}

impl Actor {
    pub const fn session(&self) -> Option<&SessionId> {
        match self {
            Self::Agent(session) => session.as_ref(),
            Self::Person => None,
        }
    }
}

/// What a command does: an arrow of the table, and the state that it leads to. The rule is
/// empty, and the state as it was, where there is nothing to do.
pub type VerbStep<M> = Step<M, Nothing>;

/// Why a command does nothing.
pub trait Refusal: core::error::Error {
    /// What to type next: a line for each way.
    fn next(&self) -> Vec<String>;
}
