//! A limit on everything that is read, waited for or written, in one place. The store's own
//! are beside it.

use std::time::Duration;

pub(crate) use mainspring_store::limits::STATE_FILE;

/// A hook's payload. The largest field is a tool's response, which hosts bound themselves.
pub(crate) const STDIN: u64 = 8 * 1024 * 1024;
/// A configuration file.
pub(crate) const CONFIG: u64 = 256 * 1024;
/// Text for the agent or the person. Hosts move longer context out to a file.
pub(crate) const TEXT_CHARS: usize = 9_000;
/// What is quoted from elsewhere in a message or a record.
pub(crate) const EXCERPT_CHARS: usize = 200;
/// How long a child that has ended is listened to, where somebody else holds its pipe.
pub(crate) const LAST_WORDS: Duration = Duration::from_millis(250);
/// All that we may take at a session's end: there a host waits for a second, or for one and a
/// half for all hooks together.
pub(crate) const SESSION_END: Duration = Duration::from_millis(700);
/// What a child process may print.
pub(crate) const CHILD_OUTPUT: u64 = 4 * 1024 * 1024;
