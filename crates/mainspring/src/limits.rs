//! A limit on everything that is read, waited for or written, in one place.

use std::time::Duration;

/// A hook's payload. The largest field is a tool's response, which hosts bound themselves.
pub(crate) const STDIN: u64 = 8 * 1024 * 1024;
/// A configuration file.
pub(crate) const CONFIG: u64 = 256 * 1024;
/// A state file, ours or a seed's.
pub(crate) const STATE_FILE: u64 = 1024 * 1024;
/// How long a hook waits for another one that works on the same project.
pub(crate) const LOCK_WAIT: Duration = Duration::from_secs(5);
/// One journal record, with the files it carries.
pub(crate) const RECORD: u64 = 16 * 1024 * 1024;
/// A segment of the journal; then a new one is begun.
pub(crate) const SEGMENT: u64 = 8 * 1024 * 1024;
/// Closed segments that are kept.
pub(crate) const SEGMENTS: usize = 8;
/// Text for the agent or the person. Hosts move longer context out to a file.
pub(crate) const TEXT_CHARS: usize = 9_000;
/// What is quoted from elsewhere in a message or a record.
pub(crate) const EXCERPT_CHARS: usize = 200;
/// What a child process may print.
pub(crate) const CHILD_OUTPUT: u64 = 4 * 1024 * 1024;
