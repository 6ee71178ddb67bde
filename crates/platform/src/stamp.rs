//! What tells whether a file has changed since it was last read, without reading it.

pub use crate::system::stamp::{Folder, of};

/// A file's stamp. The time of its last change of status cannot be set by a user, so two files
/// with one stamp have one content, unless they changed while the stamp was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    pub kind: Kind,
    pub inode: u64,
    pub size: u64,
    /// In nanoseconds since 1970.
    pub modified: i64,
    pub changed: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    File,
    Executable,
    Symlink,
    Folder,
    /// A socket, a pipe or a device.
    Other,
}
