//! `git` and `gh` as children: which program, in which folder, with which environment.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mainspring_kernel::Millis;
use mainspring_store::Trouble;

use crate::config::{Config, Value};
use crate::env::Environment;
use crate::event_context::EventContext;
use crate::process::{Failure, Finished, Job};

/// What a child of ours may see of our environment. Nothing that makes git or gh run a
/// program of the repository's choosing is among it.
const PASSED_ON: &[&str] = &[
    "HOME",
    "PATH",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    "SSH_AUTH_SOCK",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "https_proxy",
    "http_proxy",
    "no_proxy",
    "GH_TOKEN",
    "GITHUB_TOKEN",
    "GH_ENTERPRISE_TOKEN",
    "GITHUB_ENTERPRISE_TOKEN",
    "GH_CONFIG_DIR",
    "GH_TELEMETRY",
];

/// No child waits for a person, and none prints colours.
const SET: &[(&str, &str)] = &[
    ("GH_PROMPT_DISABLED", "1"),
    ("GH_NO_UPDATE_NOTIFIER", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("NO_COLOR", "1"),
];

/// What a repository's own configuration may not do to a command of ours.
const GIT_CONFIG: &[&str] = &[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "protocol.ext.allow=never",
    "core.pager=cat",
];

/// Whether the repository's own hooks may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hooks {
    Off,
    /// Somebody asked for this very push in their own shell: it is theirs, hooks and all.
    On,
}

/// The two programs, for one piece of work with one deadline.
#[derive(Debug)]
pub(crate) struct Programs {
    gh: PathBuf,
    git: PathBuf,
    dir: PathBuf,
    env: Vec<(OsString, OsString)>,
    until: Instant,
}

impl Programs {
    pub(crate) fn of(context: &EventContext<'_>, limit: Millis) -> Result<Self, Trouble> {
        Self::with(
            context.env,
            context.config()?,
            &context.project.worktree,
            limit,
        )
    }

    pub(super) fn with(
        env: &Environment,
        config: &Config,
        dir: &Path,
        limit: Millis,
    ) -> Result<Self, Trouble> {
        let passed = PASSED_ON
            .iter()
            .filter_map(|name| Some((OsString::from(name), env.var_os(name)?)));
        let set = SET
            .iter()
            .map(|(name, value)| (OsString::from(name), OsString::from(value)));
        Ok(Self {
            gh: find(env, config, "claim.gh")?,
            git: find(env, config, "claim.git")?,
            dir: dir.into(),
            env: passed.chain(set).collect(),
            until: Instant::now() + Duration::from_millis(limit.0),
        })
    }

    /// The same in another folder.
    pub(crate) fn in_dir(mut self, dir: &Path) -> Self {
        self.dir = dir.into();
        self
    }

    fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    pub(crate) fn gh(&self, args: &[&str], stdin: Vec<u8>) -> Result<Finished, Failure> {
        Job::new(&self.gh, self.left())
            .args(args)
            .only_env(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.dir)
            .stdin(stdin)
            .run()
    }

    pub(crate) fn git(&self, args: &[&str]) -> Result<Finished, Failure> {
        self.git_with(args, Hooks::Off, &[])
    }

    pub(crate) fn git_with(
        &self,
        args: &[&str],
        hooks: Hooks,
        vars: &[(&str, &str)],
    ) -> Result<Finished, Failure> {
        let kept = |setting: &&&str| hooks == Hooks::Off || !setting.starts_with("core.hooksPath");
        let config = GIT_CONFIG
            .iter()
            .filter(kept)
            .flat_map(|setting| ["-c", setting]);
        let env = self
            .env
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()));
        let vars = vars
            .iter()
            .map(|(name, value)| (OsString::from(name), OsString::from(value)));
        Job::new(&self.git, self.left())
            .args(config.chain(args.iter().copied()))
            .only_env(env.chain(vars))
            .current_dir(&self.dir)
            .run()
    }

    /// What git printed, without the line's end; the error says what it said.
    pub(crate) fn ask_git(&self, args: &[&str]) -> Result<String, String> {
        let finished = self.git(args).map_err(|failure| failure.to_string())?;
        said(&finished).map_err(|cause| format!("git {}: {cause}", args[0]))
    }
}

/// What a child printed; or, if it failed, the last line of its complaint.
pub(crate) fn said(finished: &Finished) -> Result<String, String> {
    if finished.code == Some(0) {
        return Ok(String::from_utf8_lossy(&finished.stdout)
            .trim_end()
            .to_owned());
    }
    let stderr = String::from_utf8_lossy(&finished.stderr);
    let last = stderr.lines().rev().find(|line| !line.trim().is_empty());
    Err(last.map_or_else(
        || format!("it ended with {:?}", finished.code),
        crate::host::text::excerpt,
    ))
}

/// An absolute path, from the user's configuration or from `PATH`. A relative entry there
/// would let the project's folder decide what runs.
fn find(env: &Environment, config: &Config, key: &'static str) -> Result<PathBuf, Trouble> {
    let wanted = config.get(key).and_then(Value::text).unwrap_or_default();
    let path = Path::new(wanted);
    if path.is_absolute() {
        return Ok(path.into());
    }
    if wanted.is_empty() || wanted.contains('/') {
        return Err(Trouble::Other(format!(
            "{key} is {wanted:?}: a name or an absolute path is wanted"
        )));
    }
    env.program(wanted)
        .ok_or_else(|| Trouble::Other(format!("{wanted} is not installed: set {key} to its path")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_entry_of_path_is_not_searched() {
        let env = Environment::given(&[("PATH", ".:bin:/usr/bin:/bin")], Millis(0));
        let config = Config::load(&env, Path::new("/nonexistent")).unwrap();
        let git = find(&env, &config, "claim.git").unwrap();
        assert!(git.is_absolute(), "{git:?}");
        let nowhere = Environment::given(&[("PATH", ".")], Millis(0));
        let error = find(&nowhere, &config, "claim.git").unwrap_err();
        assert!(error.to_string().contains("claim.git"), "{error}");
    }
}
