//! What Linux does better than POSIX: one system call where there would be several, or a guarantee
//! that POSIX does not give.

pub mod host;
pub(crate) mod no_symlink;
mod proc;
pub(crate) mod processes;
pub mod rename;
pub mod sync;
