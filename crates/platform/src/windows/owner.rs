//! Who owns a file. Who else may write to it is not looked at: Windows keeps a list for that, which
//! a file inherits from its folder.

use std::fs::Metadata;
use std::path::Path;

use super::api::{self, Sid};

/// An administrator, or the system.
pub const ROOT: u32 = 0;
/// An owner that cannot be told.
const UNKNOWN: u32 = u32::MAX;

/// What the system stores about a file: its owner. There is no group, and no mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    pub user: u32,
    pub group: u32,
    pub mode: u32,
}

impl Owner {
    /// The owner of what is at this path, which has this metadata.
    pub fn of(path: &Path, _meta: &Metadata) -> Self {
        let user = api::owner(path).map_or(UNKNOWN, |owner| number(&owner));
        Self {
            user,
            group: ROOT,
            mode: 0,
        }
    }

    pub fn everybody_writes(self) -> bool {
        false
    }

    pub fn group_writes(self) -> bool {
        false
    }
}

/// The user that this process runs as.
pub fn user() -> u32 {
    api::me().map_or(ROOT, |me| me.relative_id())
}

/// That user's group, for new files.
pub fn group() -> u32 {
    ROOT
}

/// Is nobody else in this group?
pub fn is_own_group(_user: u32, _group: u32) -> bool {
    false
}

/// The last part of an id tells the users of one computer apart. Another computer's user may have
/// the same one.
fn number(owner: &Sid) -> u32 {
    if owner.is_of_the_system() {
        return ROOT;
    }
    let id = owner.relative_id();
    match api::me() {
        Some(me) if me == *owner => id,
        Some(me) if me.relative_id() == id => UNKNOWN,
        Some(_) | None => id,
    }
}
