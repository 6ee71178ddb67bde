//! JSON, read and written. All of it goes through one reader and one writer: each further
//! kind is the code of every type once more.

use std::io::{self, Write};

use serde::de::Error as _;
use serde::{Deserialize, Serialize};

/// What these bytes say.
pub fn read<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> serde_json::Result<T> {
    match str::from_utf8(bytes) {
        Ok(text) => serde_json::from_str(text),
        Err(_) => Err(serde_json::Error::custom("it is not UTF-8 text")),
    }
}

/// A value on one line.
pub fn text<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<String> {
    let bytes = bytes(value, ORDINARY_TEXT)?;
    // The writer of JSON writes text; to know it costs little beside that.
    Ok(String::from_utf8(bytes).unwrap_or_default())
}

/// The same as bytes, with this much room to begin with.
pub fn bytes<T: Serialize + ?Sized>(value: &T, room: usize) -> serde_json::Result<Vec<u8>> {
    let mut line = Line(Vec::with_capacity(room));
    serde_json::to_writer(&mut line, value)?;
    Ok(line.0)
}

const ORDINARY_TEXT: usize = 256;

/// What is written, as it grows.
#[derive(Debug)]
pub struct Line(Vec<u8>);

/// A string of JSON. Nobody calls it; that it is here has the code of strings built in this
/// crate, and not once more where a record is.
pub fn string(line: &mut Line, text: &str) -> serde_json::Result<()> {
    serde::Serializer::serialize_str(&mut serde_json::Serializer::new(line), text)
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    #[expect(
        clippy::inline_always,
        reason = "most pieces are one byte that is known here: a push, and not a call to copy"
    )]
    #[inline(always)]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match bytes {
            [byte] => self.0.push(*byte),
            _ => self.0.extend_from_slice(bytes),
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
