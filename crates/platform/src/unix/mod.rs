//! What Unix systems have in common, and the choice between the two ways for the rest.

#[cfg(all(target_os = "linux", not(portable_unix)))]
#[path = "../linux/mod.rs"]
mod flavour;

#[cfg(not(all(target_os = "linux", not(portable_unix))))]
#[path = "../portable/mod.rs"]
mod flavour;

pub mod file;
pub mod folders;
pub mod identity;
pub mod lock;
pub mod no_symlink;
pub mod owner;
pub mod path;
pub mod permissions;
pub(crate) mod process;
pub(crate) mod program;
pub(crate) mod stamp;
pub mod stdin;
pub mod terminal;

pub use flavour::{host, rename, sync};
