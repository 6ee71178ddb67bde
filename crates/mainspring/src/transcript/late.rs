//! Some hosts write a transcript a moment later than they send the events that it is about, or even
//! begin it then.

use std::thread;
use std::time::Instant;

use crate::limits;

/// Looks until it finds something, but not for long: what is not there by then is not read.
pub(crate) fn look_again<T>(look: impl Fn() -> Option<T>) -> Option<T> {
    let end = Instant::now() + limits::LATE_LINES;
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if Instant::now() >= end {
            return None;
        }
        thread::sleep(limits::LATE_LINES_POLL);
    }
}
