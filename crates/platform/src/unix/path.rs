//! Real paths, and paths as bytes, which need not be text.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

pub fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// The path with these bytes.
pub fn of_bytes(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// The same, for bytes that become the path's own.
pub fn from_bytes(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes))
}

/// The absolute path of what is there, without symlinks and `..`.
pub fn real(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path)
}

/// The path as a shell's word has it, if it is text. Every shell that hosts use knows the slash.
pub fn for_shell(path: &Path) -> Option<Cow<'_, str>> {
    path.to_str().map(Cow::Borrowed)
}
