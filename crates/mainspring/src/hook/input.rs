//! Reads what a hook or a command gets on stdin.

use std::io;
use std::time::{Duration, Instant};

use mainspring_platform::stdin;

use crate::error::CliError;
use crate::limits;

#[derive(Debug)]
pub(crate) enum Input {
    Bytes(Vec<u8>),
    TooLarge,
    Unreadable(String),
}

/// Everything until the end, for a command that somebody gives a file.
pub(crate) fn whole() -> Result<Vec<u8>, CliError> {
    match read(stdin::read, |_| false) {
        Input::Bytes(bytes) => Ok(bytes),
        Input::TooLarge => {
            let most = limits::STDIN;
            Err(CliError::usage(format!("stdin has more than {most} bytes")).hint("name the file"))
        }
        Input::Unreadable(error) => Err(CliError::new(format!("cannot read stdin: {error}"))),
    }
}

/// A host's event. It ends with its JSON, because a host may leave the pipe open; and it must come
/// in time.
pub(crate) fn event() -> Input {
    let end = Instant::now() + limits::EVENT;
    let in_time = |bytes: &mut Vec<u8>| {
        if stdin::is_ready(end.saturating_duration_since(Instant::now())) {
            return stdin::read(bytes);
        }
        let waited = limits::EVENT.as_secs();
        Err(io::Error::other(format!(
            "it was not complete after {waited} s"
        )))
    };
    read(in_time, |bytes| {
        let is_end = bytes.trim_ascii_end().last() == Some(&b'}');
        // To look through a long one costs more than to ask whether it goes on, or is at its end.
        let is_short = bytes.len() < ORDINARY_EVENT;
        is_end
            && (is_short || !stdin::is_ready(Duration::ZERO))
            && mainspring_json::is_whole_object(bytes)
    })
}

/// Reads until the end, or until nothing more is wanted.
fn read(
    mut next: impl FnMut(&mut Vec<u8>) -> io::Result<usize>,
    is_whole: impl Fn(&[u8]) -> bool,
) -> Input {
    let mut bytes = Vec::with_capacity(ORDINARY_EVENT);
    let mut discarded = 0_u64;
    loop {
        bytes.reserve(1);
        match next(&mut bytes) {
            Ok(0) | Err(_) if discarded > 0 => return Input::TooLarge,
            Err(error) => return Input::Unreadable(error.to_string()),
            Ok(0) => return Input::Bytes(bytes),
            Ok(_) if bytes.len() as u64 > limits::STDIN => {
                discarded += bytes.len() as u64;
                bytes.clear();
                if discarded > 16 * limits::STDIN {
                    return Input::TooLarge;
                }
            }
            Ok(_) if discarded == 0 && is_whole(&bytes) => return Input::Bytes(bytes),
            Ok(_) => {}
        }
    }
}

/// Room for what a host mostly sends.
const ORDINARY_EVENT: usize = 4096;
