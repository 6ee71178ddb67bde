//! The computer, and its source of randomness.

use std::io;
use std::ptr::null_mut;

use windows_sys::Win32::Foundation::ERROR_SUCCESS;
use windows_sys::Win32::Security::Cryptography::{
    BCRYPT_USE_SYSTEM_PREFERRED_RNG, BCryptGenRandom,
};
use windows_sys::Win32::System::Registry::{HKEY_LOCAL_MACHINE, RRF_RT_REG_DWORD, RegGetValueW};
use windows_sys::Win32::System::SystemInformation::{
    ComputerNamePhysicalDnsHostname, GetComputerNameExW, GetTickCount64,
};

use super::{check, length, size_of, wide};

/// Milliseconds since the computer started.
pub(in super::super) fn uptime() -> u64 {
    // SAFETY: nothing is passed.
    unsafe { GetTickCount64() }
}

/// How often this computer has started.
pub(in super::super) fn boot_number() -> Option<u32> {
    let key = wide(
        r"SYSTEM\CurrentControlSet\Control\Session Manager\Memory Management\PrefetchParameters",
    );
    let name = wide("BootId");
    let mut number = 0_u32;
    let mut size = size_of::<u32>();
    // SAFETY: both texts end with a zero, and the number is ours and has this size.
    let status = unsafe {
        RegGetValueW(
            HKEY_LOCAL_MACHINE,
            key.as_ptr(),
            name.as_ptr(),
            RRF_RT_REG_DWORD,
            null_mut(),
            (&raw mut number).cast(),
            &raw mut size,
        )
    };
    (status == ERROR_SUCCESS).then_some(number)
}

pub(in super::super) fn computer_name() -> Option<String> {
    let mut name = [0; 256];
    let mut used = length(&name);
    // SAFETY: the buffer is ours and has this length.
    check(unsafe {
        GetComputerNameExW(
            ComputerNamePhysicalDnsHostname,
            name.as_mut_ptr(),
            &raw mut used,
        )
    })
    .ok()?;
    let used = usize::try_from(used).ok()?;
    Some(String::from_utf16_lossy(name.get(..used)?))
}

pub(in super::super) fn random(bytes: &mut [u8]) -> io::Result<()> {
    // SAFETY: the buffer is ours and has this length.
    let status = unsafe {
        BCryptGenRandom(
            null_mut(),
            bytes.as_mut_ptr(),
            length(bytes),
            BCRYPT_USE_SYSTEM_PREFERRED_RNG,
        )
    };
    if status < 0 {
        return Err(io::Error::other("the system gave no random bytes"));
    }
    Ok(())
}
