//! What differs between operating systems, and nothing else: no rule of the product is here.
//!
//! A function's documentation says what it does for its caller, not how it asks the system. So far
//! there is one implementation, for Linux. A test keeps system calls and system paths out of the
//! other crates.

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
pub mod stamp;
pub mod stdin;
pub mod sync;
