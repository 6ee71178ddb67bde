//! A home in which nothing is installed, and a project in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::ok;

pub(super) struct Home(PathBuf);

impl Home {
    pub(super) fn new(root: &Path, name: &str) -> Self {
        let home = Self(root.join(name).join("home"));
        fs::create_dir_all(home.project()).expect("a home");
        home
    }

    pub(super) fn at(&self, path: &str) -> PathBuf {
        self.0.join(path)
    }

    pub(super) fn project(&self) -> PathBuf {
        self.at("project")
    }

    pub(super) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", &self.0)
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .current_dir(self.project());
        command
    }

    /// A plugin calls the program by its second name, before anything is registered.
    pub(super) fn has_what_plugins_call(&self, program: &Path) {
        let bin = program.parent().expect("in a folder");
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display());
        let mut hook = self.command("sh");
        hook.args(["-c", "mainspring-hook"]).env("PATH", path);
        assert_eq!(ok(hook.stdin(self.event(0))), "");
    }

    /// Registers, and has the next five stops held.
    pub(super) fn registers(&self, program: &Path) {
        ok(self.command(program).args(["install", "--yes"]));
        if self.pulse().is_none() {
            ok(self.command(program).args(["pulse", "5"]));
        }
    }

    pub(super) fn gets_held(&self, beat: u32) {
        let answer = self.stops(beat);
        assert!(answer.contains("\"decision\":\"block\""), "{answer}");
        assert!(answer.contains(&format!("beat {beat} of 5")), "{answer}");
    }

    pub(super) fn is_let_go_and_told_to_upgrade(&self) {
        let state = self.pulse().expect("a pulse was started");
        let before = fs::read(&state).expect("it can be read");
        let answer = self.stops(3);
        assert!(!answer.contains("\"decision\""), "{answer}");
        assert!(answer.contains("has format 2"), "{answer}");
        assert!(answer.contains("upgrade mainspring"), "{answer}");
        assert_eq!(fs::read(&state).expect("it is there"), before);
    }

    /// Delivers a stop as the host would: by the command in its settings.
    fn stops(&self, number: u32) -> String {
        let settings = fs::read(self.at(".claude/settings.json")).expect("it is registered");
        let settings: Value = serde_json::from_slice(&settings).expect("settings are JSON");
        let hook = &settings["hooks"]["Stop"][0]["hooks"][0]["command"];
        let hook = hook.as_str().expect("a stop calls a command");
        let place = Path::new(hook).parent().expect("by its path");
        assert!(
            !place.starts_with(self.at("project/node_modules")),
            "{hook} would go with npm's folder"
        );
        let mut shell = self.command("sh");
        ok(shell.args(["-c", hook]).stdin(self.event(number)))
    }

    fn event(&self, number: u32) -> fs::File {
        let event = json!({
            "session_id": "s", "cwd": self.project(), "hook_event_name": "Stop",
            "transcript_path": self.at("none"), "stop_hook_active": false,
            "last_assistant_message": format!("bye {number}"),
        });
        let file = self.at("event.json");
        fs::write(&file, event.to_string()).expect("room for an event");
        fs::File::open(file).expect("the event is there")
    }

    /// The state of the pulse, if one was started.
    fn pulse(&self) -> Option<PathBuf> {
        let projects = fs::read_dir(self.at(".local/state/mainspring/projects")).ok()?;
        let files = projects.filter_map(|entry| Some(entry.ok()?.path().join("pulse.json")));
        files.into_iter().find(|file| file.exists())
    }

    /// Before files had a format version, they had no checksum either.
    pub(super) fn has_state_of_an_earlier_version(&self) {
        let file = self.pulse().expect("a pulse was started");
        let text = fs::read(&file).expect("it can be read");
        let mut state: Value = serde_json::from_slice(&text).expect("state is JSON");
        let fields = state.as_object_mut().expect("state is an object");
        assert!(fields.remove("v").is_some() && fields.remove("checksum").is_some());
        fs::write(file, state.to_string()).expect("room for state");
    }

    pub(super) fn has_state_of_a_newer_version(&self) {
        let file = self.pulse().expect("a pulse was started");
        fs::write(file, r#"{"v":2,"anything":"else"}"#).expect("room for state");
    }
}
