//! Nobody else is at it, not even a `gh` whose hook was killed.
//!
//! A hook that is killed leaves its `gh` behind, which may close an issue a moment after
//! the next hook has looked and found it open. So work at GitHub is done under a lock that
//! the children inherit: it is free when the last of them has ended, whoever started them.

use std::time::{Duration, Instant};

use mainspring_platform::lock::InheritedLock;
use mainspring_store::Trouble;

use crate::event_context::EventContext;

/// A child that outlives its hook for longer than this is not waited for.
const LONGEST: Duration = Duration::from_secs(20);
const STEP: Duration = Duration::from_millis(10);

/// Held while `gh` is run. Not while git is: its helpers may stay for minutes.
#[derive(Debug)]
pub(super) struct GhLock {
    _lock: InheritedLock,
}

impl GhLock {
    pub(super) fn wait(context: &EventContext<'_>) -> Result<Self, Trouble> {
        let path = context.store.dir().join("claim-gh.lock");
        let lock = InheritedLock::open(&path).map_err(Trouble::io("open", &path))?;
        let until = Instant::now() + LONGEST;
        // An error is the end: nobody has it, and nobody gets it.
        while !lock.try_take().map_err(Trouble::io("lock", &path))? && Instant::now() < until {
            std::thread::sleep(STEP);
        }
        Ok(Self { _lock: lock })
    }
}
