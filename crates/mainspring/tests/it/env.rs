//! A separate environment for each test: a home and a project, without any state of ours.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

/// The binary under test.
pub(crate) const MAINSPRING: &str = env!("CARGO_BIN_EXE_mainspring");

/// The binary under test, or the earlier build that makes a fixture.
pub(crate) fn program() -> PathBuf {
    let named = std::env::var_os("MAINSPRING_TEST_PROGRAM");
    named.map_or_else(|| MAINSPRING.into(), PathBuf::from)
}

pub(crate) struct TestEnv {
    temp: tempfile::TempDir,
    vars: Vec<(String, String)>,
}

/// What a run printed and how it ended.
#[must_use]
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl TestEnv {
    pub(crate) fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let env = Self {
            temp,
            vars: Vec::new(),
        };
        fs::create_dir_all(env.home()).unwrap();
        fs::create_dir_all(env.project()).unwrap();
        fs::create_dir_all(env.tmp()).unwrap();
        env
    }

    /// With our programs on the PATH.
    pub(crate) fn on_path() -> Self {
        let folder = Path::new(MAINSPRING).parent().unwrap().to_str().unwrap();
        Self::new().with("PATH", &format!("{folder}:/usr/local/bin:/usr/bin:/bin"))
    }

    /// Adds a variable for every later run.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.vars.push((name.into(), value.into()));
        self
    }

    pub(crate) fn root(&self) -> PathBuf {
        fs::canonicalize(self.temp.path()).unwrap()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    /// The folder for temporary files.
    pub(crate) fn tmp(&self) -> PathBuf {
        self.root().join("tmp")
    }

    /// The folder with Mainspring's own state.
    pub(crate) fn state(&self) -> PathBuf {
        self.home().join(".local/state/mainspring")
    }

    /// The state of the one project that has any.
    pub(crate) fn project_state(&self) -> PathBuf {
        let mut dirs: Vec<PathBuf> = fs::read_dir(self.state().join("projects"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        assert_eq!(dirs.len(), 1, "{dirs:?}");
        dirs.remove(0)
    }

    /// The binary, with the variables of this environment and no others.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(program());
        command
            .env_clear()
            .env("HOME", self.home())
            .env("TMPDIR", self.tmp())
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .envs(self.vars.iter().map(|(name, value)| (name, value)))
            .current_dir(self.project());
        command
    }

    /// A command that a person types.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        finish(self.command().args(args), b"")
    }

    /// A command that a person types in a terminal.
    pub(crate) fn in_terminal(&self, args: &[&str]) -> Ran {
        self.answering(&self.project(), args, "")
    }

    /// The same in another folder, with an answer to what is asked.
    pub(crate) fn answering(&self, folder: &Path, args: &[&str], answer: &str) -> Ran {
        let line = format!("{MAINSPRING} {}", args.join(" "));
        let plain = self.command();
        let mut command = Command::new("script");
        command
            .args(["--quiet", "--return", "--command", &line, "/dev/null"])
            .env_clear()
            .envs(
                plain
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .env("SHELL", "/bin/sh")
            .current_dir(folder);
        let mut ran = finish(&mut command, answer.as_bytes());
        ran.stdout = ran.stdout.replace("\r\n", "\n");
        ran
    }

    /// A person trusts the project as it is now.
    pub(crate) fn trust(&self) {
        self.run(&["trust", "--yes"]).ok();
    }

    /// A command in the shell of a session's agent.
    pub(crate) fn agent(&self, session: &str, args: &[&str]) -> Ran {
        let mut command = self.command();
        finish(
            command.args(args).env("CLAUDE_CODE_SESSION_ID", session),
            b"",
        )
    }

    /// One event, as raw bytes.
    pub(crate) fn hook_bytes(&self, input: &[u8]) -> Ran {
        finish(self.command().arg("hook"), input)
    }

    /// One event; `fields` override the common ones.
    pub(crate) fn hook(&self, event: &str, fields: Value) -> Ran {
        let payload = payload(&self.project(), event, fields);
        self.hook_bytes(payload.to_string().as_bytes())
    }

    /// A stop of another session after this message.
    pub(crate) fn stop_of(&self, session: &str, words: &str) -> Ran {
        let fields = json!({ "session_id": session, "last_assistant_message": words });
        self.hook("Stop", fields)
    }

    /// A stop of session `s` after this message.
    pub(crate) fn stop(&self, words: &str) -> Ran {
        self.hook("Stop", json!({ "last_assistant_message": words }))
    }
}

/// An event's payload, with the fields that every event has.
pub(crate) fn payload(cwd: &Path, event: &str, fields: Value) -> Value {
    let mut payload = json!({
        "session_id": "s",
        "transcript_path": cwd.join("no-transcript.jsonl"),
        "cwd": cwd,
        "hook_event_name": event,
    });
    if event == "Stop" {
        payload["stop_hook_active"] = false.into();
    }
    let Value::Object(fields) = fields else {
        panic!("fields must be an object")
    };
    payload.as_object_mut().unwrap().extend(fields);
    payload
}

/// Runs the command to its end, with these bytes on stdin.
pub(crate) fn finish(command: &mut Command, stdin: &[u8]) -> Ran {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let stdin = stdin.to_vec();
    let writer = std::thread::spawn(move || {
        // The program may exit without reading all of it.
        let _ = pipe.write_all(&stdin);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Ran::of(output)
}

impl Ran {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The run succeeded and printed nothing to stderr; returns its stdout.
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        assert_eq!(self.stderr, "");
        self.stdout
    }

    /// The one JSON object that the run printed.
    pub(crate) fn json(self) -> Value {
        let text = self.ok();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text:?}"))
    }

    /// The agent was held; returns the reason.
    pub(crate) fn held(self) -> String {
        let answer = self.json();
        assert_eq!(answer["decision"], "block", "{answer}");
        answer["reason"].as_str().unwrap().to_owned()
    }

    /// The agent was let go; returns the message for the person.
    pub(crate) fn let_go(self) -> String {
        let text = self.ok();
        if text.is_empty() {
            return String::new();
        }
        let answer: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(answer["decision"], Value::Null, "{answer}");
        // Claude Code is held by text, too.
        let about = &answer["hookSpecificOutput"]["hookEventName"];
        assert_ne!(about, "Stop", "{answer}");
        answer["systemMessage"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// The run failed; returns its message.
    pub(crate) fn failed(self) -> String {
        assert_eq!(self.code, Some(1), "{self:?}");
        assert_eq!(self.stdout, "");
        self.stderr
    }
}
