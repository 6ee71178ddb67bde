//! The limits on what is read, waited for or written. The store has its own.

use std::time::Duration;

pub(crate) use mainspring_store::limits::STATE_FILE;

/// A hook's payload. Its largest field is a tool's response, which hosts limit themselves.
pub(crate) const STDIN: u64 = 8 * 1024 * 1024;
/// How long a hook waits for its whole payload. A host writes it at once.
pub(crate) const EVENT: Duration = Duration::from_secs(10);
/// A configuration file.
pub(crate) const CONFIG: u64 = 256 * 1024;
/// Text for the agent or the person. Hosts move longer context to a file.
pub(crate) const TEXT_CHARS: usize = 9_000;
/// Text of others that is quoted in a message or a record.
pub(crate) const EXCERPT_CHARS: usize = 200;
/// How long we go on reading the output of a child that has ended, if another process holds its
/// pipe open.
pub(crate) const LAST_WORDS: Duration = Duration::from_millis(250);
/// All that we may take at a session's end: there a host waits for a second, or for one and a
/// half for all hooks together.
pub(crate) const SESSION_END: Duration = Duration::from_millis(700);
/// What we need of a stop's time to record and give the answer.
pub(crate) const STOP_MARGIN: Duration = Duration::from_secs(20);
/// What a check may print.
pub(crate) const CHECK_OUTPUT: u64 = 64 * 1024 * 1024;
/// What a child process may print.
pub(crate) const CHILD_OUTPUT: u64 = 4 * 1024 * 1024;
/// How long we wait for the lines of a transcript that its host writes later than it sends a
/// stop: ten times what was measured.
pub(crate) const LATE_LINES: Duration = Duration::from_secs(1);
pub(crate) const LATE_LINES_POLL: Duration = Duration::from_millis(5);
