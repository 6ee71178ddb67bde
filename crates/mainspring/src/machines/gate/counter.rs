//! Where the number of a session's held stops is kept: in the folder that the seed names, if it
//! is safe to use, else in our own state directory.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use mainspring_kernel::SessionId;
use mainspring_store::{Trouble, atomic, file_name, json_text, private, seal};
use serde::{Deserialize, Serialize};

use crate::context::EventContext;
use crate::env::name;
use crate::machines::FoundFile;

/// Room for a number, and for what is around it.
const MOST_BYTES: u64 = 256;

/// The count as a file of ours has it. In the seed's place it is a bare number.
#[derive(Serialize, Deserialize)]
struct Count {
    held: u32,
}

/// The count, and its file.
pub(crate) fn read(
    context: &EventContext<'_>,
    session: &SessionId,
) -> Result<(u32, FoundFile), Trouble> {
    let path = path(context, session)?;
    let bytes = atomic::read(&path, MOST_BYTES)?;
    let count = match &bytes {
        None => 0,
        Some(bytes) => parse(&path, bytes)?,
    };
    Ok((count, FoundFile { path, bytes }))
}

fn parse(path: &Path, bytes: &[u8]) -> Result<u32, Trouble> {
    if !is_seeds(path) {
        let count = mainspring_json::read::<Count>(&seal::unseal(path, bytes)?);
        return count
            .map(|count| count.held)
            .map_err(|error| Trouble::corrupt(path, error));
    }
    let text = std::str::from_utf8(bytes).ok();
    let number = text.and_then(|text| text.trim().parse().ok());
    number.ok_or_else(|| Trouble::corrupt(path, "it does not hold a number"))
}

/// What the file is to hold.
pub(super) fn text(path: &Path, held: u32) -> Result<String, Trouble> {
    if is_seeds(path) {
        return Ok(format!("{held}\n"));
    }
    json_text(path, &Count { held })
}

fn is_seeds(path: &Path) -> bool {
    path.parent().is_some_and(|dir| dir.ends_with(SEEDS_FOLDER))
}

const SEEDS_FOLDER: &str = "taskmaster";

/// If others own the folder or can write to it, or if it is a symlink, we use our own state
/// directory. If it cannot be examined at the moment, that is an error, because a count in
/// another place would start again at zero.
fn path(context: &EventContext<'_>, session: &SessionId) -> Result<PathBuf, Trouble> {
    let dir = temp_dir(context).join(SEEDS_FOLDER);
    let name = file_name(session.as_str());
    match private::check(&dir) {
        Ok(()) => Ok(dir.join(name.as_ref())),
        Err(Trouble::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
            Ok(dir.join(name.as_ref()))
        }
        Err(trouble @ Trouble::Io { .. }) => Err(trouble),
        Err(_) => {
            let ours = context.store.dir().join("sessions");
            Ok(ours.join(format!("{name}.count")))
        }
    }
}

fn temp_dir(context: &EventContext<'_>) -> PathBuf {
    context
        .env
        .var_os(name::TMPDIR)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .unwrap_or_else(|| "/tmp".into())
}

/// Creates the folder, for us alone, before the first count is written.
pub(super) fn prepare(path: &Path) -> Result<(), Trouble> {
    match path.parent() {
        Some(dir) if dir.ends_with(SEEDS_FOLDER) => private::make(dir),
        Some(_) | None => Ok(()),
    }
}
