//! Who owns a file, and who else may write to it.

use std::fs::{File, Metadata};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The superuser, and the superuser's group.
pub const ROOT: u32 = 0;

/// What the system stores about a file: its owner, its group, and their permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    pub user: u32,
    pub group: u32,
    pub mode: u32,
}

impl Owner {
    /// The owner of what is at this path, which has this metadata.
    pub fn of(_path: &Path, meta: &Metadata) -> Self {
        // The mode of a symlink itself means nothing.
        let mode = if meta.is_symlink() { 0 } else { meta.mode() };
        Self {
            user: meta.uid(),
            group: meta.gid(),
            mode: mode & 0o7777,
        }
    }

    pub fn everybody_writes(self) -> bool {
        self.mode & 0o002 != 0
    }

    pub fn group_writes(self) -> bool {
        self.mode & 0o020 != 0
    }
}

/// The user that this process runs as.
pub fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// That user's group, for new files.
pub fn group() -> u32 {
    rustix::process::getegid().as_raw()
}

/// Is nobody else in this group? If each user has a group of their own, it has the same number or
/// the same name as the user.
pub fn is_own_group(user: u32, group: u32) -> bool {
    user == group || is_named_alike(user, group)
}

fn is_named_alike(user: u32, group: u32) -> bool {
    let line = |path: &str, number: u32| {
        let mut list = Vec::new();
        let file = File::open(path).ok()?;
        file.take(LONGEST_LIST).read_to_end(&mut list).ok()?;
        let number = number.to_string();
        let mut lines = list.split(|byte| *byte == b'\n').map(fields);
        lines.find_map(|[name, id, members]| {
            (id == number.as_bytes()).then(|| (name.to_vec(), members.to_vec()))
        })
    };
    let (Some((person, _)), Some((group, members))) =
        (line("/etc/passwd", user), line("/etc/group", group))
    else {
        return false;
    };
    person == group && (members.is_empty() || members == person)
}

const LONGEST_LIST: u64 = 1024 * 1024;

/// `name:x:number:…` of a user or a group; a group's fourth field lists its members.
fn fields(line: &[u8]) -> [&[u8]; 3] {
    let mut fields = line.split(|byte| *byte == b':');
    let mut next = || fields.next().unwrap_or_default();
    let (name, _, id, members) = (next(), next(), next(), next());
    [name, id, members]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_systems_lists_is_cut_at_its_colons() {
        let [name, id, members] = fields(b"me:x:1002:you,them");
        assert_eq!(
            (name, id, members),
            (&b"me"[..], &b"1002"[..], &b"you,them"[..])
        );
        assert_eq!(fields(b""), [b"", b"", b""]);
    }

    #[test]
    fn a_group_is_ones_own_by_its_number() {
        assert!(is_own_group(54_321, 54_321));
        assert!(!is_own_group(54_321, 54_322), "nobody has these numbers");
    }
}
