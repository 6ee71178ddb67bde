//! The seal of a file of ours: a format version and a checksum, so that a newer version's
//! file is refused by name and a changed byte is found.
//!
//! `{"v":1,…,"checksum":"<32 hex digits>"}` and a line feed. It covers everything before
//! `,"checksum"`, as the sum in a line of the journal does. Each end of the file has a mark, so no single
//! changed byte can make a sealed file look like one of a version that wrote no seals.

use std::borrow::Cow;
use std::path::Path;

use crate::ShownPath as _;
use crate::{Trouble, digest, torn};

/// The format that this version writes, and the newest that it reads.
pub const FORMAT: u32 = 1;

const BEGINNING: &[u8] = b"{\"v\":";
const NAME: &[u8] = b"\"checksum\"";
const SUM: &[u8] = b",\"checksum\":\"";
const END: &[u8] = b"\"}";

/// The text of a file that holds this JSON object.
pub fn seal(path: &Path, object: &str) -> Result<String, Trouble> {
    let fields = object.trim_ascii().strip_prefix('{');
    let Some(fields) = fields.and_then(|rest| rest.strip_suffix('}')) else {
        return Err(Trouble::Other(format!(
            "internal: what {} is to hold is no object",
            path.shown()
        )));
    };
    let room = BEGINNING.len() + fields.len() + SUM.len() + digest::HEX + END.len() + 8;
    let mut text = String::with_capacity(room);
    text += "{\"v\":";
    text += &FORMAT.to_string();
    if !fields.trim_ascii().is_empty() {
        text.push(',');
        text += fields;
    }
    let sum = digest::of(&[text.as_bytes()]).0;
    for piece in [",\"checksum\":\"", &sum, "\"}\n"] {
        text += piece;
    }
    Ok(text)
}

/// The JSON object in a file of ours; the bytes as they are, if the file is of a version
/// that wrote no seals.
pub fn unseal<'a>(path: &Path, bytes: &'a [u8]) -> Result<Cow<'a, [u8]>, Trouble> {
    let Some(rest) = bytes.strip_prefix(BEGINNING) else {
        // In JSON text these bytes are the name of a field: a quote in a string is escaped.
        let sealed = bytes.windows(NAME.len()).any(|window| window == NAME);
        return if sealed {
            Err(changed(path))
        } else {
            Ok(Cow::Borrowed(bytes))
        };
    };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (version, rest) = rest.split_at(digits);
    let version = std::str::from_utf8(version).unwrap_or_default();
    let newer = || Trouble::Newer {
        path: path.into(),
        version: version.into(),
    };
    match version.parse::<u32>() {
        Ok(version) if version > FORMAT => return Err(newer()),
        Ok(_) => {}
        Err(_) if version.len() > 9 => return Err(newer()),
        Err(_) => return Err(changed(path)),
    }
    let fields = fields(bytes, rest).ok_or_else(|| changed(path))?;
    let mut object = Vec::with_capacity(fields.len() + 2);
    object.push(b'{');
    object.extend_from_slice(fields);
    object.push(b'}');
    Ok(Cow::Owned(object))
}

/// Is this what a power loss left of a file of ours that was not synced: nothing, its beginning,
/// or zeros?
pub fn is_torn(bytes: &[u8]) -> bool {
    let whole = [bytes, bytes.split_last().map_or(bytes, |(_, rest)| rest)];
    let has_end = || whole.iter().any(|bytes| torn::has_end(bytes, SUM, END));
    // A newer version may end its files in another way.
    let is_ours = || bytes.starts_with(format!("{{\"v\":{FORMAT},").as_bytes());
    bytes.is_empty() || torn::has_zeros(bytes) || (!has_end() && is_ours())
}

/// The fields between version and sum, if the sum is right.
fn fields<'a>(bytes: &[u8], rest: &'a [u8]) -> Option<&'a [u8]> {
    let rest = rest.trim_ascii_end().strip_suffix(END)?;
    let (rest, sum) = rest.split_at_checked(rest.len().checked_sub(digest::HEX)?)?;
    let fields = rest.strip_suffix(SUM)?;
    let covered = bytes.trim_ascii_end().len() - SUM.len() - digest::HEX - END.len();
    if digest::of(&[&bytes[..covered]]).0.as_bytes() != sum {
        return None;
    }
    match fields {
        [] => Some(fields),
        [b',', fields @ ..] => Some(fields),
        _ => None,
    }
}

fn changed(path: &Path) -> Trouble {
    Trouble::Damaged { path: path.into() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn path() -> &'static Path {
        Path::new("/state/gate.json")
    }

    fn unsealed(bytes: &[u8]) -> Result<Vec<u8>, Trouble> {
        unseal(path(), bytes).map(Cow::into_owned)
    }

    #[test]
    fn a_sealed_file_is_one_line_of_json_with_its_version_and_its_sum() {
        let text = seal(path(), r#"{"switch":"on"}"#).unwrap();
        assert_eq!(
            text,
            "{\"v\":1,\"switch\":\"on\",\"checksum\":\"c3600304ad5abee1470c5adff6af1cb4\"}\n"
        );
        assert_eq!(unsealed(text.as_bytes()).unwrap(), br#"{"switch":"on"}"#);
        let empty = seal(path(), "{}").unwrap();
        assert_eq!(unsealed(empty.as_bytes()).unwrap(), b"{}");
        assert!(seal(path(), "\"still\"").is_err());
    }

    /// Every byte, changed to every other.
    #[test]
    fn any_changed_byte_is_found() {
        let text = seal(path(), r#"{"switch":"on","stage":"said"}"#).unwrap();
        let line = text.trim_end().as_bytes();
        for at in 0..line.len() {
            for flip in 1..=u8::MAX {
                let mut changed = line.to_vec();
                changed[at] ^= flip;
                let found = unsealed(&changed);
                assert!(found.is_err(), "byte {at}: {found:?}");
            }
        }
        for length in 1..line.len() {
            let cut = unsealed(&line[..length]);
            let short = length < BEGINNING.len();
            assert!(short || cut.is_err(), "cut to {length}");
        }
    }

    #[test]
    fn what_a_power_loss_leaves_is_told_from_a_changed_byte() {
        let text = seal(path(), r#"{"project":"/home/me/project"}"#).unwrap();
        for length in 0..text.len() - 1 {
            let mut zeros = text.as_bytes()[..length].to_vec();
            assert!((1..7).contains(&length) || is_torn(&zeros), "{length}");
            zeros.resize(text.len(), 0);
            assert!(is_torn(&zeros), "{length} and zeros");
        }
        for at in 0..text.len() {
            for flip in 1..=u8::MAX {
                let mut changed = text.clone().into_bytes();
                changed[at] ^= flip;
                assert!(!is_torn(&changed), "byte {at}");
            }
        }
        assert!(!is_torn(br#"{"v":2,"new":[]}"#), "a newer version's");
    }

    #[test]
    fn an_edit_by_hand_is_named_with_what_to_do() {
        for edited in [
            r#"{"v":1,"switch":"off"}"#,
            r#"{"v": 1, "switch": "off", "checksum": "00"}"#,
            "{\n  \"v\": 1,\n  \"checksum\": \"\"\n}\n",
        ] {
            let message = unsealed(edited.as_bytes()).unwrap_err().to_string();
            assert!(message.contains("/state/gate.json"), "{message}");
            assert!(message.contains("mainspring doctor --fix"), "{message}");
        }
    }

    #[test]
    fn a_newer_version_is_named_and_one_without_a_seal_is_read_as_it_is() {
        for newer in ["{\"v\":2,\"new\":[]}", "{\"v\":99999999999999999999}"] {
            let message = unsealed(newer.as_bytes()).unwrap_err().to_string();
            assert!(message.contains("/state/gate.json"), "{message}");
            assert!(message.contains("upgrade"), "{message}");
        }
        for earlier in ["{\"switch\":\"on\"}\n", "/home/me/project", "", "{"] {
            assert_eq!(unsealed(earlier.as_bytes()).unwrap(), earlier.as_bytes());
        }
    }

    proptest! {
        #[test]
        fn what_was_sealed_is_what_is_unsealed(key in "[a-z]{2,9}", words in ".*", number: i64) {
            let object = json!({ key: [words, number, null] }).to_string();
            let sealed = seal(path(), &object).unwrap();
            prop_assert_eq!(unsealed(sealed.as_bytes()).unwrap(), object.as_bytes());
            let value: serde_json::Value = serde_json::from_str(&sealed).unwrap();
            prop_assert_eq!(&value["v"], &json!(FORMAT));
        }
    }
}
