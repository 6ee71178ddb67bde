//! What tells whether a file has changed since it was last read, without reading it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use windows_sys::Win32::Storage::FileSystem::FILE_READ_ATTRIBUTES;

use super::{api, file};
use crate::stamp::{Kind, Stamp};

/// Opens what is there to ask about it. A symlink is not followed.
pub(super) fn open_for_a_look(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .access_mode(FILE_READ_ATTRIBUTES)
        .custom_flags(file::SAFE)
        .open(path)
}

/// The stamp of what is at this path; `None` if there is nothing. No symlink is followed.
pub fn of(path: &Path) -> io::Result<Option<Stamp>> {
    match open_for_a_look(path) {
        Ok(file) => stamp(&file).map(Some),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(None),
            _ => Err(error),
        },
    }
}

/// A folder in which many names are looked at.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// `None` if there is no such folder.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        let found = of(path)?.filter(|found| found.kind == Kind::Folder);
        Ok(found.map(|_| Self(path.to_owned())))
    }

    /// The stamp of what has this name in the folder; `None` if there is nothing. No symlink is
    /// followed.
    pub fn stamp(&self, name: &Path) -> io::Result<Option<Stamp>> {
        of(&self.0.join(name))
    }
}

fn stamp(file: &File) -> io::Result<Stamp> {
    let meta = file.metadata()?;
    let kind = meta.file_type();
    let (modified, changed) = api::times(file)?;
    Ok(Stamp {
        kind: if kind.is_symlink() {
            Kind::Symlink
        } else if kind.is_dir() {
            Kind::Folder
        } else if kind.is_file() {
            Kind::File
        } else {
            Kind::Other
        },
        inode: api::information(file)?.index,
        size: meta.len(),
        modified: nanos(modified),
        changed: nanos(changed),
    })
}

/// From units of 100 ns since 1601.
fn nanos(time: i64) -> i64 {
    const FROM_1601_TO_1970: i64 = 116_444_736_000_000_000;
    time.saturating_sub(FROM_1601_TO_1970).saturating_mul(100)
}
