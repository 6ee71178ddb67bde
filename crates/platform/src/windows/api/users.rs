//! Users, and who owns a file.

use std::fs::OpenOptions;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::path::Path;
use std::ptr::null_mut;

use windows_sys::Win32::Foundation::{ERROR_SUCCESS, HANDLE, LocalFree};
use windows_sys::Win32::Security::Authorization::{GetSecurityInfo, SE_FILE_OBJECT};
use windows_sys::Win32::Security::{
    GetLengthSid, GetTokenInformation, IsWellKnownSid, OWNER_SECURITY_INFORMATION, PSID,
    TOKEN_QUERY, TOKEN_USER, TokenUser, WinBuiltinAdministratorsSid, WinLocalSystemSid,
};
use windows_sys::Win32::Storage::FileSystem::READ_CONTROL;
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

use super::check;
use crate::system::file::SAFE;

/// The id of a user or a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Sid(Vec<u8>);

impl Sid {
    /// A copy of the id that is at this address.
    ///
    /// # Safety
    /// There must be a valid one.
    unsafe fn copy(from: PSID) -> Option<Self> {
        if from.is_null() {
            return None;
        }
        // SAFETY: the caller says so.
        let length = usize::try_from(unsafe { GetLengthSid(from) }).ok()?;
        // SAFETY: a valid id has this length.
        let bytes = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), length) };
        Some(Self(bytes.to_vec()))
    }

    /// Its last part, which tells the users of one computer apart.
    pub(in super::super) fn relative_id(&self) -> u32 {
        let last = self.0.last_chunk::<4>();
        last.map_or(0, |last| u32::from_le_bytes(*last))
    }

    /// The administrators, or the system itself.
    pub(in super::super) fn is_of_the_system(&self) -> bool {
        [WinBuiltinAdministratorsSid, WinLocalSystemSid]
            .into_iter()
            // SAFETY: the bytes are a copy of a valid id, and are only read.
            .any(|kind| unsafe { IsWellKnownSid(self.0.as_ptr().cast_mut().cast(), kind) } != 0)
    }
}

/// The user that this process runs as.
pub(in super::super) fn me() -> Option<Sid> {
    let mut token: HANDLE = null_mut();
    // SAFETY: the process's own handle needs no closing, and the other one is ours.
    check(unsafe { OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &raw mut token) }).ok()?;
    // SAFETY: the function gave this handle to us alone.
    let token = unsafe { OwnedHandle::from_raw_handle(token) };
    // Windows puts a `TOKEN_USER` into it, and behind that the id that it points to.
    let mut buffer = [0_u64; 32];
    let mut used = 0;
    // SAFETY: the handle is open, and the buffer is ours, has this length, and is aligned for the
    // structure, whose pointer is into the same buffer.
    unsafe {
        check(GetTokenInformation(
            token.as_raw_handle(),
            TokenUser,
            buffer.as_mut_ptr().cast(),
            256,
            &raw mut used,
        ))
        .ok()?;
        Sid::copy((*buffer.as_ptr().cast::<TOKEN_USER>()).User.Sid)
    }
}

/// The owner of what is at this path. A symlink is not followed.
pub(in super::super) fn owner(path: &Path) -> Option<Sid> {
    let file = OpenOptions::new()
        .access_mode(READ_CONTROL)
        .custom_flags(SAFE)
        .open(path)
        .ok()?;
    let mut owner: PSID = null_mut();
    let mut descriptor = null_mut();
    // SAFETY: the handle is open, and both pointers are ours. The owner is a part of the descriptor,
    // which is freed only after it was copied.
    unsafe {
        let status = GetSecurityInfo(
            file.as_raw_handle(),
            SE_FILE_OBJECT,
            OWNER_SECURITY_INFORMATION,
            &raw mut owner,
            null_mut(),
            null_mut(),
            null_mut(),
            &raw mut descriptor,
        );
        if status != ERROR_SUCCESS {
            return None;
        }
        let copy = Sid::copy(owner);
        LocalFree(descriptor);
        copy
    }
}
