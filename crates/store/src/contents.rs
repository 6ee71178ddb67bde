//! The content of one file, read whole from a handle or written to one, and the name of the temp
//! file that replaces a file. Whoever opens files, by name or without following symlinks, shares
//! this.

use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use mainspring_platform::{file, permissions};

use crate::Trouble;

/// A file as it was read.
#[derive(Debug)]
pub struct ReadFile {
    pub bytes: Vec<u8>,
    pub meta: fs::Metadata,
}

/// All of an open file, if it is a regular one and has at most `limit` bytes.
pub(crate) fn whole(opened: &File, path: &Path, limit: u64) -> Result<ReadFile, Trouble> {
    let meta = opened.metadata().map_err(Trouble::io("look at", path))?;
    if !meta.is_file() {
        return Err(Trouble::NotAFile { path: path.into() });
    }
    // Read to the end, not to the length: an editor may be rewriting the file just now.
    let length = meta.len().min(limit);
    let room = match usize::try_from(length) {
        Ok(0) | Err(_) => 1024,
        Ok(length) => length + 1,
    };
    let mut bytes = Vec::with_capacity(room);
    loop {
        bytes.reserve(1);
        let room = bytes.capacity() - bytes.len();
        let read = file::read(opened, &mut bytes).map_err(Trouble::io("read", path))?;
        if bytes.len() as u64 > limit {
            return Err(Trouble::TooLarge {
                path: path.into(),
                limit,
            });
        }
        // A read of a regular file fills the buffer except at the end of the file. A file that is
        // shorter than its length was truncated just now, or is on a network: read again.
        let at_end = read < room && length > 0 && bytes.len() as u64 >= length;
        if read == 0 || at_end {
            return Ok(ReadFile { bytes, meta });
        }
    }
}

/// If others may read a file of the user's, they still can afterwards.
pub(crate) fn write_contents(
    file: &mut File,
    bytes: &[u8],
    kept: Option<&Permissions>,
) -> io::Result<()> {
    file.write_all(bytes)?;
    match kept {
        Some(kept) if !permissions::are_owner_only(kept) => file.set_permissions(kept.clone()),
        Some(_) | None => Ok(()),
    }
}

/// The temp file is beside the file, under a name that is always the same.
pub(crate) fn temp_path(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".mainspring");
    path.with_file_name(name)
}
