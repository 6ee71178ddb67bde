//! Real paths, and paths as bytes, which need not be text.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::windows::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf, Prefix};

/// UTF-8, in which half of a surrogate pair may stand alone.
pub fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

/// The path with these bytes. What is not UTF-8 is the path of no file.
pub fn of_bytes(bytes: &[u8]) -> &Path {
    Path::new(std::str::from_utf8(bytes).unwrap_or("\u{fffd}"))
}

/// The same, for bytes that become the path's own. Every path comes back as it was.
pub fn from_bytes(bytes: Vec<u8>) -> PathBuf {
    match String::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(error) => OsString::from_wide(&wide(error.as_bytes())).into(),
    }
}

/// UTF-16, with halves of surrogate pairs as they are. A byte that begins no character is a
/// replacement character.
fn wide(bytes: &[u8]) -> Vec<u16> {
    let mut units = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let [first, ..] = rest {
        let length = match first {
            0..0x80 => 1,
            0xc0..0xe0 => 2,
            0xe0..0xf0 => 3,
            0xf0..0xf8 => 4,
            _ => 0,
        };
        let Some((character, after)) = rest.split_at_checked(length).filter(|_| length > 0) else {
            units.push(0xfffd);
            rest = &rest[1..];
            continue;
        };
        let mask = if length == 1 {
            0x7f
        } else {
            0x7f_u32 >> length
        };
        let code = character[1..]
            .iter()
            .fold(u32::from(*first) & mask, |code, byte| {
                code << 6 | u32::from(byte & 0x3f)
            });
        match char::from_u32(code) {
            Some(character) => units.extend_from_slice(character.encode_utf16(&mut [0; 2])),
            None => units.push(u16::try_from(code).unwrap_or(0xfffd)),
        }
        rest = after;
    }
    units
}

/// The absolute path of what is there, without symlinks and `..`, as people and programs write it:
/// with a drive letter or a server, and not in the form that begins with `\\?\`.
pub fn real(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path).map(|real| as_written(&real).unwrap_or(real))
}

/// `None` if the path means something else without its prefix.
fn as_written(real: &Path) -> Option<PathBuf> {
    let mut parts = real.components();
    let start = match parts.next()? {
        Component::Prefix(prefix) => match prefix.kind() {
            Prefix::VerbatimDisk(letter) => format!("{}:\\", char::from(letter)).into(),
            Prefix::VerbatimUNC(server, share) => {
                let mut start = OsString::from(r"\\");
                start.push(server);
                start.push("\\");
                start.push(share);
                start.push("\\");
                start
            }
            _ => return None,
        },
        _ => return None,
    };
    let mut written = PathBuf::from(start);
    for part in parts {
        match part {
            Component::RootDir => {}
            Component::Normal(name) if is_plain(name.to_str()?) => written.push(name),
            _ => return None,
        }
    }
    Some(written)
}

/// Without the prefix, Windows drops dots and spaces at the end of a name, and takes the names of
/// devices for these.
fn is_plain(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end();
    let stem = stem.to_ascii_uppercase();
    let numbered = |kind| {
        stem.strip_prefix(kind)
            .is_some_and(|number| number.chars().count() == 1)
    };
    !name.ends_with(['.', ' '])
        && !matches!(&*stem, "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$")
        && !numbered("COM")
        && !numbered("LPT")
}

/// The path as a shell's word has it, if it is text. Every shell that hosts use knows the slash; in
/// some, a backslash takes away the meaning of what follows it.
pub fn for_shell(path: &Path) -> Option<Cow<'_, str>> {
    Some(path.to_str()?.replace('\\', "/").into())
}
