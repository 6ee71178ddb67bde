//! Atomic renames.

use std::fs;
use std::io;
use std::path::Path;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

/// Can a folder be renamed while a file in it is open?
pub const MOVES_OPEN_FILES: bool = true;

/// Renames a file, in place of what has the new name.
pub fn over(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

/// Exchanges two files.
pub fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

/// Renames only if nothing has the new name, and says whether it did. It does not rename if the
/// file system cannot guarantee that.
pub fn if_free(from: &Path, to: &Path) -> io::Result<bool> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(true),
        Err(Errno::EXIST | Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}
