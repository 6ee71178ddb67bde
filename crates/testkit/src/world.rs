//! A home and a project for one measurement, and the binary that is measured in it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

/// A home and a project.
#[derive(Debug)]
pub struct World {
    temp: tempfile::TempDir,
    mainspring: PathBuf,
    vars: Vec<(String, String)>,
    boot: Option<PathBuf>,
}

/// Shows another boot id to the program that it starts, in a mount namespace of its own.
const ANOTHER_BOOT: &str = "mount --bind \"$0\" /proc/sys/kernel/random/boot_id && exec \"$@\"";

impl World {
    pub fn new(mainspring: &Path) -> Self {
        Self::below(&tempfile::env::temp_dir(), mainspring)
    }

    /// In its own folder below this one.
    pub fn below(place: &Path, mainspring: &Path) -> Self {
        let world = Self {
            temp: tempfile::tempdir_in(place).expect("a temporary folder"),
            mainspring: mainspring.into(),
            vars: Vec::new(),
            boot: None,
        };
        let tmp = world.root().join("tmp");
        for dir in [world.home(), world.project().join(".git"), tmp] {
            std::fs::create_dir_all(dir).expect("a folder in it");
        }
        world
    }

    /// With one more variable for everything that is run here.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.vars.push((name.into(), value.into()));
        self
    }

    /// From now on, everything here sees the boot id in this file; `None` means the machine's own
    /// again.
    pub fn in_boot(&mut self, id: Option<PathBuf>) {
        self.boot = id;
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

    /// Is any process running that was started in this world?
    pub fn is_lived_in(&self) -> bool {
        let root = self.root().as_os_str().as_encoded_bytes();
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        // Empty for a process that has ended but was not waited for.
        let mut variables =
            processes.filter_map(|process| std::fs::read(process.path().join("environ")).ok());
        variables.any(|text| text.windows(root.len()).any(|part| part == root))
    }

    /// Variables besides HOME and PATH: a temp folder of its own, and no limit of the host's on
    /// blocks.
    pub fn env(&self) -> Vec<(String, String)> {
        let tmp = self.root().join("tmp").to_string_lossy().into_owned();
        let mut vars = vec![
            ("TMPDIR".into(), tmp),
            ("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP".into(), "0".into()),
        ];
        vars.extend(self.vars.iter().cloned());
        vars
    }

    /// The binary, with nothing but this world in its environment.
    fn command(&self, args: &[&str]) -> Command {
        self.command_under(&[], args)
    }

    /// The same, started by another program with these arguments before it.
    pub fn command_under(&self, starter: &[&str], args: &[&str]) -> Command {
        let mut words: Vec<&std::ffi::OsStr> = Vec::new();
        if let Some(boot) = &self.boot {
            for word in ["unshare", "--mount", "sh", "-c", ANOTHER_BOOT] {
                words.push(word.as_ref());
            }
            words.push(boot.as_os_str());
        }
        words.extend(starter.iter().map(std::ffi::OsStr::new));
        words.push(self.mainspring.as_os_str());
        let mut command = Command::new(words[0]);
        command
            .args(&words[1..])
            .args(args)
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", "/usr/bin:/bin")
            .envs(self.env())
            .current_dir(self.project());
        command
    }

    /// Runs a command of Mainspring here, as the agent of session `s`.
    pub fn mainspring(&self, args: &[&str]) {
        let output = self
            .command(args)
            .env("CLAUDE_CODE_SESSION_ID", "s")
            .output();
        let output = output.expect("mainspring runs");
        assert!(output.status.success(), "{args:?}: {output:?}");
    }

    /// Runs a command of Mainspring here, as a person in a terminal.
    pub fn person(&self, args: &[&str]) {
        let output = self.command(args).output().expect("mainspring runs");
        assert!(output.status.success(), "{args:?}: {output:?}");
    }

    /// Delivers an event, and returns the answer.
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
