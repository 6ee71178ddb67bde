//! The commands of the gate.

use serde::{Deserialize, Serialize};

use super::{Gate, State};
use crate::machine::{Nothing, Step};
use crate::verbs::VerbStep;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Switch {
    On,
    Off,
}

impl Switch {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
        }
    }
}

/// The switch that counts: the session's own, otherwise the project's, otherwise the
/// configuration's.
pub fn in_force(session: Option<Switch>, project: Option<Switch>, configured: Switch) -> Switch {
    session.or(project).unwrap_or(configured)
}

/// A gate that was off awaits the token, whatever was said before. A gate that is on stays as it
/// is.
pub fn switch(state: State, to: Switch) -> VerbStep<Gate> {
    match (state, to) {
        (_, Switch::Off) => Step::take("switch-off", State::Off, Nothing),
        (State::Off | State::Ended, Switch::On) => {
            Step::take("switch-on", State::Waiting { held: 0 }, Nothing)
        }
        (
            State::Waiting { .. } | State::Kept | State::Said { .. } | State::GaveUp { .. },
            Switch::On,
        ) => Step::take("switch-on", state, Nothing),
    }
}

/// An agent switches off what it switched on itself. Its person hears of it at the next stop.
pub fn end(state: State) -> VerbStep<Gate> {
    match state {
        State::Off => Step::ignore(&state, Nothing),
        State::Waiting { .. }
        | State::Kept
        | State::Said { .. }
        | State::GaveUp { .. }
        | State::Ended => Step::take("end", State::Ended, Nothing),
    }
}
