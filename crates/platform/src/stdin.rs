//! Reads stdin without the standard library's buffer, which would cost memory and a copy.

use std::io;

use rustix::buffer::spare_capacity;
use rustix::io::retry_on_intr;

/// One read into the free room of `bytes`; 0 at the end.
pub fn read(bytes: &mut Vec<u8>) -> io::Result<usize> {
    let read = retry_on_intr(|| rustix::io::read(rustix::stdio::stdin(), spare_capacity(bytes)))?;
    Ok(read)
}
