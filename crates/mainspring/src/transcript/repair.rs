//! Turns JSON as hosts write it into valid JSON.

use std::fmt::Write;

/// A copy without what `serde_json` rejects in real transcripts and payloads: halves of
/// surrogate pairs and bytes that are not UTF-8 become U+FFFD; control characters are escaped
/// in strings and become spaces outside of them. Other errors remain.
pub fn repair(json: &[u8]) -> String {
    let json = String::from_utf8_lossy(json);
    let mut out = String::with_capacity(json.len());
    let mut in_string = false;
    let mut rest = json.as_ref();
    while let Some(first) = rest.chars().next() {
        let mut taken = first.len_utf8();
        match (first, in_string) {
            ('"', _) => {
                in_string = !in_string;
                out.push('"');
            }
            ('\\', true) => taken = escape(rest, &mut out),
            (control, true) if control.is_control() => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            (control, false) if control.is_control() => out.push(' '),
            ('\u{feff}' | '\u{fffd}', false) => out.push(' '),
            (other, _) => out.push(other),
        }
        rest = &rest[taken..];
    }
    out
}

/// Copies one escape, or two that are one surrogate pair. Returns its length in `rest`.
fn escape(rest: &str, out: &mut String) -> usize {
    const PAIR: usize = "\\ud83c\\udf89".len();
    const UNIT: usize = "\\ud83c".len();
    match (unit(rest), rest.get(UNIT..).and_then(unit)) {
        (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => {
            out.push_str(&rest[..PAIR]);
            PAIR
        }
        (Some(0xd800..=0xdfff), _) => {
            out.push('\u{fffd}');
            UNIT
        }
        // Any other escape has two characters, or its first two can be copied as they are.
        _ => {
            let length = rest.chars().take(2).map(char::len_utf8).sum();
            out.push_str(&rest[..length]);
            length
        }
    }
}

/// The code unit of a `\uXXXX` at the start of `text`.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit())
        .then(|| u16::from_str_radix(digits, 16).ok())?
}
