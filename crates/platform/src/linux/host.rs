//! The computer that this process runs on.

use std::cell::Cell;
use std::path::Path;

use super::proc;

/// An id that differs for each boot. If the system has none, it is always the same text.
pub fn boot_id() -> &'static str {
    // In thread-local memory, whose page is already mapped: a static would cost two page faults at
    // every hook that has work to do.
    thread_local!(static BOOT: Cell<Option<&'static str>> = const { Cell::new(None) });
    BOOT.get().unwrap_or_else(|| {
        let text = proc::read(Path::new("/proc/sys/kernel/random/boot_id"), 64);
        let boot = match text {
            Some(text) => text.trim().to_owned().leak(),
            None => "unknown",
        };
        BOOT.set(Some(boot));
        boot
    })
}

/// Milliseconds since the computer started, in whole seconds. Time asleep counts. This is one
/// system call; `clock_gettime` would first look for the vDSO, which a profiler hides.
pub fn uptime() -> u64 {
    u64::try_from(rustix::system::sysinfo().uptime)
        .unwrap_or(0)
        .saturating_mul(1_000)
}

/// The computer's name.
pub fn name() -> Option<String> {
    proc::read(Path::new("/proc/sys/kernel/hostname"), 256)
}
