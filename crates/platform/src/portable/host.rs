//! The computer that this process runs on.

use std::cell::Cell;

use super::ps::{Which, processes};

/// An id that differs for each boot: when the first process started. If that cannot be told, it is
/// always the same text.
pub fn boot_id() -> &'static str {
    thread_local!(static BOOT: Cell<Option<&'static str>> = const { Cell::new(None) });
    BOOT.get().unwrap_or_else(|| {
        let first = processes(Which::These(&[1])).remove(&1);
        let boot = match first {
            Some(first) => first.started.to_string().leak(),
            None => "unknown",
        };
        BOOT.set(Some(boot));
        boot
    })
}

/// Milliseconds since the computer started. Time asleep may not count.
pub fn uptime() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    let millis = u64::try_from(now.tv_nsec / 1_000_000).unwrap_or(0);
    seconds.saturating_mul(1_000).saturating_add(millis)
}

/// The computer's name.
pub fn name() -> Option<String> {
    let name = rustix::system::uname();
    Some(name.nodename().to_str().ok()?.to_owned())
}
