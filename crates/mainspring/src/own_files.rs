//! Files of the person's own, which may be links: many people keep theirs in one folder, and
//! link them to where programs look.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use mainspring_platform::file::is_symlink_error;
use mainspring_platform::owner::Owner;
use mainspring_store::{Trouble, atomic};

use crate::env::Environment;
use crate::ownership::{Ignored, doubt};

/// What was found.
#[derive(Debug)]
pub(crate) enum OwnFile {
    Absent,
    Read(Vec<u8>),
    Ignored(Ignored),
}

/// Whose owner is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Check {
    /// Every file's: it decides what we do.
    Always,
    /// Another program's file is as it is; only a link must lead to a file of the person's.
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
            if let Some(ignored) = ignored(env, path, Owner::of(&link)) {
                return Ok(OwnFile::Ignored(ignored));
            }
            let real = fs::canonicalize(path).map_err(Trouble::io("follow", path))?;
            (atomic::look(&real, limit)?, Check::Always)
        }
        found => (found?, check),
    };
    let Some(file) = found else {
        return Ok(OwnFile::Absent);
    };
    let ignored = match check {
        Check::Always => ignored(env, path, Owner::of(&file.meta)),
        Check::Links => None,
    };
    Ok(ignored.map_or(OwnFile::Read(file.bytes), OwnFile::Ignored))
}

/// Where a file that we write really is: the person's own may be behind links, if it is
/// theirs. It need not be there yet.
pub(crate) fn real_path(env: &Environment, path: &Path) -> Result<PathBuf, Trouble> {
    let real = match fs::canonicalize(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(path.to_owned()),
        found => found.map_err(Trouble::io("find", path))?,
    };
    if real != path {
        let meta = fs::symlink_metadata(&real).map_err(Trouble::io("look at", &real))?;
        if let Some(doubt) = doubt(Owner::of(&meta), env, None) {
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
