//! Remembers what a session was told, so that it is not told at every stop.

use std::io::ErrorKind;
use std::path::Path;

use mainspring_platform::file;
use mainspring_store::file_name;

use crate::store::StateDir;

/// Is this the first time that the session is told about this path? Remembers that it now was,
/// with an empty file, which only one of several processes can create. If that fails, the
/// session is told again.
pub(crate) fn is_news(state: &StateDir, about: &Path, session: &str) -> bool {
    let folder = state.told_of(about);
    if state.create(&folder).is_err() {
        return true;
    }
    let mark = folder.join(file_name(session).as_ref());
    let made = file::options().write(true).create_new(true).open(mark);
    !made.is_err_and(|error| error.kind() == ErrorKind::AlreadyExists)
}
