//! File permissions. A file inherits its folder's list of who may do what, and our folders are in
//! the user's profile, which others cannot open.

use std::fs::{DirBuilder, Metadata, Permissions};
use std::io;
use std::path::Path;

use super::owner::{self, Owner, ROOT};

/// Are these the permissions that a new file has?
pub fn are_owner_only(permissions: &Permissions) -> bool {
    !permissions.readonly()
}

/// Restricts a folder or a program to its owner, as far as its folder does not do that already.
pub fn make_owner_only(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// Creates a folder and the missing ones above it.
pub fn create_owner_only_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).create(path)
}

/// Does it belong to the user that this process runs as, or to the administrators? What an
/// administrator creates belongs to all of them.
pub fn is_mine(path: &Path, meta: &Metadata) -> bool {
    let Owner { user, .. } = Owner::of(path, meta);
    user == owner::user() || user == ROOT
}

/// Can somebody else write to it? The text says why, as the rest of a sentence about it.
pub fn exposed(path: &Path, meta: &Metadata) -> Option<String> {
    (!is_mine(path, meta)).then(|| "belongs to another user".into())
}

/// Can others at least look into it? Our folders are in the user's profile.
pub fn open_to_others(_meta: &Metadata) -> Option<u32> {
    None
}

/// Does this process run as the superuser? Windows has none.
pub fn am_root() -> bool {
    false
}
