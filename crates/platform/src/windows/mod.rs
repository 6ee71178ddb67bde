//! Windows.

mod api;
pub mod file;
pub mod folders;
pub mod host;
pub mod identity;
pub mod lock;
pub mod no_symlink;
pub mod owner;
pub mod path;
pub mod permissions;
pub(crate) mod process;
pub(crate) mod program;
pub mod rename;
pub(crate) mod stamp;
pub mod stdin;
pub mod sync;
pub mod terminal;
