//! Atomic renames.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use rustix::fs::{AtFlags, CWD};
use rustix::io::Errno;

/// Can a folder be renamed while a file in it is open?
pub const MOVES_OPEN_FILES: bool = true;

/// Renames a file, in place of what has the new name.
pub fn over(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

/// Exchanges two files, which POSIX cannot do.
pub fn exchange(_one: &Path, _other: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Renames only if nothing has the new name, and says whether it did. It does not rename if the
/// file system cannot guarantee that.
pub fn if_free(from: &Path, to: &Path) -> io::Result<bool> {
    // A second name is never given in place of another one.
    match rustix::fs::linkat(CWD, from, CWD, to, AtFlags::empty()) {
        Ok(()) => {}
        Err(Errno::EXIST | Errno::INVAL | Errno::NOSYS | Errno::NOTSUP | Errno::PERM) => {
            return Ok(false);
        }
        Err(errno) => return Err(errno.into()),
    }
    fs::remove_file(from)?;
    Ok(true)
}
