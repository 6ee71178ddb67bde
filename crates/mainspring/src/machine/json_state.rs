//! A machine whose whole state is one JSON file of ours.

use mainspring_kernel::journal::FileChange;
use mainspring_kernel::machine::Data;

use super::FoundFile;
use crate::error::Trouble;
use crate::event_context::EventContext;
use crate::store::{atomic, read_json};

/// The state in the machine's own file; `None` if there is no file.
pub(crate) fn load<S: Data>(
    context: &EventContext<'_>,
    machine: mainspring_kernel::Name,
) -> Result<(Option<S>, FoundFile), Trouble> {
    let found = read_json::<S>(context.store.machine_file(machine))?;
    let file = FoundFile {
        path: found.path,
        bytes: found.bytes,
    };
    Ok((found.value, file))
}

/// The file's change to this state; no file for `None`.
pub(crate) fn change<S: Data>(found: &FoundFile, state: Option<&S>) -> Result<FileChange, Trouble> {
    let now = state
        .map(|state| {
            mainspring_json::text(state)
                .map(|text| text + "\n")
                .map_err(|error| Trouble::corrupt(&found.path, error))
        })
        .transpose()?;
    Ok(atomic::change(&found.path, found.bytes.as_deref(), now))
}
