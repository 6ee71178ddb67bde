//! What tells a file or folder from another one at its path, and an id that nobody guesses.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::UNIX_EPOCH;

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
    let meta = fs::metadata(path)?;
    let made = meta.created().ok();
    let made = made.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Ok(FolderIdentity {
        inode: meta.ino(),
        made: made.and_then(|age| u64::try_from(age.as_millis()).ok()),
    })
}

/// Is this open file still the one at this path? A symlink there is not followed.
pub fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let ours = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(there) => Ok((ours.dev(), ours.ino()) == (there.dev(), there.ino())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// 128 random bits, as 32 hexadecimal digits.
pub fn random_id() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_le_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_ids_differ_and_are_plain() {
        let (one, other) = (random_id().unwrap(), random_id().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.len(), 32);
        assert!(one.bytes().all(|byte| byte.is_ascii_hexdigit()), "{one}");
    }
}
