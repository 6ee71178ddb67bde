//! The plain way, for macOS and other Unix systems: POSIX, and what all of them have beside it.

pub mod host;
pub(crate) mod no_symlink;
pub(crate) mod processes;
mod ps;
pub mod rename;
pub mod sync;
