//! The shell's side of the machines: where their state is, what they see, what they have
//! done outside. A machine adds a file and a row to [`ROWS`].

pub(crate) mod claim;
mod final_message;
pub(crate) mod gate;
pub(crate) mod json_state;
pub(crate) mod looping;
pub(crate) mod pulse;
pub(crate) mod review;
pub(crate) mod tasks;

use std::path::PathBuf;

use mainspring_kernel::journal::FileChange;
use mainspring_kernel::machines::{Finished, MachineInput, Name, Pending, Transition};
use mainspring_store::Trouble;

use crate::config::{self, Key};
use crate::event_context::EventContext;

/// One machine, as functions.
#[derive(Debug)]
pub(crate) struct MachineShell {
    pub(crate) name: Name,
    /// In one sentence, for views.
    pub(crate) about: &'static str,
    /// Files that, where they exist below a folder, make it a project of ours.
    pub(crate) markers: &'static [&'static str],
    pub(crate) keys: &'static [Key],
    /// Can this machine have anything to do with this event, here? Asked at every event
    /// before the lock is taken, so it looks and does not read.
    pub(crate) applies: fn(&EventContext<'_>) -> Result<bool, Trouble>,
    /// State and facts; `None` if there is nothing here for it after all.
    pub(crate) load: fn(&EventContext<'_>) -> Result<Option<Loaded>, Trouble>,
    /// The files that a move changes.
    pub(crate) files: Files,
    /// Runs an effect, if the machine has any; `None` if it is not this machine's.
    pub(crate) run: Option<fn(&EventContext<'_>, &Pending) -> Option<Finished>>,
    /// The state in a line, for a person.
    pub(crate) summary: fn(&MachineInput) -> String,
}

/// From the part as it was loaded, and the files that it was read from, to what a move makes
/// of them.
type Files = fn(
    &EventContext<'_>,
    &MachineInput,
    &[FoundFile],
    &Transition,
) -> Result<Vec<FileChange>, Trouble>;

/// A machine's part in a case, with the files that it was read from.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) part: MachineInput,
    pub(crate) found: Vec<FoundFile>,
}

/// A file's bytes as a decision is based on them.
#[derive(Debug)]
pub(crate) struct FoundFile {
    pub(crate) path: PathBuf,
    pub(crate) bytes: Option<Vec<u8>>,
}

/// Every machine that is built in, in the kernel's order.
pub(crate) const MACHINES: &[MachineShell] = &[
    gate::ROW,
    looping::ROW,
    review::ROW,
    claim::ROW,
    tasks::ROW,
    pulse::ROW,
];

pub(crate) fn row(name: Name) -> Option<&'static MachineShell> {
    MACHINES.iter().find(|row| row.name == name)
}

/// Every setting there is.
pub(crate) fn keys() -> impl Iterator<Item = &'static Key> {
    config::KEYS
        .iter()
        .chain(MACHINES.iter().flat_map(|row| row.keys))
}

/// Whatever makes a folder a project of ours.
pub(crate) fn markers() -> impl Iterator<Item = &'static str> {
    [config::PROJECT_FILE]
        .into_iter()
        .chain(MACHINES.iter().flat_map(|row| row.markers.iter().copied()))
}
