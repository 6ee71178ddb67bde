//! What a person has been told need not be said at every stop.

use std::io::ErrorKind;
use std::path::Path;

use mainspring_platform::file;
use mainspring_store::file_name;

use crate::store::StateDir;

/// Has this session not heard of this? It has after this: an empty file says so, which only
/// one of several processes can make. What cannot be remembered is said again.
pub(crate) fn is_news(state: &StateDir, about: &Path, session: &str) -> bool {
    let folder = state.told_of(about);
    if state.create(&folder).is_err() {
        return true;
    }
    let mark = folder.join(file_name(session).as_ref());
    let made = file::options().write(true).create_new(true).open(mark);
    !made.is_err_and(|error| error.kind() == ErrorKind::AlreadyExists)
}
