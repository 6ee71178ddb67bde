//! Atomic renames.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION, ERROR_USER_MAPPED_FILE,
};

use super::file;

/// A reader or a virus scanner has a file open for a moment only.
const PATIENCE: Duration = Duration::from_secs(2);

/// Can a folder be renamed while a file in it is open?
pub const MOVES_OPEN_FILES: bool = false;

/// Renames a file, in place of what has the new name. While somebody reads that, it cannot be
/// replaced; so this tries again for a while.
pub fn over(from: &Path, to: &Path) -> io::Result<()> {
    let begun = Instant::now();
    loop {
        match fs::rename(from, to) {
            Err(error) if is_busy(&error) && begun.elapsed() < PATIENCE => {
                thread::sleep(Duration::from_millis(2));
            }
            renamed => return renamed,
        }
    }
}

fn is_busy(error: &io::Error) -> bool {
    let busy = [
        ERROR_ACCESS_DENIED,
        ERROR_SHARING_VIOLATION,
        ERROR_USER_MAPPED_FILE,
    ];
    busy.iter()
        .any(|code| error.raw_os_error() == file::error(*code).raw_os_error())
}

/// Exchanges two files, which Windows cannot do.
pub fn exchange(_one: &Path, _other: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Renames only if nothing has the new name, and says whether it did. It does not rename if the
/// file system cannot guarantee that.
pub fn if_free(from: &Path, to: &Path) -> io::Result<bool> {
    // A second name is never given in place of another one.
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from).map(|()| true),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(error),
        Err(_) => Ok(false),
    }
}
