//! Who switched the gate on or off, and what state the session is in.

use std::path::PathBuf;

use mainspring_kernel::SessionId;
use mainspring_kernel::journal::FileChange;
use mainspring_kernel::machines::Name;
use mainspring_kernel::machines::gate::State;
use mainspring_kernel::machines::gate::verbs::Switch;
use mainspring_store::{Trouble, file_name, json_change, read_json};
use serde::{Deserialize, Serialize};

use crate::context::EventContext;
use crate::machines::FoundFile;

/// The session's state since its last prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Progress {
    #[default]
    Waiting,
    Kept,
    Said,
    GaveUp,
    /// Its own agent switched it off, and the person does not know yet.
    Ended,
}

impl Progress {
    /// The state of a gate that is on and has held this many stops.
    pub(crate) const fn state(self, held: u32) -> State {
        match self {
            Self::Waiting => State::Waiting { held },
            Self::Kept => State::Kept,
            Self::Said => State::Said { held },
            Self::GaveUp => State::GaveUp { held },
            Self::Ended => State::Ended,
        }
    }

    pub(crate) const fn of(state: State) -> Self {
        match state {
            State::Off | State::Waiting { .. } => Self::Waiting,
            State::Kept => Self::Kept,
            State::Said { .. } => Self::Said,
            State::GaveUp { .. } => Self::GaveUp,
            State::Ended => Self::Ended,
        }
    }
}

/// Who switched it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SwitchedBy {
    /// A person, or an agent of another session: only a person switches it back.
    #[default]
    Another,
    /// The agent of the very session that it is on for.
    ItsAgent,
}

impl SwitchedBy {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    fn is_another(&self) -> bool {
        *self == Self::Another
    }
}

/// The content of a switch file: the project's, or a session's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GateSwitch {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) switch: Option<Switch>,
    #[serde(default)]
    pub(crate) stage: Progress,
    #[serde(default, skip_serializing_if = "SwitchedBy::is_another")]
    pub(crate) by: SwitchedBy,
}

#[derive(Debug)]
pub(crate) struct Switches {
    pub(crate) session: GateSwitch,
    pub(crate) session_file: FoundFile,
    pub(crate) project: GateSwitch,
}

impl Switches {
    pub(crate) fn read(context: &EventContext<'_>, session: &SessionId) -> Result<Self, Trouble> {
        let (session, session_file) = read_switch(session_path(context, session))?;
        Ok(Self {
            session,
            session_file,
            project: project(context)?.0,
        })
    }
}

/// The project's switch alone, for a command that was typed outside an agent.
pub(crate) fn project(context: &EventContext<'_>) -> Result<(GateSwitch, FoundFile), Trouble> {
    read_switch(context.store.machine_file(Name::Gate))
}

/// Is there any switch file? Checks only that one exists.
pub(super) fn any(context: &EventContext<'_>, session: &SessionId) -> bool {
    // The session's file is checked first, because it exists after the first hold.
    let is_there = |path: PathBuf| std::fs::symlink_metadata(path).is_ok();
    is_there(session_path(context, session)) || is_there(context.store.machine_file(Name::Gate))
}

fn session_path(context: &EventContext<'_>, session: &SessionId) -> PathBuf {
    let name = file_name(session.as_str());
    context
        .store
        .dir()
        .join("sessions")
        .join(format!("{name}.gate.json"))
}

fn read_switch(path: PathBuf) -> Result<(GateSwitch, FoundFile), Trouble> {
    let found = read_json::<GateSwitch>(path)?;
    let file = FoundFile {
        path: found.path,
        bytes: found.bytes,
    };
    Ok((found.value.unwrap_or_default(), file))
}

/// The change of a switch file; a switch with nothing to say deletes its file.
pub(crate) fn change(file: &FoundFile, switch: &GateSwitch) -> Result<FileChange, Trouble> {
    let switch = Some(switch).filter(|switch| **switch != GateSwitch::default());
    json_change(&file.path, file.bytes.as_deref(), switch)
}
