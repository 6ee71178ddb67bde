//! The commands of `pulse`.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Pulse, State};
use crate::machine::{Nothing, Step};
use crate::verbs::{Actor, Refusal, VerbStep};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refused {
    #[error("no pulse is under way here")]
    NoCheck,
}

impl Refusal for Refused {
    fn next(&self) -> Vec<String> {
        let Self::NoCheck = self;
        Vec::from(["`mainspring pulse 1` begins one".into()])
    }
}

/// Starts a check of so many beats, at least one. It checks the agent that asks for it, or else the
/// next session that stops. An earlier check ends.
pub fn begin(of: u32, actor: &Actor) -> VerbStep<Pulse> {
    let beating = State::Beating {
        beat: 0,
        of: of.max(1),
        session: actor.session().cloned(),
    };
    Step::take("begin", beating, Nothing)
}

pub fn off(state: &State) -> Result<VerbStep<Pulse>, Refused> {
    match state {
        State::Still => Err(Refused::NoCheck),
        State::Beating { .. } | State::Spent { .. } => Ok(Step::take("off", State::Still, Nothing)),
    }
}
