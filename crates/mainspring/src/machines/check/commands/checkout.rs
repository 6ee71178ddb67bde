//! A commit in a worktree of its own, for as long as a command needs it.

use std::path::{Path, PathBuf};

use crate::children::permit::Permit;
use crate::command::Result;
use crate::context::EventContext;
use crate::error::CliError;
use crate::machines::check::ProvingPlace;

pub(super) struct Checkout {
    place: ProvingPlace,
    pub(super) dir: PathBuf,
    pub(super) commit: String,
}

impl Checkout {
    pub(super) fn of(context: &EventContext<'_>, permit: &Permit, commit: &str) -> Result<Self> {
        let Some(place) = ProvingPlace::take(context, permit)? else {
            return Err(CliError::new(
                "another `check prove` or `check verify` runs in this project",
            )
            .hint("try again when it has ended"));
        };
        let name = format!("{commit}^{{commit}}");
        let Some(full) = place
            .git
            .resolve(&name)
            .filter(|_| !commit.starts_with('-'))
        else {
            return Err(CliError::new(format!("there is no commit {commit:?} here"))
                .hint("fetch it first, or name another one"));
        };
        let dir = place.fill(context, &full)?;
        Ok(Self {
            place,
            dir,
            commit: full,
        })
    }

    /// Changes the tree as this patch says.
    pub(super) fn apply(&self, patch: &Path) -> Result<()> {
        let text = patch.to_string_lossy();
        let git = self.place.git.clone().in_dir(&self.dir);
        git.apply(&text).map_err(CliError::new)
    }
}
