//! What tells whether a file has changed since it was last read, without reading it.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, Stat};
use rustix::io::Errno;

use super::flavour::no_symlink::FOLDER;
use crate::stamp::{Kind, Stamp};

/// The stamp of what is at this path; `None` if there is nothing. No symlink is followed.
pub fn of(path: &Path) -> io::Result<Option<Stamp>> {
    found(rustix::fs::lstat(path))
}

/// An open folder, in which many names are looked at.
#[derive(Debug)]
pub struct Folder(OwnedFd);

impl Folder {
    /// `None` if there is no such folder.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        match rustix::fs::open(path, FOLDER, Mode::empty()) {
            Ok(opened) => Ok(Some(Self(opened))),
            Err(errno) => nothing(errno),
        }
    }

    /// The stamp of what has this name in the folder; `None` if there is nothing. No symlink is
    /// followed.
    pub fn stamp(&self, name: &Path) -> io::Result<Option<Stamp>> {
        found(rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW))
    }
}

fn found(looked: rustix::io::Result<Stat>) -> io::Result<Option<Stamp>> {
    match looked {
        Ok(stat) => Ok(Some(stamp(&stat))),
        Err(errno) => nothing(errno),
    }
}

/// Is there nothing, or is it an error?
fn nothing<T>(errno: Errno) -> io::Result<Option<T>> {
    match errno {
        Errno::NOENT | Errno::NOTDIR => Ok(None),
        other => Err(other.into()),
    }
}

fn stamp(stat: &Stat) -> Stamp {
    Stamp {
        kind: match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => Kind::Symlink,
            FileType::Directory => Kind::Folder,
            FileType::RegularFile if stat.st_mode & 0o111 == 0 => Kind::File,
            FileType::RegularFile => Kind::Executable,
            _ => Kind::Other,
        },
        inode: stat.st_ino,
        size: u64::try_from(stat.st_size).unwrap_or(0),
        modified: nanos(stat.st_mtime, stat.st_mtime_nsec),
        changed: nanos(stat.st_ctime, stat.st_ctime_nsec),
    }
}

/// Systems differ in the type of the part below a second.
fn nanos(seconds: i64, rest: impl TryInto<i64>) -> i64 {
    let rest = rest.try_into().unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}
