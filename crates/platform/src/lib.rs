//! What differs between operating systems, and nothing else: no rule of the product is here.
//!
//! A function's documentation says what it does for its caller, not how it asks the system. The
//! modules have the same functions everywhere:
//!
//! - `windows/` is for Windows;
//! - `unix/` is what all Unix systems have in common. Where Linux has a better way than POSIX,
//!   `linux/` takes it, and `portable/` has the plain way. macOS runs the plain way. So does a
//!   build for Linux with `--cfg portable_unix`, and that is how the plain way is tested.
//!
//! A test keeps system calls and system paths out of the other crates.

#[cfg(unix)]
#[path = "unix/mod.rs"]
mod system;

#[cfg(windows)]
#[path = "windows/mod.rs"]
mod system;

pub mod process;
pub mod program;
pub mod stamp;

pub use system::{
    file, folders, host, identity, lock, no_symlink, owner, path, permissions, rename, stdin, sync,
    terminal,
};
