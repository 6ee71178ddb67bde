//! Files and pipes.

use std::fs::File;
use std::io;
use std::os::windows::io::AsRawHandle;
use std::ptr::null_mut;

use windows_sys::Win32::Foundation::{
    ERROR_IO_PENDING, ERROR_LOCK_VIOLATION, HANDLE_FLAG_INHERIT, SetHandleInformation,
};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_BASIC_INFO, FILE_TYPE_PIPE, FileBasicInfo,
    GetFileInformationByHandle, GetFileInformationByHandleEx, GetFileType, LOCKFILE_EXCLUSIVE_LOCK,
    LOCKFILE_FAIL_IMMEDIATELY, LockFileEx,
};
use windows_sys::Win32::System::IO::OVERLAPPED;
use windows_sys::Win32::System::Pipes::PeekNamedPipe;

use super::{check, size_of};
use crate::system::file::error;

/// What tells a file from another one.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Information {
    pub(in super::super) volume: u32,
    pub(in super::super) index: u64,
    /// How many names it has.
    pub(in super::super) links: u32,
}

pub(in super::super) fn information(file: &File) -> io::Result<Information> {
    let mut found = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the handle is open, and the structure is ours.
    check(unsafe { GetFileInformationByHandle(file.as_raw_handle(), &raw mut found) })?;
    Ok(Information {
        volume: found.dwVolumeSerialNumber,
        index: u64::from(found.nFileIndexHigh) << 32 | u64::from(found.nFileIndexLow),
        links: found.nNumberOfLinks,
    })
}

/// When it was last written, and when anything about it last changed: in units of 100 ns since
/// 1601.
pub(in super::super) fn times(file: &File) -> io::Result<(i64, i64)> {
    let mut found = FILE_BASIC_INFO::default();
    // SAFETY: the handle is open, and the structure is ours and has this size.
    check(unsafe {
        GetFileInformationByHandleEx(
            file.as_raw_handle(),
            FileBasicInfo,
            (&raw mut found).cast(),
            size_of::<FILE_BASIC_INFO>(),
        )
    })?;
    Ok((found.LastWriteTime, found.ChangeTime))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Wait {
    Yes,
    No,
}

/// Takes a lock, and says whether it did. Others cannot read what is locked. So the lock is on one
/// byte that is far behind the end of any file.
pub(in super::super) fn lock(file: &File, wait: Wait) -> io::Result<bool> {
    let flags = match wait {
        Wait::Yes => LOCKFILE_EXCLUSIVE_LOCK,
        Wait::No => LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY,
    };
    let mut at = OVERLAPPED::default();
    at.Anonymous.Anonymous.OffsetHigh = 1 << 30;
    // SAFETY: the handle is open for synchronous use, so the call is over when it returns, and the
    // structure is ours until then.
    let locked = check(unsafe { LockFileEx(file.as_raw_handle(), flags, 0, 1, 0, &raw mut at) });
    match locked {
        Ok(()) => Ok(true),
        Err(failed) => {
            let busy = [ERROR_LOCK_VIOLATION, ERROR_IO_PENDING].map(error);
            let is_busy = busy
                .iter()
                .any(|busy| busy.raw_os_error() == failed.raw_os_error());
            if is_busy { Ok(false) } else { Err(failed) }
        }
    }
}

/// Children inherit this file.
pub(in super::super) fn inherit(file: &File) -> io::Result<()> {
    // SAFETY: the handle is open.
    check(unsafe {
        SetHandleInformation(
            file.as_raw_handle(),
            HANDLE_FLAG_INHERIT,
            HANDLE_FLAG_INHERIT,
        )
    })
}

/// Would a read return at once? For anything but a pipe, yes.
pub(in super::super) fn has_input(file: &File) -> bool {
    let handle = file.as_raw_handle();
    let mut waiting = 0;
    // SAFETY: the handle is open, and the number is ours.
    let (is_pipe, looked) = unsafe {
        let is_pipe = GetFileType(handle) == FILE_TYPE_PIPE;
        let looked = PeekNamedPipe(
            handle,
            null_mut(),
            0,
            null_mut(),
            &raw mut waiting,
            null_mut(),
        );
        (is_pipe, looked)
    };
    // A pipe whose other end is closed cannot be looked into; a read says that it ended.
    !is_pipe || looked == 0 || waiting > 0
}
