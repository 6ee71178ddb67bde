//! `gh` and `git` for one effect: which program, in which folder, with which environment.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mainspring_kernel::Millis;
use mainspring_store::Trouble;

use crate::children::child_env::{self, GH, NETWORK, PERSON};
use crate::children::permit::Permit;
use crate::children::process::{Failure, Finished, Job};
use crate::config::Config;
use crate::context::EventContext;
use crate::env::Environment;
use crate::git::{self, Git};

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
    ssh: Option<PathBuf>,
    dir: PathBuf,
    env: Vec<(OsString, OsString)>,
    until: Instant,
}

impl Programs {
    pub(crate) fn of(
        context: &EventContext<'_>,
        dir: &Path,
        permit: Permit,
        limit: Millis,
    ) -> Result<Self, Trouble> {
        let programs = Self::with(permit.clone(), context.env, context.config()?, dir, limit)?;
        let git = Git::of(context, permit, programs.until)?.in_dir(dir);
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
            permit: permit.clone(),
            git: Git::new(permit, env, config, dir, until)?,
            gh: git::find(env, "claim.gh", &config.claim.gh)?,
            ssh: env.program("ssh"),
            dir: dir.into(),
            env: child_env::listed(env, &[PERSON, NETWORK, GH]),
            until,
        })
    }

    /// The server behind an alias of ssh's configuration; `None` if ssh does not say.
    pub(super) fn ssh_host(&self, alias: &str) -> Option<String> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        if alias.starts_with('-') || !alias.bytes().all(plain) {
            return None;
        }
        let ssh = self.ssh.as_ref()?;
        let asked = self.job(ssh).args(["-G", "--", alias]).run().ok()?;
        let said = String::from_utf8_lossy(&asked.stdout);
        let name = said
            .lines()
            .find_map(|line| line.strip_prefix("hostname "))?;
        Some(name.trim().to_ascii_lowercase())
    }

    /// The servers that `gh` says it is signed in to. It is not asked about one by name: it would
    /// send that one its token.
    pub(super) fn signed_in(&self) -> Vec<String> {
        let Ok(asked) = self.gh(&["auth", "status"], Vec::new()) else {
            return Vec::new();
        };
        let said = [asked.stdout, asked.stderr].concat();
        super::route::in_status(&String::from_utf8_lossy(&said))
    }

    fn job(&self, program: &Path) -> Job {
        let left = self.until.saturating_duration_since(Instant::now());
        Job::new(self.permit.clone(), program, left)
            .env(self.env.iter().map(|(name, value)| (name, value)))
            .env(SET.iter().copied())
            .current_dir(&self.dir)
    }

    pub(crate) fn gh(&self, args: &[&str], stdin: Vec<u8>) -> Result<Finished, Failure> {
        self.job(&self.gh).args(args).stdin(stdin).run()
    }
}
