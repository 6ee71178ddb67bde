//! Mainspring's own state: what is kept for projects and people, and where. `mainspring_store`
//! knows how files are changed.
//!
//! ```text
//! $XDG_STATE_HOME/mainspring/            0700
//!   sessions/<session>                   which project a session is bound to
//!   live/<session>                       a session's host, client process and folder
//!   ended/<session>                      the same, of a session that has ended lately
//!   installs/<key>/                      a settings file as it was before an installation
//!   trusted/<key>.json                   a project that a person has trusted
//!   told/<key>                           the sessions that were told about an ignored file
//!   swept                                when all old state was last deleted
//!   projects/<key>/
//!     lock                               holds the journal's head; goes only with the whole folder
//!     journal.jsonl                      one record per decision, append only
//!     journal-<first seq>.jsonl          closed segments, with only the newest content of each file
//!     root                               the project's path, for people
//!     orders.json                        what a person stopped, paused or only wants observed
//!     sessions/<session>.json            the block ledger: how many stops were held in a row
//!     intent-<machine>.json              an effect under way
//!     <machine>.json                     a machine's own state
//! ```

mod aside;
mod dir;
pub(crate) mod installs;
mod project;

pub(crate) use aside::aside_path;
pub(crate) use dir::StateDir;
pub(crate) use project::ProjectStore;
