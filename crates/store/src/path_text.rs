//! Paths in records. A record is JSON, which is text, but a path may contain any bytes. If it came
//! back as another path, the file's state would be lost silently.

use std::borrow::Cow;
use std::path::Path;

use mainspring_kernel::journal::FileChange;
use mainspring_platform::path;

use crate::ShownPath as _;

/// No path contains this character, so a text that starts with it encodes bytes: printable ASCII as
/// it is, everything else as `%` and two hex digits.
const BYTES: char = '\0';

pub fn to_text(named: &Path) -> String {
    if let Some(text) = named.to_str() {
        return text.to_owned();
    }
    let mut text = String::from(BYTES);
    for byte in path::bytes(named) {
        match byte {
            b'%' => text.push_str("%25"),
            b' '..=b'~' => text.push(char::from(*byte)),
            _ => text.push_str(&format!("%{byte:02x}")),
        }
    }
    text
}

/// A text that [`to_text`] cannot have written is returned unchanged, and is not the path of any
/// file.
pub fn from_text(text: &str) -> Cow<'_, Path> {
    let bytes = text.strip_prefix(BYTES).and_then(decode);
    bytes.map_or(Cow::Borrowed(Path::new(text)), |bytes| {
        Cow::Owned(path::from_bytes(bytes))
    })
}

/// The path of a change, for messages.
pub(crate) fn shown(change: &FileChange) -> String {
    from_text(&change.path).shown()
}

fn decode(text: &str) -> Option<Vec<u8>> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_path_comes_back(bytes in prop::collection::vec(1_u8.., 0..40)) {
            let path = path::from_bytes(bytes);
            let text = to_text(&path);
            let back = from_text(&text);
            prop_assert_eq!(back.as_os_str(), path.as_os_str());
            prop_assert_eq!(text.starts_with(BYTES), path.to_str().is_none());
        }

        #[test]
        fn no_text_is_too_odd_to_be_read(text in "[^\0]{0,20}") {
            let odd = format!("\0{text}");
            drop(from_text(&odd));
            let back = from_text(&text);
            prop_assert_eq!(back.as_os_str(), Path::new(&text).as_os_str());
        }
    }
}
