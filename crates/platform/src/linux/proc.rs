//! Small files in which the kernel reports about itself and its processes.

use std::path::Path;

use crate::file;

/// The text of such a file, if it has at most `limit` bytes. These files have no length but end
/// with a line feed, so no further read is needed to find the end.
pub(crate) fn read(path: &Path, limit: usize) -> Option<String> {
    let file = file::open(path).ok()?;
    let mut bytes = Vec::with_capacity(limit + 1);
    while bytes.len() <= limit {
        let read = file::read(&file, &mut bytes).ok()?;
        if read == 0 || bytes.ends_with(b"\n") {
            break;
        }
    }
    if bytes.len() > limit {
        return None;
    }
    // A process may have any name.
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
