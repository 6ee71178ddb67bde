//! A lock that is held while any `gh` of ours runs, even one whose hook was killed.
//!
//! A killed hook leaves its `gh` behind, and that `gh` may close an issue just after the next
//! hook has found it open. So `gh` runs under a lock that the children inherit: it is free when
//! the last of them has ended, whoever started them.

use std::time::{Duration, Instant};

use mainspring_platform::lock::InheritedLock;
use mainspring_store::Trouble;

use crate::context::EventContext;

/// How long we wait for a child that has outlived its hook.
const LONGEST: Duration = Duration::from_secs(20);
const STEP: Duration = Duration::from_millis(10);

/// The lock is not held while git runs, because git's helpers may live for minutes.
#[derive(Debug)]
pub(super) struct GhLock {
    _lock: InheritedLock,
}

impl GhLock {
    pub(super) fn wait(context: &EventContext<'_>) -> Result<Self, Trouble> {
        let path = context.store.dir().join("claim-gh.lock");
        let lock = InheritedLock::open(&path).map_err(Trouble::io("open", &path))?;
        let until = Instant::now() + LONGEST;
        // If the lock cannot be taken because of an error, waiting does not help.
        while !lock.try_take().map_err(Trouble::io("lock", &path))? && Instant::now() < until {
            std::thread::sleep(STEP);
        }
        Ok(Self { _lock: lock })
    }
}
