//! Folders that only we can write to; others are refused.

use std::fs::{self, Metadata};
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
    checked(path).map(|_| ())
}

/// The same, and nobody else may look into it, either.
pub fn check_closed(path: &Path) -> Result<(), Trouble> {
    match permissions::open_to_others(&checked(path)?) {
        None => Ok(()),
        Some(mode) => {
            let problem = format!("can be read by others (mode {mode:o}): `chmod 700` it");
            Err(unsafe_folder(path, problem))
        }
    }
}

/// The same, but closes one that others could only look into; returns the mode that it had.
pub fn close(path: &Path) -> Result<Option<u32>, Trouble> {
    let open = permissions::open_to_others(&checked(path)?);
    if open.is_some() {
        permissions::make_owner_only(path).map_err(Trouble::io("chmod 700", path))?;
    }
    Ok(open)
}

fn checked(path: &Path) -> Result<Metadata, Trouble> {
    let meta = fs::symlink_metadata(path).map_err(Trouble::io("look at", path))?;
    let problem = if meta.is_dir() {
        permissions::exposed(path, &meta)
    } else {
        Some("is not a directory".into())
    };
    match problem {
        None => Ok(meta),
        Some(problem) => Err(unsafe_folder(path, problem)),
    }
}

fn unsafe_folder(path: &Path, problem: String) -> Trouble {
    Trouble::Unsafe {
        path: path.into(),
        problem,
    }
}
