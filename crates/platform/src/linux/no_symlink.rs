//! The kernel itself refuses symlinks, in one call.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, ResolveFlags, statat};
use rustix::io::Errno;

use crate::no_symlink::{Entry, open_after_a_look};

const NO_LINKS: ResolveFlags = ResolveFlags::NO_SYMLINKS.union(ResolveFlags::NO_MAGICLINKS);

/// How a folder is opened in which something will be made, renamed or removed.
pub(crate) const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Does it exist, with no symlink on the way to it? If that is unknown, no.
pub fn leads_to(path: &Path) -> bool {
    // Without `NOFOLLOW`, which would open a symlink at the end itself.
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    rustix::fs::openat2(CWD, path, flags, Mode::empty(), NO_LINKS).is_ok()
}

pub(crate) fn open_with(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    match rustix::fs::openat2(CWD, path, flags, Mode::empty(), NO_LINKS) {
        // An old kernel, or a container that forbids the call.
        Err(Errno::NOSYS | Errno::PERM) => open_after_a_look(path, flags),
        opened => opened,
    }
}

pub(crate) fn entries(handle: &OwnedFd, most: usize) -> Result<Vec<Entry>, Errno> {
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
