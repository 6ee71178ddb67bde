//! Where the number of a session's held stops is kept: in the folder that the seed names, if it
//! is safe to use, else in our own state directory.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use mainspring_kernel::SessionId;
use mainspring_store::{Trouble, atomic, file_name, private};

use crate::env::name;
use crate::event_context::EventContext;
use crate::machine::FoundFile;

/// Room for a number, and for white space that an editor may add.
const MOST_BYTES: u64 = 64;

/// The count, and its file.
pub(crate) fn read(
    context: &EventContext<'_>,
    session: &SessionId,
) -> Result<(u32, FoundFile), Trouble> {
    let path = path(context, session)?;
    let bytes = atomic::read(&path, MOST_BYTES)?;
    let count = match &bytes {
        None => 0,
        Some(bytes) => std::str::from_utf8(bytes)
            .ok()
            .and_then(|text| text.trim().parse().ok())
            .ok_or_else(|| Trouble::corrupt(&path, "it does not hold a number"))?,
    };
    Ok((count, FoundFile { path, bytes }))
}

/// If others own the folder or can write to it, or if it is a symlink, we use our own state
/// directory. If it cannot be examined at the moment, that is an error, because a count in
/// another place would start again at zero.
fn path(context: &EventContext<'_>, session: &SessionId) -> Result<PathBuf, Trouble> {
    let dir = temp_dir(context).join("taskmaster");
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
        Some(dir) if dir.ends_with("taskmaster") => private::make(dir),
        Some(_) | None => Ok(()),
    }
}
