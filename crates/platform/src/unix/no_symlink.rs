//! Files and folders that are reached without following any symlink. A symlink anywhere on the way
//! is refused while the path is walked, so that nobody can create one between a check and a use.
//! [`crate::file::is_symlink_error`] recognizes such a refusal.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;

use super::file;
pub use super::flavour::no_symlink::leads_to;
use super::flavour::no_symlink::{FOLDER, entries, open_with};

/// An open folder. It stays the same folder, whatever happens to its path.
#[derive(Debug)]
pub struct Folder(OwnedFd);

/// An entry of a folder.
#[derive(Debug)]
pub struct Entry {
    pub name: OsString,
    pub is_folder: bool,
}

/// Opens for reading whatever is there. Check what it is before you read.
pub fn open(path: &Path) -> io::Result<File> {
    Ok(open_with(path, OFlags::RDONLY | file::SAFE)?.into())
}

/// The entries of a folder, at most `most`.
pub fn list(folder: &Path, most: usize) -> io::Result<Vec<Entry>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let handle = open_with(folder, flags)?;
    Ok(entries(&handle, most)?)
}

impl Folder {
    /// The folder that a file is in, created if missing, and the file's name in it.
    pub fn of(path: &Path) -> io::Result<(Self, &OsStr)> {
        let (folder, name) = parent(path)?;
        Ok((Self(folder), name))
    }

    /// Makes a file for its owner only, as [`file::create`] does.
    pub fn create(&self, name: &OsStr) -> io::Result<File> {
        file::create_in(&self.0, Path::new(name))
    }

    /// Renames a file within the folder.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.0, from, &self.0, to)?)
    }

    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }
}

fn parent(path: &Path) -> Result<(OwnedFd, &OsStr), Errno> {
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(Errno::INVAL);
    };
    match folder(above) {
        Err(Errno::NOENT) => {
            let (folder, made) = parent(above)?;
            match rustix::fs::mkdirat(folder, made, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => Ok((self::folder(above)?, name)),
                Err(errno) => Err(errno),
            }
        }
        found => Ok((found?, name)),
    }
}

fn folder(path: &Path) -> Result<OwnedFd, Errno> {
    open_with(path, FOLDER)
}

/// The same in two steps, where it cannot be done in one: an old kernel, or a folder on the way
/// that we may pass but not read.
pub(super) fn open_after_a_look(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let real = |path: &Path| {
        fs::canonicalize(path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => Errno::NOENT,
            _ => Errno::from_io_error(&error).unwrap_or(Errno::IO),
        })
    };
    let above = path.parent().unwrap_or(path);
    if real(above)? != above {
        return Err(Errno::LOOP);
    }
    rustix::fs::openat(CWD, path, flags | OFlags::NOFOLLOW, Mode::empty())
}
