//! Nobody else is at it, not even a `gh` whose hook was killed.
//!
//! A hook that is killed leaves its `gh` behind, which may close an issue a moment after
//! the next hook has looked and found it open. So work at GitHub is done under a lock that
//! the children inherit: it is free when the last of them has ended, whoever started them.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::error::Trouble;
use crate::event_context::EventContext;

/// A child that outlives its hook for longer than this is not waited for.
const LONGEST: Duration = Duration::from_secs(20);
const STEP: Duration = Duration::from_millis(10);

/// Held while `gh` is run. Not while git is: its helpers may stay for minutes.
#[derive(Debug)]
pub(super) struct GhLock {
    _lock: OwnedFd,
}

impl GhLock {
    pub(super) fn wait(context: &EventContext<'_>) -> Result<Self, Trouble> {
        let path = context.store.dir().join("claim-gh.lock");
        // Without O_CLOEXEC: that the children have it is the point.
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW;
        let lock = rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR)
            .map_err(|error| Trouble::io("open", &path)(error.into()))?;
        let until = Instant::now() + LONGEST;
        loop {
            match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < until => {
                    std::thread::sleep(STEP);
                }
                Ok(()) | Err(Errno::WOULDBLOCK | Errno::INTR) => return Ok(Self { _lock: lock }),
                // Nobody has it, and nobody gets it: waiting would be for nothing.
                Err(error) => return Err(Trouble::io("lock", &path)(error.into())),
            }
        }
    }
}
