//! The computer that this process runs on.

use std::sync::OnceLock;

use super::api;

/// An id that differs for each boot. If the system has none, it is always the same text.
pub fn boot_id() -> &'static str {
    static BOOT: OnceLock<String> = OnceLock::new();
    BOOT.get_or_init(|| api::boot_number().map_or("unknown".into(), |number| number.to_string()))
}

/// Milliseconds since the computer started. Time asleep counts.
pub fn uptime() -> u64 {
    api::uptime()
}

/// The computer's name.
pub fn name() -> Option<String> {
    api::computer_name()
}
