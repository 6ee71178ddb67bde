//! Opens and reads files without following a symlink.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::windows::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use windows_sys::Win32::Foundation::{ERROR_STOPPED_ON_SYMLINK, WIN32_ERROR};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT,
};

use super::api;

/// For every file that somebody else may have created. A symlink is opened itself, so that it can
/// be refused; a folder opens, so that it is told from what is not there.
pub(super) const SAFE: u32 = FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS;

/// Options that follow no symlink at the end of the path. A file created with them is readable by
/// those who may read its folder.
pub fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.custom_flags(SAFE);
    options
}

/// Opens for reading whatever is there, unless it is a symlink. Check what it is before you read.
pub fn open(path: &Path) -> io::Result<File> {
    refuse_symlink(options().read(true).open(path)?)
}

pub(super) fn refuse_symlink(file: File) -> io::Result<File> {
    if file.metadata()?.file_type().is_symlink() {
        return Err(error(ERROR_STOPPED_ON_SYMLINK));
    }
    Ok(file)
}

/// Creates a file, and opens it for writing. If a crash, or another process without a lock, left
/// something under that name, it is overwritten.
pub fn create(path: &Path) -> io::Result<File> {
    let create_new = || options().write(true).create_new(true).open(path);
    match create_new() {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        made => return made,
    }
    let file = refuse_symlink(options().write(true).open(path)?)?;
    if !file.metadata()?.is_file() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    if api::information(&file)?.links > 1 {
        // A crash left it as a second name of the file that it was to become.
        drop(file);
        std::fs::remove_file(path)?;
        return create_new();
    }
    file.set_len(0)?;
    Ok(file)
}

/// One read into the free room of `bytes`; 0 at the end.
pub fn read(mut file: &File, bytes: &mut Vec<u8>) -> io::Result<usize> {
    read_from(&mut file, bytes)
}

pub(super) fn read_from(source: &mut impl Read, bytes: &mut Vec<u8>) -> io::Result<usize> {
    let length = bytes.len();
    bytes.resize(bytes.capacity(), 0);
    let read = source.read(&mut bytes[length..]);
    bytes.truncate(length + read.as_ref().map_or(0, |read| *read));
    read
}

/// One read at this offset.
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    file.seek_read(buffer, offset)
}

pub fn read_exact_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        match file.seek_read(buffer, offset)? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            read => {
                buffer = &mut buffer[read..];
                offset += read as u64;
            }
        }
    }
    Ok(())
}

pub fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.seek_write(bytes, offset)? {
            0 => return Err(ErrorKind::WriteZero.into()),
            written => {
                bytes = &bytes[written..];
                offset += written as u64;
            }
        }
    }
    Ok(())
}

/// Did opening fail because the file, or a folder on the way to it, is a symlink?
pub fn is_symlink_error(error: &io::Error) -> bool {
    error.raw_os_error() == self::error(ERROR_STOPPED_ON_SYMLINK).raw_os_error()
}

/// Did opening fail because it is a socket, or a device without a driver? Windows has neither in a
/// folder.
pub fn is_special_error(_error: &io::Error) -> bool {
    false
}

pub(super) fn error(code: WIN32_ERROR) -> io::Error {
    io::Error::from_raw_os_error(code.cast_signed())
}
