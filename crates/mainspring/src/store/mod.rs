//! Mainspring's own state, and the one way in which any file is changed.
//!
//! ```text
//! $XDG_STATE_HOME/mainspring/            0700
//!   sessions/<session>                   which project a session is bound to
//!   installs/<key>/                      a settings file as it was before an installation
//!   trusted/<key>.json                   a project that a person has trusted
//!   projects/<key>/
//!     lock                               never renamed, never deleted; holds the journal's head
//!     journal.jsonl                      one record per decision, append only
//!     journal-<first seq>.jsonl          closed segments
//!     root                               the project's path, for people
//!     orders.json                        what a person stopped, paused or only wants observed
//!     sessions/<session>.json            the ledger
//!     intent-<machine>.json              an effect under way
//!     <machine>.json                     a machine's own state
//! ```

pub(crate) mod atomic;
mod dir;
mod head;
pub(crate) mod installs;
pub(crate) mod journal;
mod lock;
pub(crate) mod no_symlink;
pub(crate) mod orders;
mod project;
mod recover;
pub(crate) mod trust;

pub(crate) use dir::{StateDir, check_private, file_name, make_private};
#[cfg(feature = "simulate")]
pub(crate) use project::{Found, Recorded};
pub(crate) use project::{Locked, ProjectStore, read_json};
