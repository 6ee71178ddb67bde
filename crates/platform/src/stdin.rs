//! Stdin, read without the standard library's buffer: it is memory to touch, and a copy.

use std::io;

use rustix::buffer::spare_capacity;
use rustix::io::retry_on_intr;

/// One read, into the room that `bytes` has left; 0 at the end.
pub fn read(bytes: &mut Vec<u8>) -> io::Result<usize> {
    let read = retry_on_intr(|| rustix::io::read(rustix::stdio::stdin(), spare_capacity(bytes)))?;
    Ok(read)
}
