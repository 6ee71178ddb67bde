//! File permissions.

use std::fs::{self, DirBuilder, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;

pub(crate) const OWNER_ONLY_FILE: u32 = 0o600;
/// For a folder or a program that only its owner may use.
const OWNER_ONLY_FOLDER: u32 = 0o700;
const OTHERS_WRITE: u32 = 0o022;
const OTHERS_ANYTHING: u32 = 0o077;
const ALL_BITS: u32 = 0o7777;

/// Are these the permissions of a file for its owner only?
pub fn are_owner_only(permissions: &Permissions) -> bool {
    permissions.mode() & ALL_BITS == OWNER_ONLY_FILE
}

/// Restricts a folder or a program to its owner.
pub fn make_owner_only(path: &Path) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(OWNER_ONLY_FOLDER))
}

/// Creates a folder and the missing ones above it, for their owner only.
pub fn create_owner_only_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(OWNER_ONLY_FOLDER)
        .create(path)
}

/// Does it belong to the user that this process runs as?
pub fn is_mine(_path: &Path, meta: &Metadata) -> bool {
    meta.uid() == rustix::process::geteuid().as_raw()
}

/// Can somebody else write to it? The text says why, as the rest of a sentence about it.
pub fn exposed(_path: &Path, meta: &Metadata) -> Option<String> {
    let me = rustix::process::geteuid().as_raw();
    let owner = meta.uid();
    if owner != me {
        return Some(format!("belongs to user {owner}, not to you ({me})"));
    }
    if meta.mode() & OTHERS_WRITE != 0 {
        return Some(format!(
            "can be written by others (mode {:o}): `chmod 700` it",
            meta.mode() & ALL_BITS
        ));
    }
    None
}

/// Can others at least look into it? The number is its mode.
pub fn open_to_others(meta: &Metadata) -> Option<u32> {
    let mode = meta.mode() & ALL_BITS;
    (mode & OTHERS_ANYTHING != 0).then_some(mode)
}

/// Does this process run as the superuser?
pub fn am_root() -> bool {
    rustix::process::geteuid().is_root()
}
