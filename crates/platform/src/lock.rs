//! A lock that children inherit. For a lock that ends with this process, the standard library's
//! `File::lock` is enough.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

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
