//! For a machine whose whole state is one JSON file of ours.

use mainspring_kernel::data::Data;
use mainspring_kernel::journal::FileChange;
use mainspring_store::{Trouble, json_change, read_json};

use super::FoundFile;
use crate::context::EventContext;

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

/// The change of the file to this state; `None` deletes it.
pub(crate) fn change<S: Data>(found: &FoundFile, state: Option<&S>) -> Result<FileChange, Trouble> {
    json_change(&found.path, found.bytes.as_deref(), state)
}
