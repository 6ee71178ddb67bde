//! The 80 cases of the seed's six suites, through the drop-in, with a stand-in for `claude` as
//! in the seed's own tests. Each test names its case; if DESIGN.md decides a case differently,
//! the test says so.

mod suite_1;
mod suite_2;
mod suite_3;
mod suite_4;
mod suite_5;
mod suite_6;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::env::{Ran, TestEnv, finish};

/// Writes the review that its prompt asks for, prints the verdict, and records its arguments.
/// Its settings are in a file, because no variable of ours would reach it.
const MOCK_CLAUDE: &str = r#"#!/bin/sh
. SETTINGS
for arg in "$@"; do
    printf '%s\n' "$arg" >> "${MOCK_CLAUDE_LOG:-/dev/null}"
    last=$arg
done
printf '%s\n' '=====' >> "${MOCK_CLAUDE_LOG:-/dev/null}"
[ -z "$MOCK_CLAUDE_DELAY" ] || sleep "$MOCK_CLAUDE_DELAY"
[ -z "$MOCK_CLAUDE_RUN" ] || eval "$MOCK_CLAUDE_RUN"
file=$(printf '%s' "$last" | sed -n 's/.*Write your review to \([^ ,]*\).*/\1/p')
[ -n "$MOCK_CLAUDE_NO_FILE" ] || printf '# Review\n' > "$file"
if [ -z "$MOCK_CLAUDE_OUTPUT" ]; then
    printf '{"type":"result","result":"{\\"verdict\\":\\"%s\\"}","structured_output":{"verdict":"%s","findings":%s,"earlier":%s},"total_cost_usd":0.25}' \
        "${MOCK_CLAUDE_VERDICT:-FAIL}" "${MOCK_CLAUDE_VERDICT:-FAIL}" \
        "${MOCK_CLAUDE_FINDINGS:-[]}" "${MOCK_CLAUDE_EARLIER:-[]}"
else
    printf '%s' "$MOCK_CLAUDE_OUTPUT"
fi
[ "${MOCK_CLAUDE_EXIT_CODE:-0}" = 0 ] || echo 'mock: something broke' >&2
exit "${MOCK_CLAUDE_EXIT_CODE:-0}"
"#;

pub(crate) const PLAN: &str = "demo";
pub(crate) const TASKS: &str = "\
| Id | Status | Priority | Description | Test strategy |
|----|--------|----------|-------------|---------------|
| 1 | done | high | first | unit |
| 2 | done | high | second | unit |
| 3 | pending | high | third | unit |
";

/// A project with a plan, and the stand-in first on the PATH.
pub(crate) struct Taskie {
    pub(crate) env: TestEnv,
    vars: RefCell<BTreeMap<String, String>>,
}

/// What the drop-in answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: Option<i32>,
    pub(crate) json: Value,
    pub(crate) stderr: String,
}

impl Taskie {
    pub(crate) fn new() -> Self {
        let taskie = Self {
            env: TestEnv::new(),
            vars: RefCell::default(),
        };
        let bin = taskie.env.root().join("bin");
        fs::create_dir(&bin).unwrap();
        let settings = taskie.settings_path();
        let mock = MOCK_CLAUDE.replace("SETTINGS", &settings.to_string_lossy());
        write(&bin.join("claude"), &mock);
        fs::set_permissions(bin.join("claude"), fs::Permissions::from_mode(0o755)).unwrap();
        taskie.set("PATH", &format!("{}:/usr/bin:/bin", bin.display()));
        taskie.set("MOCK_CLAUDE_LOG", &taskie.log_path().to_string_lossy());
        taskie.env.trust();
        taskie
    }

    /// Has a valid plan: `plan.md` and a table of tasks.
    pub(crate) fn planned() -> Self {
        let taskie = Self::new();
        taskie.file("plan.md", "# Plan\n\n## Overview\n");
        taskie.file("tasks.md", TASKS);
        taskie
    }

    /// Has a valid plan whose state has these fields in addition to the usual ones.
    pub(crate) fn with_state(fields: Value) -> Self {
        let taskie = Self::planned();
        taskie.state(fields);
        taskie
    }

    /// Sets a variable of the binary's, or a setting of the stand-in.
    pub(crate) fn set(&self, name: &str, value: &str) {
        if !name.starts_with("MOCK_CLAUDE_") {
            self.vars.borrow_mut().insert(name.into(), value.into());
            return;
        }
        let mut text = fs::read_to_string(self.settings_path()).unwrap_or_default();
        let quoted = value.replace('\'', r"'\''");
        text += &format!("{name}='{quoted}'\n");
        write(&self.settings_path(), &text);
    }

    /// Removes a variable of the binary's.
    pub(crate) fn unset(&self, name: &str) {
        self.vars.borrow_mut().remove(name);
    }

    fn settings_path(&self) -> PathBuf {
        self.env.root().join("mock-settings")
    }

    pub(crate) fn verdict(&self, verdict: &str) {
        self.set("MOCK_CLAUDE_VERDICT", verdict);
    }

    pub(crate) fn dir(&self) -> PathBuf {
        self.env.project().join(".taskie/plans").join(PLAN)
    }

    pub(crate) fn file(&self, name: &str, text: &str) {
        write(&self.dir().join(name), text);
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.dir().join(name).exists()
    }

    pub(crate) fn state(&self, fields: Value) {
        let mut state = json!({
            "max_reviews": 8,
            "current_task": "1",
            "phase": "next-task",
            "phase_iteration": 0,
            "next_phase": null,
            "review_model": "opus",
            "consecutive_clean": 0,
            "tdd": false,
        });
        let Value::Object(fields) = fields else {
            panic!("fields must be an object")
        };
        state.as_object_mut().unwrap().extend(fields);
        self.file("state.json", &state.to_string());
    }

    pub(crate) fn state_now(&self) -> Value {
        let text = fs::read_to_string(self.dir().join("state.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// These fields of the state, as one object.
    pub(crate) fn fields(&self, names: &[&str]) -> Value {
        let state = self.state_now();
        names
            .iter()
            .map(|name| ((*name).to_owned(), state[*name].clone()))
            .collect()
    }

    /// The agent answers the current review.
    pub(crate) fn post_review(&self) {
        let mut state = self.state_now();
        let review = state["phase"].as_str().unwrap().to_owned();
        state["phase"] = format!("post-{review}").into();
        state["next_phase"] = review.into();
        self.file("state.json", &state.to_string());
    }

    /// The binary in this environment.
    pub(crate) fn command(&self) -> Command {
        let mut command = self.env.command();
        command.envs(self.vars.borrow().iter());
        command
    }

    /// One run with this on stdin.
    pub(crate) fn run(&self, args: &[&str], input: &[u8]) -> Ran {
        finish(self.command().args(args), input)
    }

    pub(crate) fn answer_to(&self, input: &[u8]) -> Answer {
        let ran = self.run(&["compat", "taskie"], input);
        Answer {
            code: ran.code,
            json: serde_json::from_str(&ran.stdout).unwrap_or(Value::Null),
            stderr: ran.stderr,
        }
    }

    pub(crate) fn stop(&self) -> Answer {
        let payload = json!({ "cwd": self.env.project(), "stop_hook_active": false });
        self.answer_to(payload.to_string().as_bytes())
    }

    fn log_path(&self) -> PathBuf {
        self.env.root().join("claude.log")
    }

    /// The arguments of every call of the stand-in.
    pub(crate) fn calls(&self) -> Vec<Vec<String>> {
        let text = fs::read_to_string(self.log_path()).unwrap_or_default();
        let mut calls: Vec<Vec<String>> = vec![];
        let mut call = vec![];
        for line in text.lines() {
            if line == "=====" {
                calls.push(std::mem::take(&mut call));
            } else {
                call.push(line.to_owned());
            }
        }
        calls
    }

    /// The models that it was called with, in order.
    pub(crate) fn models(&self) -> Vec<String> {
        let model = |call: &Vec<String>| {
            let at = call.iter().position(|arg| arg == "--model").unwrap();
            call[at + 1].clone()
        };
        self.calls().iter().map(model).collect()
    }
}

impl Answer {
    /// The stop was approved.
    #[track_caller]
    pub(crate) fn approved(&self) -> &Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        assert_eq!(self.json["decision"], Value::Null, "{self:?}");
        self
    }

    /// The agent was held, with a reason that contains all of these.
    #[track_caller]
    pub(crate) fn blocked(&self, pieces: &[&str]) -> &Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        assert_eq!(self.json["decision"], "block", "{self:?}");
        for piece in pieces {
            assert!(self.reason().contains(piece), "{piece} is not in {self:?}");
        }
        self
    }

    pub(crate) fn reason(&self) -> &str {
        self.json["reason"].as_str().unwrap_or_default()
    }

    pub(crate) fn message(&self) -> &str {
        self.json["systemMessage"].as_str().unwrap_or_default()
    }

    /// The plan's structure is valid.
    #[track_caller]
    pub(crate) fn validated(&self) -> &Self {
        self.approved();
        let text = format!("Plan '{PLAN}' structure validated successfully");
        assert!(self.message().contains(&text), "{self:?}");
        self
    }
}

pub(crate) fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
