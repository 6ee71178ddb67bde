//! Where the count of a session's blocks is kept: the place that the seed fixes, if it is
//! safe, else among our own files.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use mainspring_kernel::SessionId;
use mainspring_store::{Trouble, atomic, file_name, private};

use crate::env::name;
use crate::event_context::EventContext;
use crate::machine::FoundFile;

/// A number, and what an editor may leave around it.
const MOST_BYTES: u64 = 64;

/// The count, and the file it is in.
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
            .ok_or_else(|| Trouble::corrupt(&path, "it holds no count"))?,
    };
    Ok((count, FoundFile { path, bytes }))
}

/// A directory that others own, can write to, or that is a link, is not used: our own
/// state directory takes its place. One that cannot be looked at just now is trouble: a
/// count in another place would begin again.
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

/// Before the first count is written: the directory is made for us alone.
pub(super) fn prepare(path: &Path) -> Result<(), Trouble> {
    match path.parent() {
        Some(dir) if dir.ends_with("taskmaster") => private::make(dir),
        Some(_) | None => Ok(()),
    }
}
