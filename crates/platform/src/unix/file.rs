//! Opens and reads files without blocking and without following a symlink.

use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::buffer::spare_capacity;
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use super::permissions::OWNER_ONLY_FILE;

/// For every file that somebody else may have created. A symlink at the end of the path is not
/// followed; a FIFO opens at once instead of waiting for a writer that never comes; a terminal does
/// not become our controlling terminal.
pub(crate) const SAFE: OFlags = OFlags::NOFOLLOW
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOCTTY);

/// Options that follow no symlink at the end of the path and never block. A file created with them
/// is readable by its owner only.
pub fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options
        .mode(OWNER_ONLY_FILE)
        .custom_flags(i32::try_from(SAFE.bits()).unwrap_or(0));
    options
}

/// Opens for reading whatever is there, unless it is a symlink. Check what it is before you read.
pub fn open(path: &Path) -> io::Result<File> {
    options().read(true).open(path)
}

/// Creates a file for its owner only, and opens it for writing. If a crash, or another process
/// without a lock, left something under that name, it is overwritten.
pub fn create(path: &Path) -> io::Result<File> {
    create_in(CWD, path)
}

/// The same in an open folder. A newly created file is a regular one and need not be checked.
pub(crate) fn create_in(folder: impl AsFd + Copy, name: &Path) -> io::Result<File> {
    let open = |how: OFlags| {
        let flags = OFlags::WRONLY | SAFE | how;
        let mode = Mode::RUSR | Mode::WUSR;
        retry_on_intr(|| rustix::fs::openat(folder, name, flags, mode)).map(File::from)
    };
    match open(OFlags::CREATE | OFlags::EXCL) {
        Err(Errno::EXIST) => {}
        made => return Ok(made?),
    }
    let file = open(OFlags::CREATE)?;
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(Errno::EXIST.into());
    }
    if meta.nlink() > 1 {
        // A crash left it as a second name of the file that it was to become.
        rustix::fs::unlinkat(folder, name, AtFlags::empty())?;
        return Ok(open(OFlags::CREATE | OFlags::EXCL)?);
    }
    file.set_len(0)?;
    file.set_permissions(Permissions::from_mode(OWNER_ONLY_FILE))?;
    Ok(file)
}

/// One read into the free room of `bytes`; 0 at the end. The rest of the room is not touched.
pub fn read(file: &File, bytes: &mut Vec<u8>) -> io::Result<usize> {
    Ok(rustix::io::read(file, spare_capacity(bytes))?)
}

/// One read at this offset.
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    file.read_at(buffer, offset)
}

pub fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    file.read_exact_at(buffer, offset)
}

pub fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    file.write_all_at(bytes, offset)
}

/// Did opening fail because the file, or a folder on the way to it, is a symlink?
pub fn is_symlink_error(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::LOOP.raw_os_error())
}

/// Did opening fail because it is a socket, or a device without a driver?
pub fn is_special_error(error: &io::Error) -> bool {
    let special = [Errno::NXIO, Errno::NODEV];
    special
        .iter()
        .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}
