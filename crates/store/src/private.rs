//! Folders that only we can write to; others are refused.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use mainspring_platform::permissions::{self, create_owner_only_folder};

use crate::Trouble;

/// Creates a directory for us alone, or refuses the one that is there.
pub fn make(path: &Path) -> Result<(), Trouble> {
    match check(path) {
        Err(Trouble::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {}
        checked => return checked,
    }
    create_owner_only_folder(path).map_err(Trouble::io("create", path))?;
    check(path)
}

/// Checks that it is a directory and not a symlink, belongs to us, and nobody else may write to it.
pub fn check(path: &Path) -> Result<(), Trouble> {
    let meta = fs::symlink_metadata(path).map_err(Trouble::io("look at", path))?;
    let problem = if meta.is_dir() {
        permissions::exposed(path, &meta)
    } else {
        Some("is not a directory".into())
    };
    match problem {
        None => Ok(()),
        Some(problem) => Err(Trouble::Unsafe {
            path: path.into(),
            problem,
        }),
    }
}
