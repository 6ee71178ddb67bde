//! Drivers for the real clients of every host, headless and in a terminal.
//!
//! ```no_run
//! use mainspring_testkit::hosts::{Host, HostClient};
//! use mainspring_testkit::model::{Model, Turn};
//!
//! let model = Model::play([Turn::say("I am done."), Turn::say("Now I really am.")]);
//! let Some(codex) = HostClient::new(Host::Codex, &model) else { return };
//! codex.hook("Stop", "/abs/mainspring hook");
//! let run = codex.run("do it");
//! assert!(run.succeeded());
//! assert!(model.saw_text("hook_prompt"));
//! ```
//!
//! As with Claude Code, a client has a home and a project of its own, and nothing of the test's
//! environment. Its proxy is a closed port of this machine: it reaches the model, and nothing
//! else.

mod screen;
mod setup;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;

pub use self::screen::Window;
use crate::clients::{self, Client};
use crate::files;
use crate::model::Model;
use crate::process::{Finished, PATIENCE, Running};
use crate::recorder::{self, HookCall};

/// A host whose client can be driven.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Host {
    Claude,
    Codex,
    Gemini,
    Qwen,
    Copilot,
    Droid,
    Grok,
    Opencode,
    Pi,
}

impl Host {
    pub const ALL: [Self; 9] = [
        Self::Claude,
        Self::Codex,
        Self::Gemini,
        Self::Qwen,
        Self::Copilot,
        Self::Droid,
        Self::Grok,
        Self::Opencode,
        Self::Pi,
    ];

    /// The name of its program, and in `clients.pin`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Qwen => "qwen",
            Self::Copilot => "copilot",
            Self::Droid => "droid",
            Self::Grok => "grok",
            Self::Opencode => "opencode",
            Self::Pi => "pi",
        }
    }

    /// Is its client fetched?
    pub fn is_here(self) -> bool {
        matches!(clients::of_host(self.name()), Client::Installed(_))
    }

    /// What it calls a prompt.
    pub fn prompt(self) -> &'static str {
        if self == Self::Gemini {
            "BeforeAgent"
        } else {
            "UserPromptSubmit"
        }
    }

    /// What it calls the agent's stop.
    pub fn stop(self) -> &'static str {
        if self == Self::Gemini {
            "AfterAgent"
        } else {
            "Stop"
        }
    }

    /// The person's own file that `mainspring install` writes, below the home.
    pub fn settings(self) -> &'static str {
        match self {
            Self::Claude => ".claude/settings.json",
            Self::Codex => ".codex/hooks.json",
            Self::Gemini => ".gemini/settings.json",
            Self::Qwen => ".qwen/settings.json",
            Self::Copilot => ".copilot/hooks/mainspring.json",
            Self::Droid => ".factory/settings.json",
            Self::Grok => ".grok/hooks/mainspring.json",
            Self::Opencode => ".config/opencode/plugins/mainspring.js",
            Self::Pi => ".pi/agent/extensions/mainspring.ts",
        }
    }
}

/// A real client with a home and a project.
#[derive(Debug)]
pub struct HostClient {
    pub host: Host,
    /// Two clients can share it.
    root: Arc<TempDir>,
    pub home: PathBuf,
    pub project: PathBuf,
    program: PathBuf,
    path: OsString,
    variables: Vec<(OsString, OsString)>,
}

impl HostClient {
    /// The pinned client, which talks to `model`; `None` if there is none, after a message about
    /// it.
    #[expect(clippy::print_stderr, reason = "a skipped test must say so")]
    pub fn new(host: Host, model: &Model) -> Option<Self> {
        let Client::Installed(program) = clients::of_host(host.name()) else {
            eprintln!("skipped: {} is not here, so it was not run", host.name());
            return None;
        };
        Some(Self::at(host, model, program))
    }

    /// This program as the host's client.
    pub fn at(host: Host, model: &Model, program: PathBuf) -> Self {
        let root = tempfile::Builder::new()
            .prefix("mainspring-")
            .tempdir()
            .expect("a temporary directory");
        let base = root.path().canonicalize().expect("it was just made");
        for name in ["home", "project", "tmp"] {
            fs::create_dir(base.join(name)).expect("the directory is ours");
        }
        let client = Self::in_world(host, model, program, Arc::new(root));
        client.init_repository();
        client
    }

    /// Another host's client in the same home and project; `None` if there is none.
    pub fn beside(&self, host: Host, model: &Model) -> Option<Self> {
        let Client::Installed(program) = clients::of_host(host.name()) else {
            return None;
        };
        let root = Arc::clone(&self.root);
        let mut other = Self::in_world(host, model, program, root);
        other.path.push(":");
        other.path.push(&self.path);
        Some(other)
    }

    fn in_world(host: Host, model: &Model, program: PathBuf, root: Arc<TempDir>) -> Self {
        let base = root.path().canonicalize().expect("it is ours");
        let mut client = Self {
            host,
            root,
            home: base.join("home"),
            project: base.join("project"),
            path: path_of(&program),
            program,
            variables: Vec::new(),
        };
        client.set("TMPDIR", base.join("tmp"));
        client.set("HOME", client.home.clone());
        setup::prepare(&mut client, model.url());
        client
    }

    /// The person's own file that `mainspring install` writes.
    pub fn settings(&self) -> PathBuf {
        self.home.join(self.host.settings())
    }

    pub fn set(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) {
        let name = name.into();
        self.variables.retain(|(held, _)| *held != name);
        self.variables.push((name, value.into()));
    }

    /// Puts a folder of programs first on the PATH.
    pub fn path_first(&mut self, folder: &Path) {
        let mut path = folder.as_os_str().to_owned();
        path.push(":");
        path.push(&self.path);
        self.path = path;
    }

    /// Puts another client's program on the PATH, and sets what that client needs.
    pub fn know(&mut self, other: &Self) {
        self.path.push(":");
        self.path.push(&other.path);
        for (name, value) in &other.variables {
            if !self.variables.iter().any(|(held, _)| held == name) {
                self.variables.push((name.clone(), value.clone()));
            }
        }
    }

    /// Registers a command line for an event in the person's own settings, behind a recorder.
    pub fn hook(&self, event: &str, line: &str) {
        let tee = crate::bins::hook_tee();
        let line = format!("{} {} {line}", tee.display(), self.hook_log().display());
        setup::add_hook(self, event, &line);
    }

    /// Registers a program with a list of arguments, as Claude Code takes one. Other hosts drop
    /// the list.
    pub fn hook_with_args(&self, event: &str, program: &str, args: &[&str]) {
        setup::add_handler(self, event, program, &json!(args));
    }

    /// Runs the client itself with these arguments, as a person does to set it up.
    pub fn client(&self, args: &[&str]) -> String {
        self.person(&self.program.to_string_lossy(), args)
    }

    /// Runs `prompt` headless, with more arguments.
    pub fn run_with(&self, more: &[&str], prompt: &str) -> Finished {
        let args = setup::args(self.host, prompt);
        Running::start(self.command(&self.program).args(more).args(args)).wait(PATIENCE)
    }

    /// Runs `prompt` headless.
    pub fn run(&self, prompt: &str) -> Finished {
        self.start(prompt).wait(PATIENCE)
    }

    pub fn start(&self, prompt: &str) -> Running {
        let args = setup::args(self.host, prompt);
        Running::start(self.command(&self.program).args(args))
    }

    /// Resumes the last session with `prompt`, headless; `None` for a host that does so only in a
    /// terminal.
    pub fn resume(&self, prompt: &str) -> Option<Finished> {
        let args = setup::resume_args(self.host, prompt)?;
        Some(Running::start(self.command(&self.program).args(args)).wait(PATIENCE))
    }

    /// Any program in the same world, as a person would start it.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", &self.path)
            .env("TERM", "xterm-256color")
            .env("LANG", "C.UTF-8")
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.project);
        command
    }

    /// Runs a person's command, which must succeed; what it printed.
    #[track_caller]
    pub fn person(&self, program: &str, args: &[&str]) -> String {
        let done = Running::start(self.command(program).args(args)).wait(PATIENCE);
        let text = done.stdout_text();
        assert!(done.succeeded(), "{args:?}: {text}{}", done.stderr_text());
        text
    }

    /// What the recorded hooks were given and answered, in the order of their starts.
    pub fn hook_calls(&self) -> Vec<HookCall> {
        recorder::read(&self.hook_log())
    }

    /// Was the agent held, at each of its stops?
    pub fn held(&self) -> Vec<bool> {
        let calls = self.hook_calls();
        let stops = calls
            .iter()
            .filter(|call| call.event() == self.host.stop() && call.input["agent_id"].is_null());
        stops
            .map(|call| call.answer()["decision"] == "block")
            .collect()
    }

    fn hook_log(&self) -> PathBuf {
        self.root.path().join("hooks.jsonl")
    }

    fn init_repository(&self) {
        for args in [
            &["init", "--quiet", "--initial-branch=main"][..],
            &["config", "user.name", "Test"],
            &["config", "user.email", "test@example.invalid"],
            &["commit", "--quiet", "--allow-empty", "--message=start"],
        ] {
            let git = Running::start(self.command("git").args(args)).wait(PATIENCE);
            assert!(git.succeeded(), "git {args:?}: {}", git.stderr_text());
        }
    }

    /// A JSON file below the home, changed.
    fn edit(&self, path: &str, change: impl FnOnce(&mut Value)) {
        let path = self.home.join(path);
        let text = fs::read_to_string(&path).unwrap_or_else(|_| "{}".into());
        let mut value = serde_json::from_str(&text).unwrap_or_else(|_| json!({}));
        change(&mut value);
        self.put(&path, &value.to_string());
    }

    fn put(&self, path: &Path, text: &str) {
        let path = self.home.join(path);
        let folder = path.parent().expect("it is below the home");
        fs::create_dir_all(folder).expect("the directory is ours");
        files::write(path, text);
    }
}

/// Where the client's own Node is, then git, sh and the like.
fn path_of(program: &Path) -> OsString {
    let mut path = OsString::new();
    for folder in clients::node_folder()
        .iter()
        .map(PathBuf::as_path)
        .chain(program.parent())
    {
        path.push(folder);
        path.push(":");
    }
    path.push("/usr/local/bin:/usr/bin:/bin");
    path
}
