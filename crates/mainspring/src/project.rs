//! Which project an event belongs to.
//!
//! A session is bound to a project at the first event that concerns one, because the agent's
//! directory moves: after `cd` into a nested repository or a worktree, the payload names that
//! directory, and the machines would lose their state. The project of a session that is not
//! bound is the nearest folder at or above its directory that holds a machine's file; the
//! search does not go above the repository's top or the home. If there is no such folder, it is
//! the directory itself. The directory of our own process is never used.
//!
//! A folder with nothing but files that nobody trusted gives way to a folder above it for which we
//! keep state, because a person trusted it, gave an order there, or switched something on: a pull
//! must not take a person's project away from below it.

mod checkout;

use std::fs;
use std::path::{Component, Path, PathBuf};

use mainspring_kernel::SessionId;
use mainspring_platform::no_symlink::leads_to;
use mainspring_platform::path;
use mainspring_store::{Trouble, atomic, json_text, path_text, seal};
use serde::{Deserialize, Serialize};

use self::checkout::Checkout;
use crate::env::Environment;
use crate::hosts::{self, Payload};
use crate::people::ownership::Ignored;
use crate::store::StateDir;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Project {
    /// The project's folder: its path is the key of the lock, the journal and our own state.
    /// Linked worktrees share the root of the repository's primary checkout.
    pub(crate) root: PathBuf,
    /// The folder that is searched for a machine's file before the root: the linked worktree
    /// that the agent is in, else the root itself.
    pub(crate) worktree: PathBuf,
    pub(crate) bound: Bound,
    pub(crate) contents: Contents,
    /// Files of others on the way up. If they were the person's, their folder would be the
    /// project.
    pub(crate) ignored: Vec<Ignored>,
}

/// What the search for the project found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contents {
    /// A machine's file or our own state; or no search was needed.
    Something,
    /// Neither, so the machines need not look for their files again.
    Nothing,
}

/// Which folder is the project, if a folder with files that nobody trusted lies below a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    PersonsFirst,
    /// For a person who is about to trust it.
    Nearest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    Yes,
    NotYet,
}

impl Project {
    /// Is this file there, in the worktree or in the root?
    pub(crate) fn has(&self, relative: &str) -> bool {
        exists(&self.file(relative))
    }

    /// A machine's file: the worktree's if it is there, else the root's.
    pub(crate) fn file(&self, relative: &str) -> PathBuf {
        let worktree = self.worktree.join(relative);
        if self.worktree == self.root || exists(&worktree) {
            return worktree;
        }
        self.root.join(relative)
    }
}

/// The project of an event.
pub(crate) fn of_event(
    env: &Environment,
    state: &StateDir,
    session: Option<&SessionId>,
    payload: &Payload,
) -> Result<Project, Trouble> {
    let place = Whereabouts {
        cwd: payload.cwd.as_deref(),
        started: payload.host.project_dir(env),
    };
    find(Choice::PersonsFirst, env, state, session, place)
}

/// Where an agent or a person is.
struct Whereabouts<'a> {
    cwd: Option<&'a Path>,
    /// The folder in which the session was started: the agent may have moved since.
    started: Option<PathBuf>,
}

fn find(
    choice: Choice,
    env: &Environment,
    state: &StateDir,
    session: Option<&SessionId>,
    Whereabouts { cwd, started }: Whereabouts<'_>,
) -> Result<Project, Trouble> {
    let bound = session.map(|session| binding(state, session)).transpose()?;
    if let Some(root) = bound.flatten() {
        // In the root itself, no worktree need be looked for. Any other directory may be gone
        // by now, which changes nothing: the project is known.
        let worktree = cwd
            .filter(|cwd| *cwd != root)
            .and_then(|cwd| Checkout::of(&real(cwd).ok()?, env).ok())
            .filter(|checkout| checkout.primary == root && checkout.top != root)
            .map_or_else(|| root.clone(), |checkout| checkout.top);
        return Ok(Project {
            root,
            worktree,
            bound: Bound::Yes,
            contents: Contents::Something,
            ignored: Vec::new(),
        });
    }
    let Some(cwd) = cwd else {
        return Err(Trouble::Other(
            "the event has no working directory, so no project was searched".into(),
        ));
    };
    let cwd = real(cwd).map_err(|trouble| explained(trouble, cwd))?;
    let checkout = Checkout::of(&cwd, env)?;
    let mut ignored = Vec::new();
    if let Some(project) = checkout.search(&cwd, (state, env), choice, &mut ignored) {
        return Ok(Project { ignored, ..project });
    }
    let started = started.and_then(|path| real(&path).ok());
    if let Some(started) = started.filter(|started| *started != cwd) {
        let origin = Checkout::of(&started, env).ok();
        if let Some(project) =
            origin.and_then(|origin| origin.search(&started, (state, env), choice, &mut ignored))
        {
            let worktree = if checkout.primary == project.root && checkout.top != project.root {
                checkout.top
            } else {
                project.worktree
            };
            return Ok(Project {
                worktree,
                ignored,
                ..project
            });
        }
    }
    let project = checkout.fallback(cwd);
    Ok(Project { ignored, ..project })
}

/// The project of a command. If a command is typed in a repository that holds nothing yet, its
/// project is the whole repository, so that every folder of it finds the project.
pub(crate) fn of_command(
    env: &Environment,
    state: &StateDir,
    session: Option<&SessionId>,
    cwd: &Path,
) -> Result<Project, Trouble> {
    let place = Whereabouts {
        cwd: Some(cwd),
        started: hosts::project_dir(env),
    };
    widened(env, find(Choice::PersonsFirst, env, state, session, place)?)
}

/// The project of a session that was started in this folder, whoever asks.
pub(crate) fn of_session(
    env: &Environment,
    state: &StateDir,
    session: &SessionId,
    folder: &Path,
) -> Result<Project, Trouble> {
    let place = Whereabouts {
        cwd: Some(folder),
        started: None,
    };
    let found = find(Choice::PersonsFirst, env, state, Some(session), place)?;
    widened(env, found)
}

/// The project that a person trusts by a command that is typed here: the nearest, even below one
/// that is trusted already.
pub(crate) fn to_trust(
    env: &Environment,
    state: &StateDir,
    cwd: &Path,
) -> Result<Project, Trouble> {
    let place = Whereabouts {
        cwd: Some(cwd),
        started: hosts::project_dir(env),
    };
    widened(env, find(Choice::Nearest, env, state, None, place)?)
}

fn widened(env: &Environment, project: Project) -> Result<Project, Trouble> {
    if project.bound == Bound::Yes || project.contents == Contents::Something {
        return Ok(project);
    }
    let checkout = Checkout::of(&project.worktree, env)?;
    if !checkout.is_own(&project.worktree, env) {
        return Ok(Project {
            contents: Contents::Something,
            ..project
        });
    }
    let ignored = project.ignored;
    let project = checkout.project(&checkout.top);
    Ok(Project { ignored, ..project })
}

/// Is this folder in a repository that counts as the person's?
pub(crate) fn is_in_own_repository(folder: &Path, env: &Environment) -> bool {
    Checkout::of(folder, env).is_ok_and(|checkout| checkout.is_own(folder, env))
}

/// Binds a session to a project. The binding is not synced, because it is only a hint and a
/// crash may lose it; two hooks at once write the same bytes.
pub(crate) fn bind(state: &StateDir, session: &SessionId, root: &Path) -> Result<(), Trouble> {
    let path = state.binding(session.as_str());
    state.create(path.parent().unwrap_or(state.root()))?;
    write_binding(&path, root)
}

/// Writes a session's binding, of which only the file is known.
pub(crate) fn write_binding(path: &Path, root: &Path) -> Result<(), Trouble> {
    let project = path_text::to_text(root);
    let text = json_text(path, &Binding { project })?;
    atomic::replace(path, text.as_bytes())
}

/// Which project a session is bound to.
#[derive(Serialize, Deserialize)]
struct Binding {
    project: String,
}

/// The project that this session is bound to, if it is still there. A binding that was
/// changed is an error: another project would be looked at, and this one's machines would
/// let go without a word.
fn binding(state: &StateDir, session: &SessionId) -> Result<Option<PathBuf>, Trouble> {
    let root = read_binding(&state.binding(session.as_str()))?;
    Ok(root.filter(|root| root.is_absolute() && root.is_dir()))
}

/// The project that a binding names, whether or not it is still there.
pub(crate) fn read_binding(path: &Path) -> Result<Option<PathBuf>, Trouble> {
    let found = atomic::read(path, MOST_BINDING)?.filter(|bytes| !seal::is_torn(bytes));
    let Some(bytes) = found else {
        return Ok(None);
    };
    let object = seal::unseal(path, &bytes)?;
    let read = mainspring_json::read::<Binding>(&object);
    let binding = read.map_err(|error| Trouble::corrupt(path, error))?;
    Ok(Some(path_text::from_text(&binding.project).into_owned()))
}

/// A path, three times as long where its bytes are no text.
const MOST_BINDING: u64 = 16 << 10;

fn real(path: &Path) -> Result<PathBuf, Trouble> {
    // Most paths are already resolved, which one system call confirms; to resolve a path takes
    // one for each folder on it.
    if is_plain(path) && leads_to(path) {
        return Ok(path.into());
    }
    path::real(path).map_err(Trouble::io("find", path))
}

/// A host's event is UTF-8 text. Other bytes in a folder's name arrive as the replacement
/// character, and the name is lost.
fn explained(trouble: Trouble, cwd: &Path) -> Trouble {
    match cwd.to_str() {
        Some(text) if text.contains(char::REPLACEMENT_CHARACTER) => Trouble::Other(format!(
            "{trouble}. The folder's name is not UTF-8 text, which the host cannot pass on: \
             rename it, or switch on what you want from the agent's own shell, with \
             `mainspring gate on` or `mainspring loop start`"
        )),
        Some(_) | None => trouble,
    }
}

/// Is the path absolute and without `.` and `..`, as `path::real` writes it?
fn is_plain(path: &Path) -> bool {
    let named = |part| matches!(part, Component::RootDir | Component::Normal(_));
    let plain: PathBuf = path.components().take_while(|part| named(*part)).collect();
    path.is_absolute() && plain.as_os_str() == path.as_os_str()
}

fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

#[cfg(test)]
mod tests;
