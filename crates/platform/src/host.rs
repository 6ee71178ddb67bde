//! The computer that this process runs on.

use std::cell::Cell;
use std::path::Path;

use rustix::time::{ClockId, clock_gettime};

use crate::proc;

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

/// Milliseconds since the computer started. Time asleep counts, if the system reports it.
pub fn uptime() -> u64 {
    #[cfg(target_os = "linux")]
    const CLOCK: ClockId = ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    const CLOCK: ClockId = ClockId::Monotonic;
    let now = clock_gettime(CLOCK);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    let millis = u64::try_from(now.tv_nsec / 1_000_000).unwrap_or(0);
    seconds.saturating_mul(1_000).saturating_add(millis)
}

/// The computer's name.
pub fn name() -> Option<String> {
    proc::read(Path::new("/proc/sys/kernel/hostname"), 256)
}
