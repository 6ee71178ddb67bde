//! A commit in a worktree of its own, for as long as a command needs it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mainspring_platform::identity;
use mainspring_store::Trouble;

use crate::error::CliError;
use crate::event_context::EventContext;
use crate::git::Git;
use crate::machine::check;
use crate::permit::Permit;
use crate::verb::Result;

/// To check out a large tree.
const LIMIT: Duration = Duration::from_secs(300);

pub(super) struct Checkout {
    git: Git,
    pub(super) dir: PathBuf,
    pub(super) commit: String,
}

impl Checkout {
    pub(super) fn of(context: &EventContext<'_>, permit: &Permit, commit: &str) -> Result<Self> {
        let git = Git::of(context, permit.clone(), Instant::now() + LIMIT)?;
        let name = format!("{commit}^{{commit}}");
        let Some(full) = git.resolve(&name).filter(|_| !commit.starts_with('-')) else {
            return Err(CliError::new(format!("there is no commit {commit:?} here"))
                .hint("fetch it first, or name another one"));
        };
        let folder = check::folder(context);
        context.store.state().create(&folder)?;
        let id = identity::random_id().map_err(Trouble::io("make", &folder))?;
        let dir = folder.join(format!("tree-{id}"));
        let place = dir.to_string_lossy().into_owned();
        git.add_detached(&place, &full).map_err(CliError::new)?;
        let dir = std::fs::canonicalize(&dir).map_err(Trouble::io("find", &dir))?;
        Ok(Self {
            git,
            dir,
            commit: full,
        })
    }

    /// Changes the tree as this patch says.
    pub(super) fn apply(&self, patch: &Path) -> Result<()> {
        let text = patch.to_string_lossy();
        let git = self.git.clone().in_dir(&self.dir);
        git.apply(&text).map_err(CliError::new)
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        let place = self.dir.to_string_lossy().into_owned();
        if self.git.remove_worktree(&place).is_err() {
            let _ = std::fs::remove_dir_all(&self.dir);
        }
    }
}
