//! The machine that this process runs on.

use std::cell::Cell;
use std::path::Path;

use crate::proc;

/// Told apart from the boots before and after. Where the system has none, it is always the
/// same word.
pub fn boot_id() -> &'static str {
    // With the thread's own data, which is mapped already: in a place of its own it would be
    // two page faults, at every hook that has work to do.
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

/// Its name, as the system has it.
pub fn name() -> Option<String> {
    proc::read(Path::new("/proc/sys/kernel/hostname"), 256)
}
