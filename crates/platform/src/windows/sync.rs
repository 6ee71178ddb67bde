//! Makes sure that something is on the disk.

use std::fs::File;
use std::io;
use std::path::Path;

/// Syncs a file's content, once.
pub fn data(file: &File) -> io::Result<()> {
    file.sync_data()
}

/// Syncs a file that is at this path already.
pub fn file(path: &Path) -> io::Result<()> {
    let file = File::options().write(true).open(path)?;
    file.sync_all()
}

/// Windows writes the names in a folder to the log of its file system, and offers no way to wait
/// for that.
pub fn folder(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// The same for the whole file system, which only an administrator could sync.
pub fn file_system(_path: &Path) -> io::Result<()> {
    Ok(())
}
