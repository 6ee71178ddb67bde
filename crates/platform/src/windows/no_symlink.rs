//! Files and folders that are reached without following any symlink or junction. While a folder is
//! open and not shared for deletion, nobody can rename or replace it. So the folders on the way are
//! opened one after the other, and stay open until the last one is used.
//! [`crate::file::is_symlink_error`] recognizes a refusal.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use windows_sys::Win32::Foundation::ERROR_STOPPED_ON_SYMLINK;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_LIST_DIRECTORY, FILE_READ_ATTRIBUTES, FILE_SHARE_READ, FILE_SHARE_WRITE,
};

use super::{file, rename};

/// An open folder. It stays at its path.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    _way: Vec<File>,
}

/// An entry of a folder.
#[derive(Debug)]
pub struct Entry {
    pub name: OsString,
    pub is_folder: bool,
}

/// Opens for reading whatever is there. Check what it is before you read.
pub fn open(path: &Path) -> io::Result<File> {
    let _way = walk(path.parent().unwrap_or(path))?;
    file::open(path)
}

/// Does it exist, with no symlink on the way to it? If that is unknown, no.
pub fn leads_to(path: &Path) -> bool {
    let is_plain = || Ok::<_, io::Error>(!fs::symlink_metadata(path)?.is_symlink());
    let found = walk(path.parent().unwrap_or(path)).and_then(|_way| is_plain());
    found.unwrap_or(false)
}

/// The entries of a folder, at most `most`.
pub fn list(folder: &Path, most: usize) -> io::Result<Vec<Entry>> {
    let _way = walk(folder)?;
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)?.take(most) {
        let entry = entry?;
        found.push(Entry {
            name: entry.file_name(),
            is_folder: entry.file_type().is_ok_and(|kind| kind.is_dir()),
        });
    }
    Ok(found)
}

impl Folder {
    /// The folder that a file is in, created if missing, and the file's name in it.
    pub fn of(path: &Path) -> io::Result<(Self, &OsStr)> {
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(ErrorKind::InvalidInput.into());
        };
        Ok((Self::made(above)?, name))
    }

    fn made(path: &Path) -> io::Result<Self> {
        match walk(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let _above = Self::of(path)?;
                match fs::create_dir(path) {
                    Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
                    Ok(()) | Err(_) => {}
                }
                Ok(Self {
                    path: path.to_owned(),
                    _way: walk(path)?,
                })
            }
            way => Ok(Self {
                path: path.to_owned(),
                _way: way?,
            }),
        }
    }

    /// Makes a file, as [`file::create`] does.
    pub fn create(&self, name: &OsStr) -> io::Result<File> {
        file::create(&self.path.join(name))
    }

    /// Renames a file within the folder.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        rename::over(&self.path.join(from), &self.path.join(to))
    }

    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }
}

/// Opens every folder on the way to this one, and this one. The top of a disk cannot be replaced.
fn walk(path: &Path) -> io::Result<Vec<File>> {
    let mut way = Vec::new();
    let mut so_far = PathBuf::new();
    for part in path.components() {
        so_far.push(part);
        match part {
            Component::Normal(_) => way.extend(hold(&so_far)?),
            // `..` may lead anywhere: to the folder above the target of a symlink.
            Component::ParentDir => return Err(file::error(ERROR_STOPPED_ON_SYMLINK)),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    Ok(way)
}

fn hold(folder: &Path) -> io::Result<Option<File>> {
    let opened = OpenOptions::new()
        .access_mode(FILE_LIST_DIRECTORY | FILE_READ_ATTRIBUTES)
        .share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE)
        .custom_flags(file::SAFE)
        .open(folder);
    let (meta, opened) = match opened {
        Ok(opened) => (opened.metadata()?, Some(opened)),
        // We may pass it, but not read it. Those who may replace it are its owners.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            (fs::symlink_metadata(folder)?, None)
        }
        Err(error) => return Err(error),
    };
    if meta.file_type().is_symlink() {
        return Err(file::error(ERROR_STOPPED_ON_SYMLINK));
    }
    if !meta.is_dir() {
        return Err(ErrorKind::NotADirectory.into());
    }
    Ok(opened)
}
