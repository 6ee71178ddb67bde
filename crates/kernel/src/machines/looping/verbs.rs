//! What a person or an agent does to a loop by command. Pure, like everything here: the
//! shell loads the state, calls one of these, and writes what comes back.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Client, Frame, LoopOwner, Run, State};
use crate::ids::{Millis, SessionId};

/// Loops in loops in loops: more is a mistake that repeats itself.
pub const MOST_FRAMES: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refused {
    #[error("a loop runs here already: push an inner one, or abort it first")]
    Running,
    #[error("no loop runs here")]
    NoLoop,
    #[error("the loop's state here cannot be read: mend it, or abort the loop to keep it aside")]
    Corrupt,
    #[error("a loop needs at least one iteration")]
    NoIterations,
    #[error("the stack is full: {MOST_FRAMES} frames")]
    TooDeep,
}

pub fn start(
    state: &State,
    id: String,
    frame: Frame,
    owner: LoopOwner,
    now: Millis,
) -> Result<State, Refused> {
    match state {
        State::Idle(_) | State::Aborted { .. } => Ok(State::Active(Run {
            id,
            updated: now,
            owner,
            outer: Vec::new(),
            top: runnable(frame)?,
        })),
        State::Active(_) | State::Completing { .. } | State::Stuck { .. } => Err(Refused::Running),
        State::Corrupt(_) => Err(Refused::Corrupt),
    }
}

/// Puts an inner loop on the stack. The outer ones wait until it ends; a signal that was
/// given for the frame below is forgotten, because there is more to do.
pub fn push(state: &State, frame: Frame, now: Millis) -> Result<State, Refused> {
    let mut run = running(state)?.clone();
    if run.depth() >= MOST_FRAMES {
        return Err(Refused::TooDeep);
    }
    let below = core::mem::replace(&mut run.top, runnable(frame)?);
    run.outer.push(below);
    run.updated = now;
    Ok(State::Active(run))
}

/// Gives the loop to a session. It counts as a move: what was stale is not any more,
/// because somebody wants it.
pub fn adopt(
    state: &State,
    session: SessionId,
    client: Option<Client>,
    now: Millis,
) -> Result<State, Refused> {
    let mut run = running(state)?.clone();
    run.owner = LoopOwner::Session {
        id: session,
        client,
    };
    run.updated = now;
    Ok(State::Active(run))
}

/// Ends every frame. The owner's next stop passes, and its person is told why.
pub fn abort(state: &State, cause: String) -> Result<State, Refused> {
    match state {
        State::Active(run) | State::Completing { run, .. } | State::Stuck { run, .. } => {
            Ok(State::Aborted {
                cause,
                owner: run.owner.clone(),
            })
        }
        // Whose it was cannot be read either: whoever stops next is told.
        State::Corrupt(_) => Ok(State::Aborted {
            cause,
            owner: LoopOwner::Nobody,
        }),
        State::Idle(_) | State::Aborted { .. } => Err(Refused::NoLoop),
    }
}

fn running(state: &State) -> Result<&Run, Refused> {
    match state {
        State::Active(run) | State::Completing { run, .. } | State::Stuck { run, .. } => Ok(run),
        State::Idle(_) | State::Aborted { .. } => Err(Refused::NoLoop),
        State::Corrupt(_) => Err(Refused::Corrupt),
    }
}

fn runnable(frame: Frame) -> Result<Frame, Refused> {
    if frame.max == 0 {
        return Err(Refused::NoIterations);
    }
    Ok(frame)
}
