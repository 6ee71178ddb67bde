//! The stage: a temporary project with a home of its own, and a clock that we turn.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use mainspring_kernel::Millis;
use mainspring_store::Trouble;
use serde_json::{Value, json};

use crate::cli;
use crate::env::{Environment, name};
use crate::error::CliError;
use crate::output::Paint;
use crate::verb::hook::{self, Input};
use crate::verb::{CommandContext, Result};

/// 2026-01-05, a Monday morning.
const CURTAIN: Millis = Millis(1_767_600_000_000);

#[derive(Debug)]
pub(crate) struct Stage {
    root: PathBuf,
    project: PathBuf,
    vars: BTreeMap<String, OsString>,
    now: Millis,
    session: &'static str,
    paint: Paint,
    script: String,
    /// Has a hook of ours continued the agent since the last prompt?
    continued: bool,
}

impl Stage {
    pub(super) fn open(scene: &str, cmd: &CommandContext) -> Result<Self> {
        let root =
            std::env::temp_dir().join(format!("mainspring-demo-{}-{scene}", std::process::id()));
        let project = root.join("project");
        std::fs::create_dir_all(&project).map_err(Trouble::io("create", &project))?;
        let project = std::fs::canonicalize(&project).map_err(Trouble::io("find", &project))?;
        let mut vars = BTreeMap::new();
        vars.insert(name::HOME.to_owned(), root.join("home").into_os_string());
        vars.insert(name::TMPDIR.into(), root.clone().into_os_string());
        if let Some(path) = cmd.env.var_os(name::PATH) {
            vars.insert(name::PATH.into(), path);
        }
        let mut stage = Self {
            root,
            project,
            vars,
            now: CURTAIN,
            session: "demo-session",
            paint: cmd.paint,
            script: String::new(),
            continued: false,
        };
        let title = stage.paint.bold(&format!("── {scene} "));
        let _ = writeln!(stage.script, "{title}");
        Ok(stage)
    }

    /// What was played; the temporary project is gone.
    pub(super) fn close(self) -> String {
        let _ = std::fs::remove_dir_all(&self.root);
        self.script + "\n"
    }

    pub(crate) fn project(&self) -> &Path {
        &self.project
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// A word to the audience.
    pub(crate) fn narrate(&mut self, text: &str) {
        let _ = writeln!(self.script, "\n{}", self.paint.dim(text));
    }

    fn line(&mut self, who: &str, text: &str) {
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        let _ = writeln!(self.script, "{who:>10} │ {first}");
        for line in lines {
            let _ = writeln!(self.script, "{:>10} │ {line}", "");
        }
    }

    pub(super) fn env(&self) -> Environment {
        Environment::staged(self.vars.clone(), self.now)
    }

    /// The person types a command in a terminal of their own.
    pub(crate) fn person_runs(&mut self, command: &str) {
        self.line("person", &format!("$ mainspring {command}"));
        self.run(command, self.env());
    }

    /// The agent runs a command in its shell.
    pub(crate) fn agent_runs(&mut self, command: &str) {
        self.line("agent", &format!("$ mainspring {command}"));
        self.vars
            .insert(name::CLAUDE_SESSION.into(), self.session.into());
        let env = self.env();
        self.vars.remove(name::CLAUDE_SESSION);
        self.run(command, env);
    }

    fn run(&mut self, command: &str, env: Environment) {
        let cmd = CommandContext {
            env,
            cwd: self.project.clone(),
            paint: Paint::Plain,
        };
        let words = command.split(' ').map(OsString::from);
        let out = match cli::dispatch(words, &cmd) {
            Ok(out) => out,
            Err(error) => error.to_string(),
        };
        let shown = out.replace(&*self.project.to_string_lossy(), "~/project");
        self.line("", shown.trim_end());
        self.now = self.now.plus(Millis::seconds(5));
    }

    pub(crate) fn person_says(&mut self, prompt: &str) -> Result<()> {
        self.continued = false;
        self.line("person", prompt);
        let answer = self.event("UserPromptSubmit", &json!({ "prompt": prompt }))?;
        self.show(&answer);
        Ok(())
    }

    /// The agent says its last words and stops. Returns whether it was kept going.
    pub(crate) fn agent_stops(&mut self, words: &str) -> Result<bool> {
        self.line("agent", words);
        let fields = json!({
            "stop_hook_active": self.continued,
            "last_assistant_message": words,
            "background_tasks": [],
        });
        let answer = self.event("Stop", &fields)?;
        let held = answer["decision"] == "block";
        self.continued |= held;
        self.show(&answer);
        if !held {
            self.line("", &self.paint.good("the agent stops"));
        }
        Ok(held)
    }

    /// Nobody types for a while, and the host says so.
    pub(crate) fn agent_waits(&mut self) -> Result<()> {
        self.now = self.now.plus(Millis::seconds(180));
        self.line("", &self.paint.dim("three minutes pass"));
        let fields = json!({ "notification_type": "idle_prompt" });
        let answer = self.event("Notification", &fields)?;
        self.show(&answer);
        Ok(())
    }

    /// The agent calls a skill by its client's tool.
    pub(crate) fn agent_invokes(&mut self, skill: &str) -> Result<()> {
        self.line("agent", &format!("(invokes the skill {skill})"));
        let fields = json!({
            "tool_name": "Skill",
            "tool_input": { "skill": skill },
            "tool_response": { "success": true, "commandName": skill },
        });
        let answer = self.event("PostToolUse", &fields)?;
        self.show(&answer);
        Ok(())
    }

    /// Any event, through the very code that a host calls.
    pub(crate) fn event(&mut self, event: &str, fields: &Value) -> Result<Value> {
        self.now = self.now.plus(Millis::seconds(20));
        let mut payload = json!({
            "session_id": self.session,
            "cwd": self.project,
            "hook_event_name": event,
        });
        if let (Value::Object(payload), Value::Object(fields)) = (&mut payload, fields) {
            payload.extend(fields.clone());
        }
        let bytes = payload.to_string().into_bytes();
        match hook::answer(&self.env(), Input::Bytes(bytes)) {
            None => Ok(Value::Null),
            Some(line) => serde_json::from_str(&line).map_err(CliError::new),
        }
    }

    fn show(&mut self, answer: &Value) {
        if let Some(reason) = answer["reason"].as_str() {
            self.line("mainspring", &self.paint.warn(reason));
        }
        if let Some(context) = answer["hookSpecificOutput"]["additionalContext"].as_str() {
            self.line("mainspring", context);
        }
        if let Some(sequence) = answer["terminalSequence"].as_str() {
            let notice = sequence.trim_start_matches("\u{1b}]9;");
            self.line("desktop", notice.trim_end_matches('\u{7}'));
        }
        if let Some(message) = answer["systemMessage"].as_str() {
            self.line("to person", message);
        }
    }
}
