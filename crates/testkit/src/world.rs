//! A home and a project of a measurement's own, and the binary that is measured in it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

/// A home and a project.
#[derive(Debug)]
pub struct World {
    temp: tempfile::TempDir,
    mainspring: PathBuf,
}

impl World {
    pub fn new(mainspring: &Path) -> Self {
        let world = Self {
            temp: tempfile::tempdir().expect("a temporary folder"),
            mainspring: mainspring.into(),
        };
        let tmp = world.root().join("tmp");
        for dir in [world.home(), world.project().join(".git"), tmp] {
            std::fs::create_dir_all(dir).expect("a folder in it");
        }
        world
    }

    pub fn root(&self) -> &Path {
        self.temp.path()
    }

    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    pub fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    /// Variables beside HOME and PATH: a temporary folder of its own, and none of the host's
    /// caps on blocks.
    pub fn env(&self) -> Vec<(String, String)> {
        let tmp = self.root().join("tmp").to_string_lossy().into_owned();
        vec![
            ("TMPDIR".into(), tmp),
            ("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP".into(), "0".into()),
        ]
    }

    /// The binary with nothing but this world around it.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.mainspring);
        command
            .args(args)
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", "/usr/bin:/bin")
            .envs(self.env())
            .current_dir(self.project());
        command
    }

    /// Runs a command of Mainspring's here, as the agent of session `s`.
    pub fn mainspring(&self, args: &[&str]) {
        let output = self
            .command(args)
            .env("CLAUDE_CODE_SESSION_ID", "s")
            .output();
        let output = output.expect("mainspring runs");
        assert!(output.status.success(), "{args:?}: {output:?}");
    }

    /// Runs a command of Mainspring's here, as a person in a terminal.
    pub fn person(&self, args: &[&str]) {
        let output = self.command(args).output().expect("mainspring runs");
        assert!(output.status.success(), "{args:?}: {output:?}");
    }

    /// Delivers an event, and returns what was said.
    pub fn hook(&self, event: &[u8]) -> String {
        let file = self.root().join("event");
        std::fs::write(&file, event).expect("room for an event");
        let output = self
            .command(&["hook"])
            .stdin(std::fs::File::open(&file).expect("the event is there"))
            .output()
            .expect("mainspring runs");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("an answer is text")
    }

    /// The folder with this project's state.
    pub fn state(&self) -> PathBuf {
        let projects = self.home().join(".local/state/mainspring/projects");
        let mut dirs = std::fs::read_dir(projects).expect("there is state");
        dirs.next()
            .expect("of one project")
            .expect("that can be read")
            .path()
    }

    /// An event of session `s` in the project.
    pub fn event(&self, name: &str, fields: Value) -> Vec<u8> {
        let mut event = json!({
            "session_id": "s",
            "transcript_path": self.project().join("none.jsonl"),
            "cwd": self.project(),
            "hook_event_name": name,
            "prompt_id": "a20aeacc-5d60-4055-aaed-8f969d631cbb",
            "permission_mode": "default",
        });
        if let (Value::Object(event), Value::Object(fields)) = (&mut event, fields) {
            event.extend(fields);
        }
        event.to_string().into_bytes()
    }

    pub fn stop(&self, words: &str) -> Vec<u8> {
        self.event(
            "Stop",
            json!({
                "stop_hook_active": false,
                "last_assistant_message": words,
                "background_tasks": [],
                "session_crons": [],
            }),
        )
    }
}
