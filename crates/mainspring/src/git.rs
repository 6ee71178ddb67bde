//! All git commands are built here. There are three kinds.
//!
//! A **look** only reads. It runs nothing that the repository configures, and it contacts no
//! server, not even for an object that a partial clone left there. Commands that read the work
//! tree's content (`status`, `diff`, `add`) always run the repository's filters, so no look uses
//! them.
//!
//! A command to the **server** runs no hook. It uses the repository's transport settings
//! (`core.sshCommand`, `credential.helper`) only if a person trusted the project, and otherwise
//! the person's own. Settings that lead its connections elsewhere (`http.*`) cannot be taken
//! back one by one, so the server of a repository that has them is asked nothing until a person
//! trusts it.
//!
//! A command that somebody asked for **by name**, a push of their branch or a new worktree, runs
//! in a trusted project as if they had typed it: with hooks, filters and their whole environment.
//!
//! The system's configuration counts (no `GIT_CONFIG_NOSYSTEM`): it is root's, and may hold the
//! `safe.directory` without which git refuses a folder.

mod branches;
mod filters;
mod obstacles;
mod remotes;
mod transport;
mod trees;

pub(crate) use remotes::RemoteConfig;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mainspring_kernel::deliberate::Trust;
use mainspring_store::Trouble;

use crate::children::child_env::{self, GH, NETWORK, Names, PERSON};
use crate::children::permit::{Permit, Revoked};
use crate::children::process::{Failure, Finished, Job};
use crate::config::Config;
use crate::context::EventContext;
use crate::env::Environment;
use crate::hosts::text::excerpt;

/// What no configuration may change, whatever the command.
const ALWAYS: &[&str] = &[
    "core.fsmonitor=false",
    "core.pager=cat",
    "protocol.ext.allow=never",
];

/// What would run a program, or do more than was asked.
const NOTHING_RUNS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.askPass=",
    // It is run by a shell, which has this one built in: it prints nothing.
    "core.alternateRefsCommand=true",
    "log.showSignature=false",
    "push.gpgSign=false",
    "push.recurseSubmodules=no",
    "fetch.recurseSubmodules=false",
    "submodule.recurse=false",
    "maintenance.auto=false",
    "gc.auto=0",
];

/// No child waits for a person, prints colours, or translates what we read.
const SET: &[(&str, &str)] = &[
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("NO_COLOR", "1"),
    ("LC_ALL", "C"),
];
const NO_SERVER: &[(&str, &str)] = &[("GIT_ALLOW_PROTOCOL", ""), ("GIT_NO_LAZY_FETCH", "1")];
/// The protocols that cannot name a program. `ext` can, a remote's `vcs` can, and `git` can by
/// its proxy.
const SERVERS: &[(&str, &str)] = &[("GIT_ALLOW_PROTOCOL", "file:http:https:ssh")];

/// Variables for keys and credential helpers, besides the person's and the network's.
const KEYS: Names = &["SSH_AUTH_SOCK"];

/// Variables that would point git at another repository than the one we are in: what
/// `git rev-parse --local-env-vars` lists.
const ANOTHER_REPOSITORY: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// Whose name is on a claim's commit.
const OURSELVES: &[(&str, &str)] = &[
    ("GIT_AUTHOR_NAME", "mainspring"),
    ("GIT_AUTHOR_EMAIL", "mainspring@localhost"),
    ("GIT_COMMITTER_NAME", "mainspring"),
    ("GIT_COMMITTER_EMAIL", "mainspring@localhost"),
];

/// The program's name.
pub(crate) const NAME: &str = "git";

/// Is the program here?
pub(crate) fn is_here(env: &Environment, config: &Config) -> bool {
    find(env, "claim.git", &config.claim.git).is_ok()
}

/// git in one folder, with one deadline for everything that is asked.
#[derive(Debug, Clone)]
pub(crate) struct Git {
    permit: Permit,
    program: PathBuf,
    dir: PathBuf,
    env: Environment,
    trust: Trust,
    until: Instant,
}

impl Git {
    /// git in the project's worktree, with the rights that the project's trust gives.
    pub(crate) fn of(
        context: &EventContext<'_>,
        permit: Permit,
        until: Instant,
    ) -> Result<Self, Trouble> {
        let trust = context.permission().trust();
        let dir = &context.project.worktree;
        let git = Self::new(permit, context.env, context.config()?, dir, until)?;
        Ok(Self { trust, ..git })
    }

    /// git in a folder that nobody trusted.
    pub(crate) fn new(
        permit: Permit,
        env: &Environment,
        config: &Config,
        dir: &Path,
        until: Instant,
    ) -> Result<Self, Trouble> {
        Ok(Self {
            permit,
            program: find(env, "claim.git", &config.claim.git)?,
            dir: dir.into(),
            env: env.clone(),
            trust: Trust::Untrusted,
            until,
        })
    }

    /// The same in another folder of the project.
    pub(crate) fn in_dir(self, dir: &Path) -> Self {
        Self {
            dir: dir.into(),
            ..self
        }
    }

    /// The same with so much time from now on.
    pub(crate) fn within(self, limit: Duration) -> Self {
        Self {
            until: Instant::now() + limit,
            ..self
        }
    }

    /// Is there time left, and does no order forbid more? The error says why not.
    pub(crate) fn may_go_on(&self) -> Result<(), &'static str> {
        if Instant::now() >= self.until {
            return Err("it is too large to be read in the time that there is");
        }
        self.permit
            .check()
            .map_err(|Revoked| "a person stopped the checks")
    }

    fn job(&self, config: &[&str], args: &[&str]) -> Job {
        let settings = ALWAYS.iter().chain(config).flat_map(|one| ["-c", one]);
        let left = self.until.saturating_duration_since(Instant::now());
        Job::new(self.permit.clone(), &self.program, left)
            .args(["--no-pager"])
            .args(settings)
            .args(args)
            .current_dir(&self.dir)
            .obstacle(obstacles::at_once(&self.dir))
            .search(obstacles::anywhere, &self.dir)
    }

    /// Asks about what is here.
    fn look(&self, args: &[&str], vars: &[(&str, &str)]) -> Result<Finished, Failure> {
        self.looking(args, vars).run()
    }

    fn looking(&self, args: &[&str], vars: &[(&str, &str)]) -> Job {
        self.job(NOTHING_RUNS, args)
            .env(child_env::listed(&self.env, &[PERSON]))
            .env(SET.iter().chain(NO_SERVER).chain(vars).copied())
    }

    fn ask(&self, args: &[&str]) -> Result<String, String> {
        heard(args, self.look(args, &[]))
    }

    /// Asks or tells the server about a ref of ours.
    fn server(&self, args: &[&str]) -> Result<Finished, Failure> {
        self.serving(args)?.run()
    }

    fn serving(&self, args: &[&str]) -> Result<Job, Failure> {
        let transport = self.transport()?;
        let config: Vec<&str> = NOTHING_RUNS
            .iter()
            .copied()
            .chain(transport.iter().map(String::as_str))
            .collect();
        Ok(self
            .job(&config, args)
            .env(child_env::listed(&self.env, &[PERSON, NETWORK, GH, KEYS]))
            .env(SET.iter().chain(SERVERS).copied()))
    }

    /// Options that override the repository's transport settings if nobody trusted it.
    fn transport(&self) -> Result<Vec<String>, Failure> {
        if self.trust == Trust::Trusted {
            return Ok(Vec::new());
        }
        let listed = ["config", "--list", "--show-scope", "--includes", "--null"];
        let finished = self.look(&listed, &[])?;
        transport::for_untrusted(&String::from_utf8_lossy(&finished.stdout))
            .map_err(|setting| Failure::Redirected { setting })
    }

    /// Does what somebody asked for. In a project that nobody trusted, no hook runs, and no filter
    /// that the repository configures.
    fn own(&self, args: &[&str]) -> Result<Finished, Failure> {
        if self.trust == Trust::Untrusted {
            return self.serving(args)?.env(self.own_filters()).run();
        }
        let mut env = self.env.vars();
        env.retain(|(variable, _)| !ANOTHER_REPOSITORY.iter().any(|name| variable == name));
        self.job(&[], args)
            .env(env)
            .env([("GIT_TERMINAL_PROMPT", "0"), ("NO_COLOR", "1")])
            .run()
    }
}

/// Looks.
impl Git {
    /// The commit or branch of this name, if it is there.
    pub(crate) fn resolve(&self, name: &str) -> Option<String> {
        self.ask(&["rev-parse", "--verify", "--quiet", name]).ok()
    }

    /// How many commits the range has, as git prints it.
    pub(crate) fn count(&self, range: &str) -> Result<String, String> {
        self.ask(&["rev-list", "--count", "--end-of-options", range])
    }

    /// `None` where one of them is not known here.
    pub(crate) fn is_ancestor(&self, one: &str, other: &str) -> Option<bool> {
        let asked = self.look(&["merge-base", "--is-ancestor", "--", one, other], &[]);
        match asked.ok()?.code {
            Some(0) => Some(true),
            Some(1) => Some(false),
            Some(_) | None => None,
        }
    }

    pub(crate) fn ignores(&self, path: &str) -> bool {
        let asked = self.look(&["check-ignore", "--quiet", "--", path], &[]);
        asked.is_ok_and(|finished| finished.code == Some(0))
    }

    /// A setting, if it has a value.
    pub(crate) fn setting(&self, name: &str) -> Option<String> {
        self.ask(&["config", "--get", name]).ok()
    }

    /// A commit as git stores it.
    pub(crate) fn commit_text(&self, commit: &str) -> Result<String, String> {
        self.ask(&["cat-file", "commit", commit])
    }

    /// The latest commits that touched this path: a short id and the first line each.
    pub(crate) fn latest(&self, path: &str) -> Vec<String> {
        let format = ["log", "-n", "5", "--format=%h %s", "--no-show-signature"];
        let plain = ["--no-ext-diff", "--no-textconv", "--no-mailmap", "--", path];
        let args = [format, plain].concat();
        let asked = self.look(&args, &[("GIT_LITERAL_PATHSPECS", "1")]);
        let said = heard(&args, asked).unwrap_or_default();
        said.lines().map(excerpt).collect()
    }

    /// Stores a commit of the empty tree with this message.
    pub(crate) fn store_note(&self, message: &str) -> Result<String, String> {
        let tree = self.ask(&["hash-object", "-t", "tree", "-w", "/dev/null"])?;
        let args = ["commit-tree", &tree, "-m", message];
        heard(&args, self.look(&args, OURSELVES))
    }

    /// Makes a repository: the folder itself, or a bare one at this path.
    pub(crate) fn init(&self, bare: Option<&str>) -> Result<String, String> {
        match bare {
            Some(path) => self.ask(&["init", "--quiet", "--bare", "--", path]),
            None => self.ask(&["init", "--quiet", "--initial-branch=main", "."]),
        }
    }

    pub(crate) fn configure(&self, name: &str, value: &str) -> Result<String, String> {
        self.ask(&["config", name, value])
    }
}

/// Commands to the server, about refs that are ours.
impl Git {
    /// The commit that the server has under this name.
    pub(crate) fn listed(&self, remote: &str, name: &str) -> Result<Option<String>, String> {
        let plain = "--upload-pack=git-upload-pack";
        let args = ["ls-remote", plain, "--", remote, name];
        let said = heard(&args, self.server(&args))?;
        Ok(said.split_whitespace().next().map(str::to_owned))
    }

    pub(crate) fn fetch(&self, remote: &str, name: &str) -> Result<(), String> {
        self.fetch_all(remote, &[name])
    }

    /// Moves a ref of ours, if the server still has there what the lease says.
    pub(crate) fn push(&self, remote: &str, lease: &str, to: &str) -> Result<Finished, String> {
        let lease = format!("--force-with-lease={lease}");
        let plain = "--receive-pack=git-receive-pack";
        let args = [
            "push",
            "--porcelain",
            "--no-verify",
            plain,
            &lease,
            "--",
            remote,
            to,
        ];
        self.server(&args).map_err(|failure| failure.to_string())
    }
}

/// Commands that somebody asked for by name.
impl Git {
    pub(crate) fn push_branch(&self, remote: &str, branch: &str) -> Result<(), String> {
        let refspec = format!("refs/heads/{branch}:refs/heads/{branch}");
        let args = ["push", "--quiet", "--set-upstream", "--", remote, &refspec];
        heard(&args, self.own(&args)).map(drop)
    }

    /// Makes a worktree here, on the branch, which is created if it does not exist.
    pub(crate) fn add_worktree(&self, place: &str, branch: &str) -> Result<(), String> {
        let known = self.resolve(&format!("refs/heads/{branch}")).is_some();
        let mut args = vec!["worktree", "add", "--quiet"];
        if known {
            args.extend(["--", place, branch]);
        } else {
            args.extend(["-b", branch, "--", place]);
        }
        heard(&args, self.own(&args)).map(drop)
    }
}

/// What git printed, without the newline; or its complaint.
fn heard(args: &[&str], asked: Result<Finished, Failure>) -> Result<String, String> {
    let finished = asked.map_err(|failure| failure.to_string())?;
    said(&finished).map_err(|cause| format!("git {}: {cause}", args[0]))
}

/// What a child printed; or, if it failed, its reason.
pub(crate) fn said(finished: &Finished) -> Result<String, String> {
    if finished.code == Some(0) {
        return Ok(String::from_utf8_lossy(&finished.stdout)
            .trim_end()
            .to_owned());
    }
    let stderr = String::from_utf8_lossy(&finished.stderr);
    Err(reason(&stderr).unwrap_or_else(|| match finished.code {
        Some(code) => format!("exit code {code}"),
        None => "ended by a signal".into(),
    }))
}

/// Why git failed, by what it printed: the server's verdict, with what the server said; else the
/// last error; never a hint.
fn reason(stderr: &str) -> Option<String> {
    let lines = || {
        stderr
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
    };
    let of_server: Vec<&str> = lines()
        .filter_map(|line| line.strip_prefix("remote:"))
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .take(3)
        .collect();
    let verdict = lines().find(|line| line.starts_with("! ["));
    let error = lines()
        .rev()
        .find(|line| line.starts_with("fatal:") || line.starts_with("error:"));
    let last = lines().rev().find(|line| !line.starts_with("hint:"));
    let main = verdict.or(error).or(last)?;
    let main = main.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(if of_server.is_empty() {
        excerpt(&main)
    } else {
        excerpt(&format!("{main}; the server says: {}", of_server.join(" ")))
    })
}

/// The program that this key of the user's configuration wants: an absolute path, or a name on
/// `PATH`.
pub(crate) fn find(env: &Environment, key: &'static str, wanted: &str) -> Result<PathBuf, Trouble> {
    let path = Path::new(wanted);
    if path.is_absolute() {
        return Ok(path.into());
    }
    if wanted.is_empty() || wanted.contains('/') {
        return Err(Trouble::Other(format!(
            "{key} is {wanted:?}: a name or an absolute path is wanted"
        )));
    }
    env.program(wanted).ok_or_else(|| {
        let from = match wanted {
            "gh" => "install it from https://cli.github.com, or ",
            _ => "",
        };
        Trouble::Other(format!(
            "{wanted} is not installed: {from}set {key} to its path"
        ))
    })
}

/// Accepts a remote only by its name: an address could be a program, and a dash begins an option.
pub(crate) fn is_remote(name: &str) -> bool {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/');
    !name.is_empty() && !name.starts_with(['-', '.', '/']) && name.bytes().all(plain)
}
#[cfg(test)]
mod tests;
