//! What tells whether a file has changed since it was last read, without reading it.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

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

/// The stamp of what is at this path; `None` if there is nothing. No symlink is followed.
pub fn of(path: &Path) -> io::Result<Option<Stamp>> {
    match fs::symlink_metadata(path) {
        Ok(meta) => Ok(Some(stamp(&meta))),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(None),
            _ => Err(error),
        },
    }
}

fn stamp(meta: &Metadata) -> Stamp {
    let kind = meta.file_type();
    let nanos = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000) + rest;
    Stamp {
        kind: if kind.is_symlink() {
            Kind::Symlink
        } else if kind.is_dir() {
            Kind::Folder
        } else if !kind.is_file() {
            Kind::Other
        } else if meta.mode() & 0o111 == 0 {
            Kind::File
        } else {
            Kind::Executable
        },
        inode: meta.ino(),
        size: meta.len(),
        modified: nanos(meta.mtime(), meta.mtime_nsec()),
        changed: nanos(meta.ctime(), meta.ctime_nsec()),
    }
}
