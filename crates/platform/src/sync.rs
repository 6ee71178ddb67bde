//! Making sure that something is on the disk.

use std::fs::File;
use std::io;
use std::path::Path;

/// A file's content. Asked once: what a sync that failed, or was interrupted, has left undone
/// a second one may not see. The standard library's asks again for as long as it is
/// interrupted.
pub fn data(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fdatasync(file)?)
}

/// The names in a folder.
pub fn folder(path: &Path) -> io::Result<()> {
    let folder = File::open(path)?;
    Ok(rustix::fs::fsync(&folder)?)
}

/// Everything on the file system that this path is on.
pub fn file_system(path: &Path) -> io::Result<()> {
    let place = File::open(path)?;
    Ok(rustix::fs::syncfs(&place)?)
}
