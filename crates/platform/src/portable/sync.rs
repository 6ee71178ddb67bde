//! Makes sure that something is on the disk.

use std::fs::File;
use std::io;
use std::path::Path;

/// Syncs a file's content, once. A second sync may not report data that a failed or interrupted one
/// could not write; the standard library's retries as long as it is interrupted.
pub fn data(file: &File) -> io::Result<()> {
    sync(file)
}

/// Syncs a file that is at this path already.
pub fn file(path: &Path) -> io::Result<()> {
    sync(&File::open(path)?)
}

/// Syncs the names in a folder.
pub fn folder(path: &Path) -> io::Result<()> {
    sync(&File::open(path)?)
}

/// Syncs the names on the way to this folder: it may be new, and so may the ones above it. A folder
/// that we may not open was not made by us.
pub fn file_system(path: &Path) -> io::Result<()> {
    folder(path)?;
    for above in path.ancestors().skip(1) {
        let Ok(opened) = File::open(above) else {
            break;
        };
        sync(&opened)?;
    }
    Ok(())
}

/// On macOS, `fsync` leaves the data in the disk's own cache, which a power loss empties.
#[cfg(target_vendor = "apple")]
fn sync(file: &File) -> io::Result<()> {
    match rustix::fs::fcntl_fullfsync(file) {
        // Not every file system can do it: a network's, for example.
        Err(rustix::io::Errno::NOTSUP | rustix::io::Errno::NOTTY | rustix::io::Errno::INVAL) => {
            Ok(rustix::fs::fsync(file)?)
        }
        synced => Ok(synced?),
    }
}

#[cfg(not(target_vendor = "apple"))]
fn sync(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fsync(file)?)
}
