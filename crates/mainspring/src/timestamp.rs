//! A time as people and other programs read it.

use mainspring_kernel::Millis;

pub(crate) fn timestamp(at: Millis) -> String {
    i64::try_from(at.0)
        .ok()
        .and_then(|millis| jiff::Timestamp::from_millisecond(millis).ok())
        .map_or_else(|| at.0.to_string(), |time| format!("{time:.3}"))
}
