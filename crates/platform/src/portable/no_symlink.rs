//! Walks a path folder by folder, and follows no symlink. Each folder is opened in the one before,
//! so what happens to the path meanwhile makes no difference.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

use crate::no_symlink::{Entry, open_after_a_look};

/// How a folder is opened in which something will be made, renamed or removed.
pub(crate) const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

/// Does it exist, with no symlink on the way to it? If that is unknown, no.
pub fn leads_to(path: &Path) -> bool {
    let Some(name) = path.file_name() else {
        return walk(path).is_ok();
    };
    let above = path.parent().unwrap_or(path);
    let found = walk(above).and_then(|folder| kind(&folder, name));
    found.is_ok_and(|kind| !kind.is_symlink())
}

pub(crate) fn open_with(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let Some(name) = path.file_name() else {
        return walk(path);
    };
    match walk(path.parent().unwrap_or(path)) {
        Ok(folder) => open_in(&folder, name, flags),
        Err(Errno::ACCESS) => open_after_a_look(path, flags),
        Err(errno) => Err(errno),
    }
}

/// The folder at the end of this path.
fn walk(path: &Path) -> Result<OwnedFd, Errno> {
    let start = if path.has_root() { "/" } else { "." };
    let mut folder = openat(CWD, start, FOLDER, Mode::empty())?;
    for part in path.components() {
        match part {
            Component::Normal(name) => folder = open_in(&folder, name, FOLDER)?,
            // `..` may lead anywhere: to the folder above the target of a symlink.
            Component::ParentDir => return Err(Errno::LOOP),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    Ok(folder)
}

fn open_in(folder: &OwnedFd, name: &OsStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    match openat(folder, name, flags | OFlags::NOFOLLOW, Mode::empty()) {
        // Systems differ in what they say about a symlink that should be a folder.
        Err(Errno::NOTDIR | Errno::MLINK) if kind(folder, name).is_ok_and(FileType::is_symlink) => {
            Err(Errno::LOOP)
        }
        opened => opened,
    }
}

fn kind(folder: &OwnedFd, name: &OsStr) -> Result<FileType, Errno> {
    let meta = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(meta.st_mode))
}

pub(crate) fn entries(handle: &OwnedFd, most: usize) -> Result<Vec<Entry>, Errno> {
    let mut found = Vec::new();
    for entry in Dir::read_from(handle)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if matches!(name.as_bytes(), b"." | b"..") {
            continue;
        }
        if found.len() == most {
            break;
        }
        let kind = match entry.file_type() {
            // Some file systems report the type only on request.
            FileType::Unknown => kind(handle, name).unwrap_or(FileType::Unknown),
            known => known,
        };
        found.push(Entry {
            name: name.to_owned(),
            is_folder: kind.is_dir(),
        });
    }
    Ok(found)
}
