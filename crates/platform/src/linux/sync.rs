//! Makes sure that something is on the disk.

use std::fs::File;
use std::io;
use std::path::Path;

/// Syncs a file's content, once. A second sync may not report data that a failed or interrupted one
/// could not write; the standard library's retries as long as it is interrupted.
pub fn data(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fdatasync(file)?)
}

/// Syncs a file that is at this path already.
pub fn file(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    Ok(rustix::fs::fsync(&file)?)
}

/// Syncs the names in a folder.
pub fn folder(path: &Path) -> io::Result<()> {
    let folder = File::open(path)?;
    Ok(rustix::fs::fsync(&folder)?)
}

/// Syncs the whole file system that this path is on.
pub fn file_system(path: &Path) -> io::Result<()> {
    let place = File::open(path)?;
    Ok(rustix::fs::syncfs(&place)?)
}
