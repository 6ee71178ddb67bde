//! The person's own files. They may be symlinks: many people keep their configuration in one
//! folder and link it to where programs look.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use mainspring_platform::file::is_symlink_error;
use mainspring_platform::owner::Owner;
use mainspring_platform::path;
use mainspring_store::{Trouble, atomic};

use crate::env::Environment;
use crate::people::ownership::{Ignored, doubt};

#[derive(Debug)]
pub(crate) enum OwnFile {
    Absent,
    Read(Vec<u8>),
    Ignored(Ignored),
}

/// For which files the owner is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Check {
    /// For every file: what it says decides what we do.
    Always,
    /// Only for a symlink, which must lead to a file of the person's. The file belongs to
    /// another program, so we take it as it is.
    Links,
}

/// The whole file, if it has at most `limit` bytes.
pub(crate) fn read(
    env: &Environment,
    path: &Path,
    limit: u64,
    check: Check,
) -> Result<OwnFile, Trouble> {
    let (found, check) = match atomic::look(path, limit) {
        Err(Trouble::Io { source, .. }) if is_symlink_error(&source) => {
            let link = fs::symlink_metadata(path).map_err(Trouble::io("look at", path))?;
            if let Some(ignored) = ignored(env, path, Owner::of(path, &link)) {
                return Ok(OwnFile::Ignored(ignored));
            }
            let real = path::real(path).map_err(Trouble::io("follow", path))?;
            (atomic::look(&real, limit)?, Check::Always)
        }
        found => (found?, check),
    };
    let Some(file) = found else {
        return Ok(OwnFile::Absent);
    };
    let ignored = match check {
        Check::Always => ignored(env, path, Owner::of(path, &file.meta)),
        Check::Links => None,
    };
    Ok(ignored.map_or(OwnFile::Read(file.bytes), OwnFile::Ignored))
}

/// The real path of a file that we are about to write. The path may lead through symlinks, if
/// the file at their end is the person's. The file need not exist yet.
pub(crate) fn real_path(env: &Environment, path: &Path) -> Result<PathBuf, Trouble> {
    let real = match path::real(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(path.to_owned()),
        found => found.map_err(Trouble::io("find", path))?,
    };
    if real != path {
        let meta = fs::symlink_metadata(&real).map_err(Trouble::io("look at", &real))?;
        if let Some(doubt) = doubt(Owner::of(&real, &meta), env, None) {
            return Err(Trouble::Unsafe {
                path: real,
                problem: doubt.to_string(),
            });
        }
    }
    Ok(real)
}

fn ignored(env: &Environment, path: &Path, owner: Owner) -> Option<Ignored> {
    let doubt = doubt(owner, env, None)?;
    let path = path.to_owned();
    Some(Ignored { path, doubt })
}
