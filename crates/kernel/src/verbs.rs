//! What the commands of all machines share. Each machine has its own in its `verbs.rs`: pure
//! functions from a state to a step of the table, or to a refusal. The shell loads the state, calls
//! one of them, writes the new state, and prints.

use alloc::string::String;
use alloc::vec::Vec;

use crate::ids::SessionId;
use crate::machine::{Nothing, Step};

/// Who runs a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    /// An agent; its session, if its host names one.
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

/// What a command does: an arrow of the table, and the state that it leads to. If there is nothing
/// to do, the rule is empty and the state unchanged.
pub type VerbStep<M> = Step<M, Nothing>;

/// Why a command does nothing.
pub trait Refusal: core::error::Error {
    /// What to type next, one line for each possibility.
    fn next(&self) -> Vec<String>;
}
