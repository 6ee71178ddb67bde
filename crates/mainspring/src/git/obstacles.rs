//! What git would wait for without end: a pipe in the place of a file that it opens.

use std::fs;
use std::path::{Path, PathBuf};

use mainspring_platform::no_symlink;

use crate::git_dir;

/// Files of a checkout that git opens by name, in every folder.
const OF_FOLDERS: [&str; 2] = [".gitignore", ".gitattributes"];
/// The same in its top folder only.
const OF_TOP: &str = ".gitmodules";
/// Files of the repository itself that most commands open.
const OF_REPOSITORY: [&str; 11] = [
    "HEAD",
    "commondir",
    "config",
    "config.worktree",
    "index",
    "info/attributes",
    "info/exclude",
    "info/grafts",
    "objects/info/alternates",
    "packed-refs",
    "shallow",
];
/// Git's own socket is no obstacle: to open it fails at once.
const SOCKET: &str = ".ipc";

/// How many entries are looked at, and how deep.
const MOST_ENTRIES: usize = 200_000;
const DEEPEST: usize = 64;

/// An obstacle in the place of a file that nearly every command opens. It costs a few looks.
pub(super) fn at_once(dir: &Path) -> Option<PathBuf> {
    let top = top(dir)?;
    let own = OF_FOLDERS.iter().chain([&OF_TOP]);
    let own = own.map(|name| top.join(name));
    let repository = repositories(top).into_iter();
    let repository = repository.flat_map(|git| OF_REPOSITORY.map(|name| git.join(name)));
    let all = [top.join(".git")].into_iter().chain(own).chain(repository);
    all.into_iter().find(|path| keeps_waiting(path))
}

/// An obstacle anywhere in the checkout or in its repository.
pub(super) fn anywhere(dir: &Path) -> Option<PathBuf> {
    let top = top(dir)?;
    let mut left = MOST_ENTRIES;
    let all = [top.to_owned()].into_iter().chain(repositories(top));
    let mut folders: Vec<(PathBuf, usize)> = all.map(|folder| (folder, 0)).collect();
    while let Some((folder, depth)) = folders.pop() {
        let is_gits = folder.components().any(|part| part.as_os_str() == ".git");
        for entry in no_symlink::list(&folder, left).unwrap_or_default() {
            left = left.saturating_sub(1);
            let path = folder.join(&entry.name);
            let name = entry.name.to_string_lossy();
            if entry.is_folder && depth < DEEPEST {
                folders.push((path, depth + 1));
            } else if ((is_gits && !name.ends_with(SOCKET)) || OF_FOLDERS.contains(&&*name))
                && keeps_waiting(&path)
            {
                return Some(path);
            }
        }
    }
    None
}

/// The folder with the `.git` that git finds from here.
fn top(dir: &Path) -> Option<&Path> {
    let has_git = |folder: &&Path| fs::symlink_metadata(folder.join(".git")).is_ok();
    dir.ancestors().find(has_git)
}

/// The folders of a checkout's repository: its own, and the one that all worktrees share.
fn repositories(top: &Path) -> Vec<PathBuf> {
    let git = top.join(".git");
    if git.is_dir() {
        return vec![git];
    }
    let Some(own) = git_dir::named(&git) else {
        return Vec::new();
    };
    let shared = git_dir::shared(&own).filter(|shared| *shared != own);
    [own].into_iter().chain(shared).collect()
}

/// Is it neither a file nor a folder? Links count as what they lead to.
fn keeps_waiting(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir())
}
