//! Reads and writes JSON.
//!
//! Everything goes through one reader and one writer, because each further pair would compile the
//! code of every type once more. It is a crate of its own, because the compiler optimizes by crate:
//! the rest of the program is built for size, but writing a record touches every byte of it, so
//! this crate is built for speed.

mod fields;

use std::io::{self, Write};

use serde::de::Error as _;
use serde::{Deserialize, Serialize, Serializer};

pub use fields::{Fields, Row, list, list_lines, row};

/// Parses these bytes.
pub fn read<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> serde_json::Result<T> {
    match str::from_utf8(bytes) {
        Ok(text) => serde_json::from_str(text),
        Err(_) => Err(serde_json::Error::custom("it is not UTF-8 text")),
    }
}

/// Do these bytes begin with a whole object? Only brackets and strings are looked at: whether the
/// rest is JSON, its reader finds out.
pub fn is_whole_object(bytes: &[u8]) -> bool {
    let mut depth = 0_usize;
    let mut rest = bytes.iter();
    while let Some(byte) = rest.next() {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth <= 1 => return true,
            b'}' | b']' => depth -= 1,
            b'"' => {
                while let Some(byte) = rest.next()
                    && *byte != b'"'
                {
                    if *byte == b'\\' {
                        rest.next();
                    }
                }
            }
            _ => {}
        }
    }
    false
}

/// A value on one line.
pub fn text<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<String> {
    let bytes = bytes(value, ORDINARY_TEXT)?;
    // The writer writes only UTF-8; to check that costs little in comparison.
    Ok(String::from_utf8(bytes).unwrap_or_default())
}

/// The same as bytes, with this much initial capacity.
pub fn bytes<T: Serialize + ?Sized>(value: &T, room: usize) -> serde_json::Result<Vec<u8>> {
    let mut line = Line(Vec::with_capacity(room));
    serde_json::to_writer(&mut line, value)?;
    Ok(line.0)
}

const ORDINARY_TEXT: usize = 256;

/// The output while it grows.
#[derive(Debug, Default)]
struct Line(Vec<u8>);

impl Line {
    /// Writes a string. Because it is written here, all string code is compiled in this crate and
    /// not where it is used.
    fn string(&mut self, text: &str) -> serde_json::Result<()> {
        serde_json::Serializer::new(self).serialize_str(text)
    }
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_what_the_library_writes(key in ".*", word in ".*", number: i64) {
            let value = json!({ key: [word, number, null, true, {}] });
            let written = text(&value).unwrap();
            prop_assert_eq!(&written, &serde_json::to_string(&value).unwrap());
            prop_assert_eq!(bytes(&value, 0).unwrap(), written.as_bytes());
            prop_assert_eq!(read::<Value>(written.as_bytes()).unwrap(), value);
        }

        #[test]
        fn an_object_is_whole_at_its_last_byte_and_not_before(key in ".*", word in ".*", number: i64) {
            let value = json!({ key: [word, number, null, { "a": [] }], "b": {} });
            let written = text(&value).unwrap();
            prop_assert!(is_whole_object(written.as_bytes()));
            let with_rest = ["\u{feff}", &written, "\n"].concat();
            prop_assert!(is_whole_object(with_rest.as_bytes()));
            for end in 0..written.len() {
                prop_assert!(!is_whole_object(&written.as_bytes()[..end]));
            }
        }

        #[test]
        fn garbage_is_an_error_or_a_value(bytes: Vec<u8>) {
            let text = str::from_utf8(&bytes);
            match read::<Value>(&bytes) {
                Ok(value) => prop_assert_eq!(value, serde_json::from_str::<Value>(text.unwrap()).unwrap()),
                Err(error) => prop_assert_eq!(
                    error.to_string().starts_with("it is not UTF-8"),
                    text.is_err()
                ),
            }
        }
    }
}
