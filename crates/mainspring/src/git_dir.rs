//! Where git keeps a checkout's own files, read from the files that say so. No git is started.

use std::path::{Path, PathBuf};

use mainspring_platform::path::of_bytes;
use mainspring_store::{Trouble, atomic};

/// A path has at most this many bytes.
const PATH_LIMIT: u64 = 8 * 1024;

/// The folder that a `.git` file names (`gitdir: …`), as a linked worktree or a submodule has one.
pub(crate) fn named(git_file: &Path) -> Option<PathBuf> {
    let line = first_line(git_file).ok()??;
    let named = line.strip_prefix(b"gitdir:")?.trim_ascii();
    Some(git_file.parent()?.join(of_bytes(named)))
}

/// The folder that all worktrees of a repository share, by the folder of one of them.
pub(crate) fn shared(own: &Path) -> Option<PathBuf> {
    match first_line(&own.join("commondir")).ok()? {
        Some(line) => Some(own.join(of_bytes(line.trim_ascii()))),
        None => Some(own.into()),
    }
}

/// The `.git` file of the worktree whose folder in the repository this is.
pub(crate) fn worktree_of(own: &Path) -> Option<PathBuf> {
    let line = first_line(&own.join("gitdir")).ok()??;
    Some(own.join(of_bytes(line.trim_ascii())))
}

fn first_line(path: &Path) -> Result<Option<Vec<u8>>, Trouble> {
    let bytes = atomic::read(path, PATH_LIMIT)?;
    Ok(bytes.map(|mut bytes| {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        bytes.truncate(end.unwrap_or(bytes.len()));
        bytes
    }))
}
