//! Tells a project from another one at the same path: tomorrow another repository may be there.
//!
//! A repository is known by a random id that `trust` writes into its git common directory: a
//! clone does not bring one, and a pull does not change it. Without git it is the folder
//! itself: its inode and the time it was made. Where `.git` is a file that leads elsewhere, which
//! an archive can bring, it is both.

use std::fs;
use std::path::{Path, PathBuf};

use mainspring_platform::identity;
use mainspring_store::{Trouble, atomic};
use serde::{Deserialize, Serialize};

use crate::git_dir;
use crate::limits;

const ID_FILE: &str = "mainspring-id";

/// 128 bits, in hexadecimal.
const ID_LENGTH: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Identity {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    git_id: Option<String>,
    inode: u64,
    /// Milliseconds since 1970; `None` where the file system does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    made: Option<u64>,
    /// How the id was found now; it is not on record.
    #[serde(skip)]
    leads_elsewhere: bool,
}

impl Identity {
    /// The project that is at this path now.
    pub(super) fn of(root: &Path) -> Result<Self, Trouble> {
        let folder = identity::folder(root).map_err(Trouble::io("look at", root))?;
        Ok(Self {
            git_id: git_common_dir(root).and_then(|dir| read_id(&dir)),
            inode: folder.inode,
            made: folder.made,
            leads_elsewhere: !is_folder(&root.join(".git")),
        })
    }

    /// The same, after writing an id into its git directory, if it has one.
    pub(super) fn establish(root: &Path) -> Result<Self, Trouble> {
        if let Some(dir) = git_common_dir(root)
            && read_id(&dir).is_none()
        {
            write_id(&dir)?;
        }
        Self::of(root)
    }

    /// Is it known by an id, wherever it is?
    pub(super) const fn has_id(&self) -> bool {
        self.git_id.is_some()
    }

    /// Is the project that is there now the one that was trusted? A folder that became a
    /// repository since is still that folder.
    pub(super) fn is_still(&self, now: &Self) -> bool {
        let same_folder = (self.inode, self.made) == (now.inode, now.made);
        match &self.git_id {
            Some(id) => now.git_id.as_ref() == Some(id) && (same_folder || !now.leads_elsewhere),
            None => same_folder,
        }
    }
}

/// Is there an id at this path? Only `trust` writes one, so it is a quick no for nearly every project
/// that nobody trusted.
pub(super) fn has_id(root: &Path) -> bool {
    git_common_dir(root).is_some_and(|dir| read_id(&dir).is_some())
}

/// The folder that all worktrees of a repository share. It is read from git's own files; no
/// git is started.
fn git_common_dir(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    if is_folder(&git) {
        return Some(git);
    }
    let dir = git_dir::shared(&git_dir::named(&git)?)?;
    dir.is_dir().then_some(dir)
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
}

fn read_id(dir: &Path) -> Option<String> {
    let text = atomic::read_text(&dir.join(ID_FILE), limits::CONFIG).ok()??;
    let id = text.trim();
    let plain = id.len() == ID_LENGTH && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    plain.then(|| id.to_owned())
}

/// If two processes do this at once, both keep the first one's id.
fn write_id(dir: &Path) -> Result<(), Trouble> {
    let path = dir.join(ID_FILE);
    let id = identity::random_id().map_err(Trouble::io("make", &path))?;
    atomic::create_durably(&path, format!("{id}\n").as_bytes())?;
    match read_id(dir) {
        Some(_) => Ok(()),
        None => Err(Trouble::corrupt(
            &path,
            "it is not an id that Mainspring wrote: delete it",
        )),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests write plain files")]
mod tests {
    use super::*;

    fn folder(temp: &tempfile::TempDir, name: &str) -> PathBuf {
        let path = temp.path().join(name);
        fs::create_dir_all(&path).unwrap();
        path
    }

    #[test]
    fn a_repository_is_known_by_its_id_and_another_at_its_path_is_not() {
        let temp = tempfile::tempdir().unwrap();
        let root = folder(&temp, "repo");
        fs::create_dir(root.join(".git")).unwrap();
        let trusted = Identity::establish(&root).unwrap();
        assert!(trusted.is_still(&Identity::of(&root).unwrap()));
        assert_eq!(
            Identity::establish(&root).unwrap(),
            trusted,
            "once is enough"
        );
        fs::remove_dir_all(root.join(".git")).unwrap();
        fs::create_dir(root.join(".git")).unwrap();
        assert!(!trusted.is_still(&Identity::of(&root).unwrap()));
    }

    #[test]
    fn a_folder_is_known_by_itself_and_may_become_a_repository() {
        let temp = tempfile::tempdir().unwrap();
        let root = folder(&temp, "plain");
        let trusted = Identity::establish(&root).unwrap();
        assert!(trusted.is_still(&Identity::of(&root).unwrap()));
        fs::create_dir(root.join(".git")).unwrap();
        assert!(trusted.is_still(&Identity::of(&root).unwrap()));
        // Made while the old one is still there, so that it cannot get the same inode.
        let other = folder(&temp, "other");
        fs::rename(&root, temp.path().join("away")).unwrap();
        fs::rename(other, &root).unwrap();
        assert!(!trusted.is_still(&Identity::of(&root).unwrap()));
    }

    #[test]
    fn a_linked_git_directory_is_followed_to_what_its_worktrees_share() {
        let temp = tempfile::tempdir().unwrap();
        let git = folder(&temp, "elsewhere.git");
        let root = folder(&temp, "tree");
        fs::write(root.join(".git"), format!("gitdir: {}\n", git.display())).unwrap();
        let trusted = Identity::establish(&root).unwrap();
        assert!(read_id(&git).is_some());
        let linked = folder(&temp, "elsewhere.git/worktrees/t");
        fs::write(linked.join("commondir"), "../..\n").unwrap();
        fs::write(root.join(".git"), format!("gitdir: {}\n", linked.display())).unwrap();
        assert!(trusted.is_still(&Identity::of(&root).unwrap()));
    }

    #[test]
    fn what_is_no_id_of_ours_is_not_taken_for_one() {
        let temp = tempfile::tempdir().unwrap();
        let root = folder(&temp, "repo");
        fs::create_dir(root.join(".git")).unwrap();
        fs::write(root.join(".git").join(ID_FILE), "../../etc\n").unwrap();
        assert!(
            Identity::establish(&root).is_err(),
            "and is not written over"
        );
        assert_eq!(Identity::of(&root).unwrap().git_id, None);
    }
}
