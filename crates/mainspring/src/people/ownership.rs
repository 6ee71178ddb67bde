//! Checks who owns a file: a file that others can write must not decide anything for a person.
//!
//! The rule is the one that git has for repositories. A file counts if it belongs to the person
//! or to root; for root, also if it belongs to the user who called `sudo`. A file of a project
//! also counts if it belongs to the owner of the project's folder: in a container, a project
//! may be mounted with the user ids of another system, and the owner of a folder can put
//! anything into it anyway. Nobody else may be able to write the file, neither everybody nor a
//! group, unless the person is the group's only member.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use mainspring_platform::owner::{self, Owner, ROOT};
use mainspring_store::ShownPath as _;

use crate::env::{Environment, name};

/// A file that exists, but does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ignored {
    pub(crate) path: PathBuf,
    pub(crate) doubt: Doubt,
}

/// Why the file does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doubt {
    Foreign {
        user: u32,
        me: u32,
    },
    OpenToAll {
        mode: u32,
    },
    OpenToGroup {
        group: u32,
        mode: u32,
    },
    /// Nobody trusted it, and it lies below a folder that a person trusted.
    BelowProject,
}

impl fmt::Display for Ignored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is ignored: it {}", self.path.shown(), self.doubt)
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign { user, me } => write!(f, "belongs to user {user}, not to you ({me})"),
            Self::OpenToAll { mode } => write!(f, "can be written by everybody (mode {mode:o})"),
            Self::OpenToGroup { group, mode } => {
                write!(f, "can be written by group {group} (mode {mode:o})")
            }
            Self::BelowProject => f.write_str("is not trusted, and lies in a project of yours"),
        }
    }
}

impl Ignored {
    /// What to type to make the file count.
    pub(crate) fn fix(&self) -> String {
        let path = self.path.shown();
        match self.doubt {
            Doubt::Foreign { .. } => {
                format!("read it; to accept its content: sudo chown \"$(id -un)\" {path}")
            }
            Doubt::OpenToAll { .. } | Doubt::OpenToGroup { .. } => format!("chmod go-w {path}"),
            Doubt::BelowProject => {
                "run `mainspring trust` in its folder, which then is a project of its own".into()
            }
        }
    }
}

/// A user whose files count, and the group that has only this user as its member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Account {
    user: u32,
    group: Option<u32>,
}

/// Why a file does not count; `None` if it does. `folder` is the project's folder, for a file
/// of a project.
pub(crate) fn doubt(file: Owner, env: &Environment, folder: Option<&Path>) -> Option<Doubt> {
    // This covers most files without a look at the user database.
    if file.user == ROOT && !file.everybody_writes() && !file.group_writes() {
        return None;
    }
    let me = owner::user();
    judge(file, me, &accounts(file, me, env, folder))
}

/// Does the file belong to somebody whose files count? Who can write it is not checked.
pub(crate) fn belongs(file: Owner, env: &Environment, folder: &Path) -> bool {
    let file = Owner { mode: 0, ..file };
    doubt(file, env, Some(folder)).is_none()
}

fn judge(file: Owner, me: u32, accounts: &[Account]) -> Option<Doubt> {
    let Owner { user, group, mode } = file;
    if accounts.iter().all(|account| account.user != user) {
        return Some(Doubt::Foreign { user, me });
    }
    if file.everybody_writes() {
        return Some(Doubt::OpenToAll { mode });
    }
    if file.group_writes() && accounts.iter().all(|account| account.group != Some(group)) {
        return Some(Doubt::OpenToGroup { group, mode });
    }
    None
}

fn accounts(file: Owner, me: u32, env: &Environment, folder: Option<&Path>) -> Vec<Account> {
    let mut accounts = vec![Account {
        user: ROOT,
        group: Some(ROOT),
    }];
    let group = owner::group();
    // The members of a group are looked up only if the group can write.
    let asked = file.group_writes() && file.group == group;
    accounts.push(Account {
        user: me,
        group: (asked && owner::is_own_group(me, group)).then_some(group),
    });
    let number = |name| env.var(name)?.parse().ok();
    if let Some(user) = number(name::SUDO_UID).filter(|_| me == ROOT) {
        let group = number(name::SUDO_GID).filter(|group| *group == user);
        accounts.push(Account { user, group });
    }
    if let Some((folder, meta)) = folder.and_then(|path| Some((path, fs::metadata(path).ok()?))) {
        let Owner { user, .. } = Owner::of(folder, &meta);
        accounts.push(Account {
            user,
            group: Some(user),
        });
    }
    accounts
}

#[cfg(test)]
mod tests {
    use mainspring_kernel::Millis;

    use super::*;

    const ADMIN: Account = Account {
        user: ROOT,
        group: Some(ROOT),
    };
    const ME: Account = Account {
        user: 1000,
        group: Some(1000),
    };

    fn said(user: u32, group: u32, mode: u32, accounts: &[Account]) -> &'static str {
        match judge(Owner { user, group, mode }, ME.user, accounts) {
            None => "counts",
            Some(Doubt::Foreign { .. }) => "foreign",
            Some(Doubt::OpenToAll { .. }) => "open to all",
            Some(Doubt::OpenToGroup { .. }) => "open to a group",
            Some(Doubt::BelowProject) => "not trusted",
        }
    }

    #[test]
    fn a_file_counts_if_only_the_person_or_root_can_write_it() {
        let shared = Account {
            user: 1000,
            group: None,
        };
        for (user, group, mode, accounts, expected) in [
            (1000, 1000, 0o600, &[ADMIN, ME][..], "counts"),
            (1000, 1000, 0o644, &[ADMIN, ME], "counts"),
            // A umask of 002, with groups of one person each, and without.
            (1000, 1000, 0o664, &[ADMIN, ME], "counts"),
            (1000, 100, 0o664, &[ADMIN, ME], "open to a group"),
            (1000, 1000, 0o664, &[ADMIN, shared], "open to a group"),
            (1000, 100, 0o644, &[ADMIN, shared], "counts"),
            (1000, 1000, 0o666, &[ADMIN, ME], "open to all"),
            (1000, 1000, 0o602, &[ADMIN, ME], "open to all"),
            (0, 0, 0o644, &[ADMIN, ME], "counts"),
            (0, 0, 0o664, &[ADMIN, ME], "counts"),
            (0, 50, 0o664, &[ADMIN, ME], "open to a group"),
            (1001, 1001, 0o600, &[ADMIN, ME], "foreign"),
            (1001, 1000, 0o664, &[ADMIN, ME], "foreign"),
        ] {
            let found = said(user, group, mode, accounts);
            assert_eq!(found, expected, "{user}:{group} {mode:o}");
        }
    }

    #[test]
    fn root_accepts_the_files_of_the_user_who_called_sudo_and_nobody_else_does() {
        let env = |vars: &[(&str, &str)]| Environment::given(vars, Millis(0));
        let owner = Owner {
            user: 7,
            group: 7,
            mode: 0o664,
        };
        let sudo = env(&[("SUDO_UID", "7"), ("SUDO_GID", "7")]);
        let counts = |me: u32, env: &Environment| {
            let accounts = accounts(owner, me, env, None);
            accounts.iter().any(|account| account.user == 7)
        };
        assert!(counts(0, &sudo));
        assert!(!counts(1000, &sudo), "anybody can set a variable");
        assert!(!counts(0, &env(&[])));
        for wrong in ["", "x", "-7", "7 ", "0x7"] {
            assert!(!counts(0, &env(&[("SUDO_UID", wrong)])), "{wrong:?}");
        }
    }
}
