//! The place for a commit in a worktree of its own: one for each project, used by one command at a
//! time. A command that was killed leaves its worktree there; the next one, or the next stop, takes
//! it away.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mainspring_platform::{file, lock, path};
use mainspring_store::Trouble;

use crate::children::permit::Permit;
use crate::context::EventContext;
use crate::error::CliError;
use crate::git::Git;

/// To check out, or delete, a large tree.
const LIMIT: Duration = Duration::from_secs(300);

/// A commit in a worktree of its own, for as long as a command needs it.
#[derive(Debug)]
pub(crate) struct ProvingTree {
    place: ProvingPlace,
    pub(crate) dir: PathBuf,
    pub(crate) commit: String,
}

impl ProvingTree {
    pub(crate) fn of(
        context: &EventContext<'_>,
        permit: &Permit,
        commit: &str,
    ) -> Result<Self, CliError> {
        let Some(place) = ProvingPlace::take(context, permit)? else {
            let other = "another `check prove` or `check verify` runs in this project";
            return Err(CliError::new(other).hint("try again when it has ended"));
        };
        let name = format!("{commit}^{{commit}}");
        let found = place.git.resolve(&name);
        let Some(full) = found.filter(|_| !commit.starts_with('-')) else {
            return Err(CliError::new(format!("there is no commit {commit:?} here"))
                .hint("fetch it first, or name another one"));
        };
        context.store.state().create(&place.dir)?;
        let work = place.work();
        let added = place.git.add_detached(&work.to_string_lossy(), &full);
        added.map_err(CliError::new)?;
        Ok(Self {
            dir: path::real(&work).map_err(Trouble::io("find", &work))?,
            place,
            commit: full,
        })
    }

    /// Changes the tree as this patch says.
    pub(crate) fn apply(&self, patch: &Path) -> Result<(), CliError> {
        let git = self.place.git.clone().in_dir(&self.dir);
        git.apply(&patch.to_string_lossy()).map_err(CliError::new)
    }
}

#[derive(Debug)]
struct ProvingPlace {
    git: Git,
    /// It exists while there is anything to take away.
    dir: PathBuf,
    /// It ends with this process.
    _lock: File,
}

impl ProvingPlace {
    /// Takes the place, empty; `None` if another process uses it.
    fn take(context: &EventContext<'_>, permit: &Permit) -> Result<Option<Self>, Trouble> {
        let folder = context.store.checks();
        context.store.state().create(&folder)?;
        let path = folder.join("tree.lock");
        let lock = file::options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(Trouble::io("open", &path))?;
        if !lock::try_take(&lock).map_err(Trouble::io("lock", &path))? {
            return Ok(None);
        }
        let place = Self {
            git: Git::of(context, permit.clone(), Instant::now() + LIMIT)?,
            dir: folder.join("tree"),
            _lock: lock,
        };
        place.clear()?;
        Ok(Some(place))
    }

    fn work(&self) -> PathBuf {
        self.dir.join("work")
    }

    /// Takes away what is there, and what git knows of it.
    fn clear(&self) -> Result<(), Trouble> {
        if fs::symlink_metadata(&self.dir).is_err() {
            return Ok(());
        }
        // It may be half a worktree, or none: then git refuses, and its folder goes all the same.
        let _ = self.git.remove_worktree(&self.work().to_string_lossy());
        fs::remove_dir_all(&self.dir).map_err(Trouble::io("delete", &self.dir))
    }
}

impl Drop for ProvingPlace {
    fn drop(&mut self) {
        // What cannot be taken away now is taken away by the next one.
        let _ = self.clear();
    }
}

/// Takes away what a killed command left, unless one is at work.
pub(super) fn sweep(context: &EventContext<'_>, permit: &Permit) {
    if fs::symlink_metadata(context.store.checks().join("tree")).is_ok() {
        let _ = ProvingPlace::take(context, permit);
    }
}
