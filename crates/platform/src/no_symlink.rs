//! Files and folders that are reached without following any symlink. The system refuses a symlink
//! anywhere on the way, in one step, so that nobody can create one between a check and a use.
//! [`crate::file::is_symlink_error`] recognizes such a refusal.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, ResolveFlags, statat};
use rustix::io::Errno;

use crate::file;

const NO_LINKS: ResolveFlags = ResolveFlags::NO_SYMLINKS.union(ResolveFlags::NO_MAGICLINKS);

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

/// Does it exist, with no symlink on the way to it? If that is unknown, no.
pub fn leads_to(path: &Path) -> bool {
    // Without `NOFOLLOW`, which would open a symlink at the end itself.
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    rustix::fs::openat2(CWD, path, flags, Mode::empty(), NO_LINKS).is_ok()
}

/// The entries of a folder, at most `most`.
pub fn list(folder: &Path, most: usize) -> io::Result<Vec<Entry>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let handle = open_with(folder, flags)?;
    Ok(entries(&handle, most)?)
}

fn entries(handle: &OwnedFd, most: usize) -> Result<Vec<Entry>, Errno> {
    // Enough for most folders in one call, and small enough not to touch memory in vain.
    let mut room = Vec::with_capacity(4096);
    let mut reader = RawDir::new(handle, room.spare_capacity_mut());
    let mut found = Vec::new();
    while let Some(entry) = reader.next() {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        if found.len() == most {
            break;
        }
        let kind = match entry.file_type() {
            // Some file systems report the type only on request.
            FileType::Unknown => statat(handle, name, AtFlags::SYMLINK_NOFOLLOW)
                .map_or(FileType::Unknown, |meta| {
                    FileType::from_raw_mode(meta.st_mode)
                }),
            known => known,
        };
        found.push(Entry {
            name: OsStr::from_bytes(name.to_bytes()).to_owned(),
            is_folder: kind.is_dir(),
        });
    }
    Ok(found)
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
    open_with(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC)
}

fn open_with(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    match rustix::fs::openat2(CWD, path, flags, Mode::empty(), NO_LINKS) {
        // An old kernel, or a container that forbids the call.
        Err(Errno::NOSYS | Errno::PERM) => open_after_a_look(path, flags),
        opened => opened,
    }
}

/// The same in two steps, for kernels that cannot do it in one.
fn open_after_a_look(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
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
