//! Folders that are ours alone, or refused.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use mainspring_platform::permissions::{self, create_owner_only_folder};

use crate::Trouble;

/// Makes a directory for us alone, or refuses the one that is there.
pub fn make(path: &Path) -> Result<(), Trouble> {
    match check(path) {
        Err(Trouble::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {}
        checked => return checked,
    }
    create_owner_only_folder(path).map_err(Trouble::io("create", path))?;
    check(path)
}

/// A directory that is no link, belongs to us, and that nobody else may write to.
pub fn check(path: &Path) -> Result<(), Trouble> {
    let meta = fs::symlink_metadata(path).map_err(Trouble::io("look at", path))?;
    let problem = if meta.is_dir() {
        permissions::exposed(&meta)
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
