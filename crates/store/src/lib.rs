//! The one way in which files are changed: a journal whose records are the transactions, files that
//! are replaced whole or not at all after their record, a lock, and recovery after a crash.
//!
//! It knows no machine, no host and no project. Its users decide what is where in a [`Store`]'s
//! folder, and what may be done there.

pub mod atomic;
mod compact;
mod contents;
pub mod digest;
mod error;
mod file_name;
mod head;
pub mod journal;
mod json;
pub mod limits;
mod line;
mod lock;
pub mod no_symlink;
pub mod path_text;
pub mod private;
mod recover;
pub mod seal;
mod store;
mod torn;

pub use error::{CHECKSUM, ShownPath, Trouble};
pub use file_name::file_name;
pub use json::{Found, json_change, json_text, read_json};
pub use store::{Held, Locked, Recorded, Store, is_deleted};
