//! Locks on files. A lock ends when its file is closed, at the latest with its process.

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use windows_sys::Win32::Foundation::ERROR_SHARING_VIOLATION;

use super::{api, file};

/// Takes the file's lock if it is free now, and says whether it did.
pub fn try_take(file: &File) -> io::Result<bool> {
    api::lock(file, api::Wait::No)
}

/// Takes the file's lock when it is free.
pub fn take(file: &File) -> io::Result<()> {
    api::lock(file, api::Wait::Yes).map(|_| ())
}

/// A lock file that every child inherits: once taken, the lock is free only when the last of these
/// processes has ended. A lock of Windows ends with the process that took it. So this is a file that
/// is open and shared with nobody.
#[derive(Debug)]
pub struct InheritedLock {
    path: PathBuf,
    taken: RefCell<Option<File>>,
}

impl InheritedLock {
    /// The lock file is created when the lock is taken.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            taken: RefCell::new(None),
        })
    }

    /// Takes the lock if it is free now, and says whether it did.
    pub fn try_take(&self) -> io::Result<bool> {
        let mut options = file::options();
        options
            .write(true)
            .create(true)
            .truncate(false)
            .share_mode(0);
        match options.open(&self.path) {
            Ok(opened) => {
                api::inherit(&opened)?;
                self.taken.replace(Some(opened));
                Ok(true)
            }
            Err(error)
                if error.raw_os_error() == file::error(ERROR_SHARING_VIOLATION).raw_os_error() =>
            {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}
