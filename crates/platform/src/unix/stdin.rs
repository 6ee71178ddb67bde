//! Reads stdin without the standard library's buffer, which would cost memory and a copy.

use std::io;
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;

/// One read into the free room of `bytes`; 0 at the end.
pub fn read(bytes: &mut Vec<u8>) -> io::Result<usize> {
    let read = retry_on_intr(|| rustix::io::read(rustix::stdio::stdin(), spare_capacity(bytes)))?;
    Ok(read)
}

/// Is there something to read, or the end, before this long has passed?
pub fn is_ready(within: Duration) -> bool {
    let stdin = rustix::stdio::stdin();
    let mut watched = [PollFd::new(&stdin, PollFlags::IN)];
    let within = Timespec::try_from(within).ok();
    retry_on_intr(|| poll(&mut watched, within.as_ref())).is_ok_and(|ready| ready > 0)
}
