//! Reads stdin without the standard library's buffer, which would cost memory and a copy.

use std::fs::File;
use std::io;
use std::os::windows::io::AsHandle;
use std::thread;
use std::time::{Duration, Instant};

use super::{api, file};

/// One read into the free room of `bytes`; 0 at the end.
pub fn read(bytes: &mut Vec<u8>) -> io::Result<usize> {
    let mut stdin = handle()?;
    match file::read_from(&mut stdin, bytes) {
        // The other end of the pipe is closed.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(0),
        read => read,
    }
}

/// Is there something to read, or the end, before this long has passed?
pub fn is_ready(within: Duration) -> bool {
    let Ok(stdin) = handle() else {
        return true;
    };
    let begun = Instant::now();
    while !api::has_input(&stdin) {
        if begun.elapsed() >= within {
            return false;
        }
        thread::sleep(Duration::from_millis(1));
    }
    true
}

fn handle() -> io::Result<File> {
    Ok(io::stdin().as_handle().try_clone_to_owned()?.into())
}
