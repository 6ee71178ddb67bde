//! Locks on files. A lock ends when its file is closed, at the latest with its process.

use std::fs::{File, TryLockError};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

/// Takes the file's lock if it is free now, and says whether it did.
pub fn try_take(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Takes the file's lock when it is free.
pub fn take(file: &File) -> io::Result<()> {
    file.lock()
}

/// A lock file that every child inherits: once taken, the lock is free only when the last of these
/// processes has ended.
#[derive(Debug)]
pub struct InheritedLock(OwnedFd);

impl InheritedLock {
    /// Opens the lock file, and creates it if it is missing.
    pub fn open(path: &Path) -> io::Result<Self> {
        // Without O_CLOEXEC, because the children must inherit it.
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW;
        let file = rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?;
        Ok(Self(file))
    }

    /// Takes the lock if it is free now, and says whether it did.
    pub fn try_take(&self) -> io::Result<bool> {
        match rustix::fs::flock(&self.0, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(true),
            Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }
}
