//! The functions of Windows that the standard library does not offer, each made safe. Only here is
//! code that the compiler cannot check: every function is small, and says why it is right.
#![expect(
    unsafe_code,
    reason = "Windows is asked through C functions; nothing outside this folder is unsafe"
)]

mod files;
mod processes;
mod system;
mod users;

use std::io;

use windows_sys::core::BOOL;

pub(super) use files::{Wait, has_input, information, inherit, lock, times};
pub(super) use processes::{Process, all_processes, assign, end_job, end_process, new_job, resume};
pub(super) use system::{boot_number, computer_name, random, uptime};
pub(super) use users::{Sid, me, owner};

/// An error, if the function said that it failed.
fn check(done: BOOL) -> io::Result<()> {
    if done == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// The size of a structure, for a function that wants to be told.
#[expect(clippy::cast_possible_truncation, reason = "structures are small")]
const fn size_of<T>() -> u32 {
    std::mem::size_of::<T>() as u32
}

/// The length of a buffer, for a function that counts in 32 bits.
fn length<T>(buffer: &[T]) -> u32 {
    u32::try_from(buffer.len()).unwrap_or(u32::MAX)
}

/// A text as Windows takes it.
fn wide(text: &str) -> Vec<u16> {
    text.encode_utf16().chain([0]).collect()
}
