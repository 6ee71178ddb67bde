//! A home, a project and an environment that belong to one test.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::files;
use crate::process::{PATIENCE, Running};

/// Where git, sh and the like are.
const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// The client asks about an unknown key; this one is known.
const API_KEY: &str = "dummy";

#[derive(Debug)]
pub(super) struct World {
    root: TempDir,
    pub(super) home: PathBuf,
    pub(super) project: PathBuf,
    path: OsString,
    variables: Vec<(OsString, OsString)>,
    memory: Map<String, Value>,
}

impl World {
    pub(super) fn new(client: &Path, model_url: &str) -> Self {
        let root = tempfile::Builder::new()
            .prefix("mainspring-")
            .tempdir()
            .expect("a temporary directory");
        let base = root.path().canonicalize().expect("it was just made");
        let [home, project, tmp] = ["home", "project", "tmp"].map(|name| {
            let folder = base.join(name);
            fs::create_dir(&folder).expect("the directory is ours");
            folder
        });
        let mut world = Self {
            root,
            home,
            project,
            path: SYSTEM_PATH.into(),
            variables: Vec::new(),
            memory: Map::new(),
        };
        // A reviewer that a hook starts by name is the same client.
        world.path_first(client.parent().expect("a program is in a folder"));
        for (name, value) in [
            ("HOME", world.home.clone().into_os_string()),
            ("TMPDIR", tmp.into_os_string()),
            ("TERM", "xterm-256color".into()),
            ("LANG", "C.UTF-8".into()),
            ("ANTHROPIC_BASE_URL", model_url.into()),
            ("ANTHROPIC_API_KEY", API_KEY.into()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".into()),
            ("DISABLE_TELEMETRY", "1".into()),
            ("DISABLE_AUTOUPDATER", "1".into()),
            // A scripted error is intended; retries would take minutes.
            ("CLAUDE_CODE_MAX_RETRIES", "0".into()),
        ] {
            world.set(name, value);
        }
        world.answer_first_questions();
        world
    }

    pub(super) fn root(&self) -> &Path {
        self.root.path()
    }

    pub(super) fn set(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) {
        let (name, value) = (name.as_ref().to_owned(), value.as_ref().to_owned());
        self.variables.retain(|(held, _)| *held != name);
        self.variables.push((name, value));
    }

    pub(super) fn path_first(&mut self, folder: &Path) {
        let mut path = folder.as_os_str().to_owned();
        path.push(":");
        path.push(&self.path);
        self.path = path;
    }

    /// A command in the project, with only this world in its environment.
    pub(super) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", &self.path)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.project);
        command
    }

    /// A repository with one commit, so that it has a branch.
    pub(super) fn init_repository(&self) {
        for args in [
            &["init", "--quiet", "--initial-branch=main"][..],
            &["config", "user.name", "Test"],
            &["config", "user.email", "test@example.invalid"],
            &["commit", "--quiet", "--allow-empty", "--message=start"],
        ] {
            let git = Running::start(self.command("git").args(args));
            let done = git.wait(PATIENCE);
            assert!(done.succeeded(), "git {args:?}: {}", done.stderr_text());
        }
    }

    /// Sets a field of the state that the client keeps between sessions.
    pub(super) fn remember(&mut self, field: &str, value: Value) {
        self.memory.insert(field.to_owned(), value);
        let memory = Value::from(self.memory.clone()).to_string();
        files::write(self.home.join(".claude.json"), memory);
    }

    /// Answers to what the interactive client would ask at its first start.
    fn answer_first_questions(&mut self) {
        let project = self.project.to_string_lossy().into_owned();
        for (field, value) in [
            ("hasCompletedOnboarding", json!(true)),
            (
                "customApiKeyResponses",
                json!({"approved": [API_KEY], "rejected": []}),
            ),
            (
                "projects",
                json!({project: {"hasTrustDialogAccepted": true}}),
            ),
        ] {
            self.remember(field, value);
        }
    }
}
