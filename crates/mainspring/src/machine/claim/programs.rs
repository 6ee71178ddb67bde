//! `gh` and `git` for one effect: which program, in which folder, with which environment.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mainspring_kernel::Millis;
use mainspring_store::Trouble;

use crate::child_env::{self, GH, NETWORK, PERSON};
use crate::config::Config;
use crate::env::Environment;
use crate::event_context::EventContext;
use crate::git::{self, Git};
use crate::permit::Permit;
use crate::process::{Failure, Finished, Job};

/// Neither waits for a person or prints colours.
const SET: &[(&str, &str)] = &[
    ("GH_PROMPT_DISABLED", "1"),
    ("GH_NO_UPDATE_NOTIFIER", "1"),
    ("NO_COLOR", "1"),
];

/// Both programs, with one deadline.
#[derive(Debug)]
pub(crate) struct Programs {
    permit: Permit,
    pub(crate) git: Git,
    gh: PathBuf,
    dir: PathBuf,
    env: Vec<(OsString, OsString)>,
    until: Instant,
}

impl Programs {
    pub(crate) fn of(
        context: &EventContext<'_>,
        permit: Permit,
        limit: Millis,
    ) -> Result<Self, Trouble> {
        let dir = &context.project.worktree;
        let programs = Self::with(permit, context.env, context.config()?, dir, limit)?;
        let git = Git::of(context, permit, programs.until)?;
        Ok(Self { git, ..programs })
    }

    /// For a folder that nobody trusted.
    pub(super) fn with(
        permit: Permit,
        env: &Environment,
        config: &Config,
        dir: &Path,
        limit: Millis,
    ) -> Result<Self, Trouble> {
        let until = Instant::now() + Duration::from_millis(limit.0);
        Ok(Self {
            permit,
            git: Git::new(permit, env, config, dir, until)?,
            gh: git::find(env, config, "claim.gh")?,
            dir: dir.into(),
            env: child_env::listed(env, &[PERSON, NETWORK, GH]),
            until,
        })
    }

    pub(crate) fn gh(&self, args: &[&str], stdin: Vec<u8>) -> Result<Finished, Failure> {
        let left = self.until.saturating_duration_since(Instant::now());
        Job::new(self.permit, &self.gh, left)
            .args(args)
            .env(self.env.iter().map(|(name, value)| (name, value)))
            .env(SET.iter().copied())
            .current_dir(&self.dir)
            .stdin(stdin)
            .run()
    }
}
