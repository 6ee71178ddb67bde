//! The store's lock: one writer at a time, and no endless waiting.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use mainspring_platform::file;

use crate::Trouble;

/// Takes the lock, which ends when the file is closed. The kernel does the waiting, in a thread of
/// its own: polling had a tail four times as long.
pub(crate) fn take(path: &Path, longest: Duration) -> Result<File, Trouble> {
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
