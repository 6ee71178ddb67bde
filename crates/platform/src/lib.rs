//! What differs between operating systems, and nothing else: no rule of the product is here.
//!
//! A function says what it does for its caller; how the system is asked is its own affair.
//! Today there is one implementation, for Linux. A test keeps the system's own calls and
//! paths out of the other crates.

pub mod file;
pub mod host;
pub mod identity;
pub mod lock;
pub mod no_symlink;
pub mod owner;
pub mod path;
pub mod permissions;
mod proc;
pub mod process;
pub mod program;
pub mod rename;
pub mod stdin;
pub mod sync;
