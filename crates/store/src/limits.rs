//! A limit on everything that the store reads, waits for or writes.

use std::time::Duration;

/// A state file, ours or one in a public format.
pub const STATE_FILE: u64 = 1024 * 1024;
/// One journal record, with the contents of its files.
pub const RECORD: u64 = 16 * 1024 * 1024;
/// A segment of the journal. When it is full, a new one starts.
pub(crate) const SEGMENT: u64 = 512 * 1024;
/// Closed segments that are kept.
pub(crate) const SEGMENTS: usize = 24;
/// How long a process waits for another one that works on the same store.
pub const LOCK_WAIT: Duration = Duration::from_secs(5);
