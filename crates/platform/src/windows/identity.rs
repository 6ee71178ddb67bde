//! What tells a file or folder from another one at its path, and an id that nobody guesses.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::UNIX_EPOCH;

use super::api;
use super::stamp::open_for_a_look;

/// A folder, whatever its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FolderIdentity {
    pub inode: u64,
    /// When it was made, in milliseconds since 1970; `None` where the file system does not
    /// tell.
    pub made: Option<u64>,
}

/// The folder that is at this path now.
pub fn folder(path: &Path) -> io::Result<FolderIdentity> {
    let folder = open_for_a_look(path)?;
    let made = folder.metadata()?.created().ok();
    let made = made.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Ok(FolderIdentity {
        inode: api::information(&folder)?.index,
        made: made.and_then(|age| u64::try_from(age.as_millis()).ok()),
    })
}

/// Is this open file still the one at this path? A symlink there is not followed.
pub fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let ours = api::information(file)?;
    match open_for_a_look(path) {
        Ok(there) => {
            let there = api::information(&there)?;
            Ok((ours.volume, ours.index) == (there.volume, there.index))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// 128 random bits, as 32 hexadecimal digits.
pub fn random_id() -> io::Result<String> {
    let mut bytes = [0; 16];
    api::random(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_le_bytes(bytes)))
}
