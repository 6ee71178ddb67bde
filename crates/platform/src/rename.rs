//! Giving a file its name in one step.

use std::io;
use std::path::Path;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

/// Two files change places.
pub fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

/// Renames only where nothing has the new name, and says whether it did. It does not where
/// the file system cannot make sure of that.
pub fn if_free(from: &Path, to: &Path) -> io::Result<bool> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(true),
        Err(Errno::EXIST | Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}
