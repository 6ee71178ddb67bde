//! The checkout that a directory is in, and the nearest folder of it that is a project.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use mainspring_platform::owner::Owner;
use mainspring_platform::path;
use mainspring_store::{ShownPath as _, Trouble};

use super::{Bound, Choice, Contents, Project, exists};
use crate::env::Environment;
use crate::git_dir;
use crate::markers;
use crate::people::ownership::{self, Doubt, Ignored};
use crate::store::StateDir;

#[derive(Debug)]
pub(super) struct Checkout {
    /// The checkout's top: the nearest folder with a `.git`, else the directory.
    pub(super) top: PathBuf,
    /// The repository's primary checkout: another folder than `top` in a linked worktree.
    pub(super) primary: PathBuf,
    /// The folder at which the search ends.
    ceiling: PathBuf,
    /// The owner of `.git`; `None` outside a repository.
    owner: Option<Owner>,
}

impl Checkout {
    pub(super) fn of(cwd: &Path, env: &Environment) -> Result<Self, Trouble> {
        let home = env.home();
        for folder in cwd.ancestors() {
            let git = folder.join(".git");
            match fs::symlink_metadata(&git) {
                Ok(meta) => {
                    let primary = (!meta.is_dir())
                        .then(|| primary_checkout(&git))
                        .flatten()
                        .unwrap_or_else(|| folder.into());
                    return Ok(Self {
                        top: folder.into(),
                        primary,
                        ceiling: folder.into(),
                        owner: Some(Owner::of(&git, &meta)),
                    });
                }
                // A file has nothing below it.
                Err(error) if error.kind() == ErrorKind::NotADirectory => {
                    return Err(Trouble::Other(format!(
                        "{} is not a directory",
                        folder.shown()
                    )));
                }
                Err(_) => {}
            }
            if Some(folder) == home.as_deref() {
                break;
            }
        }
        // Outside a repository the search ends at the home, or at the top of the disk.
        let ceiling = cwd
            .ancestors()
            .find(|folder| Some(*folder) == home.as_deref())
            .or_else(|| cwd.ancestors().last())
            .unwrap_or(cwd);
        Ok(Self {
            top: cwd.into(),
            primary: cwd.into(),
            ceiling: ceiling.into(),
            owner: None,
        })
    }

    /// Is this a repository of the person's, or of whoever owns the directory that they are in?
    /// In a folder that everybody can write, anybody can make a repository above other people's
    /// folders.
    pub(super) fn is_own(&self, cwd: &Path, env: &Environment) -> bool {
        self.owner
            .is_some_and(|owner| ownership::belongs(owner, env, cwd))
    }

    fn is_worktree(&self) -> bool {
        self.top != self.primary
    }

    /// Finds the folder that is the project. Files that others may have put there do not count.
    pub(super) fn search(
        &self,
        cwd: &Path,
        (state, env): (&StateDir, &Environment),
        choice: Choice,
        ignored: &mut Vec<Ignored>,
    ) -> Option<Project> {
        // A person trusted it, gave an order there, or switched something on.
        let is_persons = |folder: &Path| exists(&state.project(&self.project(folder).root));
        // The nearest folder with nothing but files that nobody trusted, and the first of them.
        let mut brought: Option<(&Path, PathBuf)> = None;
        for folder in cwd.ancestors() {
            if let Some((_, path)) = &brought {
                if is_persons(folder) {
                    ignored.push(Ignored {
                        path: path.clone(),
                        doubt: Doubt::BelowProject,
                    });
                    return Some(self.project(folder));
                }
            } else {
                let marker = self.marker(folder, cwd, env, ignored);
                let ours = exists(&state.project(folder));
                match marker {
                    Some(path) if !ours && choice == Choice::PersonsFirst => {
                        if is_persons(folder) {
                            return Some(self.project(folder));
                        }
                        brought = Some((folder, path));
                    }
                    None if !ours => {}
                    Some(_) | None => return Some(self.project(folder)),
                }
            }
            if folder == self.ceiling {
                break;
            }
        }
        if let Some((folder, _)) = brought {
            return Some(self.project(folder));
        }
        let primary = self.primary.as_path();
        (self.is_worktree() && holds_something(primary, state)).then(|| Project {
            root: self.primary.clone(),
            worktree: self.top.clone(),
            ..self.project(cwd)
        })
    }

    /// The first file of a machine's in this folder that counts.
    fn marker(
        &self,
        folder: &Path,
        cwd: &Path,
        env: &Environment,
        ignored: &mut Vec<Ignored>,
    ) -> Option<PathBuf> {
        markers::all().find_map(|marker| {
            let path = folder.join(marker);
            let meta = fs::symlink_metadata(&path).ok()?;
            let doubt = ownership::doubt(Owner::of(&path, &meta), env, Some(cwd));
            let Some(doubt) = doubt.filter(|_| !self.is_own(cwd, env)) else {
                return Some(path);
            };
            ignored.push(Ignored { path, doubt });
            None
        })
    }

    /// A folder of a linked worktree belongs to the primary checkout's project.
    pub(super) fn project(&self, folder: &Path) -> Project {
        let root = match folder.strip_prefix(&self.top) {
            // Joining nothing would add a slash, and the path is a key.
            Ok(below) if below.as_os_str().is_empty() => self.primary.clone(),
            Ok(below) if self.is_worktree() => self.primary.join(below),
            Ok(_) | Err(_) => folder.into(),
        };
        Project {
            root,
            worktree: folder.into(),
            bound: Bound::NotYet,
            contents: Contents::Something,
            ignored: Vec::new(),
        }
    }

    /// The project if the search found nothing.
    pub(super) fn fallback(&self, cwd: PathBuf) -> Project {
        let (root, worktree) = if self.is_worktree() {
            (self.primary.clone(), self.top.clone())
        } else {
            (cwd.clone(), cwd)
        };
        Project {
            root,
            worktree,
            bound: Bound::NotYet,
            contents: Contents::Nothing,
            ignored: Vec::new(),
        }
    }
}

/// Does the folder hold a machine's file, or do we have state for it?
fn holds_something(folder: &Path, state: &StateDir) -> bool {
    let marked = markers::all().any(|marker| exists(&folder.join(marker)));
    marked || exists(&state.project(folder))
}

/// Finds the primary checkout of a linked worktree, from its `.git` file: `gitdir:
/// <checkout>/.git/worktrees/<name>`. Anybody who packs an archive can write such a file, so
/// the repository's own `worktrees/<name>/gitdir` must name this worktree, too.
fn primary_checkout(git_file: &Path) -> Option<PathBuf> {
    let admin = path::real(&git_dir::named(git_file)?).ok()?;
    let worktrees = admin.parent().filter(|dir| dir.ends_with("worktrees"))?;
    let git = worktrees.parent().filter(|dir| dir.ends_with(".git"))?;
    let back = git_dir::worktree_of(&admin)?;
    let is_this_one = path::real(&back).ok()? == path::real(git_file).ok()?;
    git.parent().filter(|_| is_this_one).map(Path::to_path_buf)
}
