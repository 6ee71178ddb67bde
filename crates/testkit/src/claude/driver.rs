//! The client, its settings and its environment.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value, json};

use super::ask::{Ask, Run};
use super::hook::Hook;
use super::world::World;
use crate::clients::{self, Client};
use crate::files;
use crate::model::Model;
use crate::recorder::{self, HookCall};
use crate::tmux::Terminal;

/// The model of the sessions, unless a test says otherwise. A reviewer that is started as `opus` is
/// then another model, so a script can distinguish them.
const MODEL: &str = "sonnet";

/// The real client with a home, a project and settings of its own.
#[derive(Debug)]
#[must_use]
pub struct Claude {
    client: PathBuf,
    world: World,
    model: String,
    hooks: Vec<(String, Hook)>,
    settings: Map<String, Value>,
    plugins: Vec<PathBuf>,
}

impl Claude {
    /// The pinned client, which talks to `model`; `None` if clients are skipped, after a message
    /// about it.
    #[expect(clippy::print_stderr, reason = "a skipped test must say so")]
    pub fn new(model: &Model) -> Option<Self> {
        match clients::claude() {
            Client::Installed(client) => Some(Self {
                world: World::new(&client, model.url()),
                client,
                model: MODEL.to_owned(),
                hooks: Vec::new(),
                settings: Map::new(),
                plugins: Vec::new(),
            }),
            Client::Skipped => {
                eprintln!("skipped: MAINSPRING_SKIP_CLIENTS=1, so the real claude was not run");
                None
            }
        }
    }

    /// Makes the project a git repository with one commit on `main`.
    pub fn in_repository(self) -> Self {
        self.world.init_repository();
        self
    }

    /// Adds a handler for one event.
    pub fn hook(mut self, event: &str, hook: &Hook) -> Self {
        self.hooks.push((event.to_owned(), hook.clone()));
        self
    }

    /// Adds the same handler for several events.
    pub fn hooks<'e>(self, events: impl IntoIterator<Item = &'e str>, hook: &Hook) -> Self {
        events
            .into_iter()
            .fold(self, |claude, event| claude.hook(event, hook))
    }

    /// Puts a recorder before each hook added so far: see [`Claude::hook_calls`].
    pub fn recording(mut self) -> Self {
        let log = self.hook_log();
        for (_, hook) in &mut self.hooks {
            *hook = hook.recorded(&log);
        }
        self
    }

    /// Sets a field of the settings, such as `env`.
    pub fn setting(mut self, field: &str, value: Value) -> Self {
        self.settings.insert(field.to_owned(), value);
        self
    }

    /// Sets a field of `~/.claude.json`, where the client keeps state between sessions, for example
    /// `messageIdleNotifThresholdMs`.
    pub fn remembering(mut self, field: &str, value: Value) -> Self {
        self.world.remember(field, value);
        self
    }

    /// Sets a variable of the client's environment.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.world.set(name, value);
        self
    }

    /// Puts a folder of programs first on the PATH, for example a fake `gh`.
    pub fn path_first(mut self, folder: &Path) -> Self {
        self.world.path_first(folder);
        self
    }

    pub fn plugin_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.plugins.push(folder.into());
        self
    }

    /// Runs the sessions as another model than `sonnet`.
    pub fn model(mut self, name: &str) -> Self {
        name.clone_into(&mut self.model);
        self
    }

    pub fn home(&self) -> &Path {
        &self.world.home
    }

    pub fn project(&self) -> &Path {
        &self.world.project
    }

    /// Runs `prompt` headless in a new session.
    pub fn run(&self, prompt: &str) -> Run {
        self.ask(prompt).run()
    }

    /// A headless run before its start.
    pub fn ask(&self, prompt: &str) -> Ask<'_> {
        Ask::new(self, prompt)
    }

    /// The client in a terminal, ready for a prompt.
    pub fn interactive(&self) -> Terminal {
        let terminal = Terminal::start(&self.client());
        // With a status line, the client does not show its hint.
        terminal.wait_until("the client waits for a prompt", |screen| {
            screen.contains("? for shortcuts") || screen.contains('❯')
        });
        terminal
    }

    /// Any program in the same world: `mainspring status` as the agent would see it.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        self.world.command(program)
    }

    /// The file with a session's entries, whichever folder it was started in.
    pub fn transcript(&self, session: &str) -> PathBuf {
        let projects = self.home().join(".claude/projects");
        let name = format!("{session}.jsonl");
        let mut folders = fs::read_dir(&projects).into_iter().flatten().flatten();
        let kept =
            folders.find_map(|folder| Some(folder.path().join(&name)).filter(|f| f.exists()));
        kept.unwrap_or_else(|| projects.join(name))
    }

    /// What the hooks before [`Claude::recording`] were given and answered, in the order of their
    /// starts.
    pub fn hook_calls(&self) -> Vec<HookCall> {
        recorder::read(&self.hook_log())
    }

    pub fn hook_calls_of(&self, event: &str) -> Vec<HookCall> {
        let mut calls = self.hook_calls();
        calls.retain(|call| call.event() == event);
        calls
    }

    fn hook_log(&self) -> PathBuf {
        self.world.root().join("hooks.jsonl")
    }

    pub(super) fn client(&self) -> Command {
        let mut command = self.world.command(&self.client);
        command
            .arg("--model")
            .arg(&self.model)
            .arg("--settings")
            .arg(self.write_settings());
        for plugin in &self.plugins {
            command.arg("--plugin-dir").arg(plugin);
        }
        command
    }

    /// Beside the home, not in it, so that the home contains only what `install` writes there.
    fn write_settings(&self) -> PathBuf {
        let mut hooks = Map::new();
        for (event, hook) in &self.hooks {
            let groups = hooks.entry(event).or_insert_with(|| json!([]));
            if let Value::Array(groups) = groups {
                groups.push(json!({"hooks": [hook.to_settings()]}));
            }
        }
        let mut settings = json!({
            "hooks": hooks,
            // Nobody is there to be asked. The mode `auto`, a terminal's default, would need a
            // judge that the model's server does not play.
            "permissions": {"defaultMode": "default", "allow": ["Bash", "Edit", "Write", "NotebookEdit", "Skill", "WebFetch"]},
        });
        if let Value::Object(held) = &mut settings {
            held.extend(self.settings.clone());
        }
        let text = settings.to_string();
        let file = self.world.root().join("settings.json");
        // A running session must not read it half-written.
        if fs::read_to_string(&file).ok().as_ref() != Some(&text) {
            files::write(&file, text);
        }
        file
    }
}
