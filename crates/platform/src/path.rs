//! A path as bytes, which need not be text.

use std::ffi::{OsStr, OsString};
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
