//! The process that an effect belongs to: ours, or one that may be gone.

use mainspring_kernel::effect::EffectOwner;
use mainspring_platform::host::boot_id;
use mainspring_platform::process::{self, started};

/// This process.
pub(crate) fn me() -> EffectOwner {
    of(std::process::id())
}

/// A process, identified so that a later process with the same id is not mistaken for it.
pub(crate) fn of(pid: u32) -> EffectOwner {
    EffectOwner {
        pid,
        started: started(pid).unwrap_or(0),
        boot: boot_id().into(),
    }
}

/// Is the process still running?
pub(crate) fn is_alive(owner: &EffectOwner) -> bool {
    process::is_alive(owner.pid, owner.started, &owner.boot)
}
