//! The store's lock: one writer at a time, and no endless waiting.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use mainspring_platform::file;
use mainspring_platform::identity::is_same_file;

use crate::Trouble;

/// How often a lock is taken that turns out to be of a deleted store. On a file system whose inode
/// numbers do not last, every lock looks like one, so the last counts as it is.
const ATTEMPTS: u32 = 4;

/// Takes the lock, which ends when the file is closed. If the store was deleted while we waited,
/// its lock keeps nobody out, and that of the new store is taken.
pub(crate) fn take(path: &Path, longest: Duration) -> Result<File, Trouble> {
    let begun = Instant::now();
    let mut file = take_file(path, longest)?;
    for _ in 1..ATTEMPTS {
        if is_in_place(&file, path)? {
            break;
        }
        file = take_file(path, longest.saturating_sub(begun.elapsed()))?;
    }
    Ok(file)
}

/// Is this still the file at this path?
fn is_in_place(file: &File, path: &Path) -> Result<bool, Trouble> {
    let ours = file.metadata().map_err(Trouble::io("look at", path))?;
    match fs::symlink_metadata(path) {
        Ok(there) => Ok(is_same_file(&ours, &there)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Trouble::io("look at", path)(error)),
    }
}

/// The kernel does the waiting, in a thread of its own: polling had a tail four times as long.
fn take_file(path: &Path, longest: Duration) -> Result<File, Trouble> {
    let file = file::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(Trouble::io("open", path))?;
    match file.try_lock() {
        Ok(()) => return Ok(file),
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(error)) => return Err(Trouble::io("lock", path)(error)),
    }
    let (done, wait) = mpsc::sync_channel(1);
    std::thread::Builder::new()
        .spawn(move || {
            let result = file.lock();
            let _ = done.send(result.map(|()| file));
        })
        .map_err(Trouble::io("wait for", path))?;
    match wait.recv_timeout(longest) {
        Ok(result) => result.map_err(Trouble::io("lock", path)),
        Err(_) => Err(Trouble::Other(format!(
            "another process has held {} for more than {} seconds",
            path.display(),
            longest.as_secs_f32()
        ))),
    }
}
