//! The store's lock: one writer at a time, and no endless waiting.

use std::fs::File;
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use mainspring_platform::identity::is_at;
use mainspring_platform::{file, lock};

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
        if is_at(&file, path).map_err(Trouble::io("look at", path))? {
            break;
        }
        file = take_file(path, longest.saturating_sub(begun.elapsed()))?;
    }
    Ok(file)
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
    if lock::try_take(&file).map_err(Trouble::io("lock", path))? {
        return Ok(file);
    }
    let (done, wait) = mpsc::sync_channel(1);
    std::thread::Builder::new()
        .spawn(move || {
            let result = lock::take(&file);
            let _ = done.send(result.map(|()| file));
        })
        .map_err(Trouble::io("wait for", path))?;
    match wait.recv_timeout(longest) {
        Ok(result) => result.map_err(Trouble::io("lock", path)),
        Err(_) => Err(Trouble::Busy {
            path: path.to_owned(),
            seconds: longest.as_secs_f32(),
        }),
    }
}
