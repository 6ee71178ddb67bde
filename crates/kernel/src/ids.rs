//! Small types that keep ids, times and digests from being mixed up.

use alloc::format;
use alloc::string::String;
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::hidden::is_control;

/// The host's name for one conversation. Never empty, never the text `null`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(String);

impl SessionId {
    /// A longer text is not an id: no host makes one nearly as long.
    pub const MAX_BYTES: usize = 256;

    /// `None` for a text that cannot name a session: an empty one, `null`, or one that is too long.
    /// State under such an id would belong to every session without an id. An id with a line feed or
    /// another control character is none either: it would write lines of its own into every view.
    pub fn parse(text: &str) -> Option<Self> {
        let usable = !text.is_empty() && text != "null" && text.len() <= Self::MAX_BYTES;
        let plain = !text.chars().any(is_control);
        (usable && plain).then(|| Self(text.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its beginning, as people read it.
    pub fn short(&self) -> &str {
        short(&self.0)
    }
}

/// Is this a whole id, as most hosts make them, and not the beginning of one? It has the form of
/// a UUID.
pub fn is_whole(text: &str) -> bool {
    let in_uuid = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
    text.len() == 36 && text.bytes().all(in_uuid)
}

/// The beginning of an id, as people read it and as every command takes it. An id that is no UUID
/// stays as it is: its beginning may be the same in all of them.
pub fn short(id: &str) -> &str {
    if is_whole(id) { &id[..8] } else { id }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Milliseconds since 1970, as the shell read them once for this event.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Millis(pub u64);

impl Millis {
    pub const fn seconds(count: u64) -> Self {
        Self(count.saturating_mul(1_000))
    }

    /// How long ago `earlier` was; zero if the clock went backwards.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    #[must_use]
    pub const fn plus(self, span: Self) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// As a person reads a span: `42s`, `10m`, `4m 12s`, `2h 5m`.
    pub fn in_words(self) -> String {
        let seconds = self.0 / 1_000;
        let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        match (hours, minutes, seconds) {
            (0, 0, seconds) => format!("{seconds}s"),
            (0, minutes, 0) => format!("{minutes}m"),
            (0, minutes, seconds) => format!("{minutes}m {seconds}s"),
            (hours, 0, _) => format!("{hours}h"),
            (hours, minutes, _) => format!("{hours}h {minutes}m"),
        }
    }
}

/// Milliseconds since the machine started, its sleep included. It only grows, whatever the
/// clock on the wall is set to, and begins at zero with a reboot.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Uptime(pub u64);

impl Uptime {
    /// How long ago `earlier` was; `None` if the machine started in between.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Option<Millis> {
        match self.0.checked_sub(earlier.0) {
            Some(span) => Some(Millis(span)),
            None => None,
        }
    }
}

/// A digest of bytes that the shell saw: 128 bits in lower-case hex.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(pub String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_name_a_session_is_no_session() {
        for text in ["", "null", "a\nb", "\u{1b}[2J", "a\u{9b}", "a\u{0}"] {
            assert_eq!(SessionId::parse(text), None, "{text:?}");
        }
        let longest = "x".repeat(SessionId::MAX_BYTES);
        assert!(SessionId::parse(&longest).is_some());
        assert_eq!(SessionId::parse(&(longest + "x")), None);
    }

    #[test]
    fn a_span_is_said_in_two_units_at_most() {
        for (seconds, text) in [
            (0, "0s"),
            (59, "59s"),
            (60, "1m"),
            (192, "3m 12s"),
            (3_600, "1h"),
            (7_500, "2h 5m"),
        ] {
            assert_eq!(Millis::seconds(seconds).in_words(), text);
        }
    }

    #[test]
    fn a_clock_that_goes_backwards_makes_no_age() {
        assert_eq!(Millis(5).since(Millis(9)), Millis(0));
        assert_eq!(Millis(u64::MAX).plus(Millis(1)), Millis(u64::MAX));
    }
}
