//! In place of `agent-sync.sh on-stop|on-idle|session-start`: always exit 0, and what there
//! is to say as `additionalContext`. The script put it at the top of its object, where
//! hosts drop it; it is there for those who read the script's output, and where the host
//! looks for it as well.

use std::ffi::OsString;
use std::path::PathBuf;

use mainspring_kernel::{Answer, Decision};
use serde_json::{Map, Value, json};

use super::Reply;
use crate::env::{Environment, name};
use crate::host::claude;
use crate::host::text::clean;
use crate::machine::claim;
use crate::verb::hook::{Input, decide_among};

pub(super) fn run(env: &Environment, args: &[OsString], input: Input) -> Reply {
    let event = match args.first().and_then(|arg| arg.to_str()) {
        Some("on-stop") => "Stop",
        Some("on-idle") => "Notification",
        Some("session-start") => "SessionStart",
        Some(_) | None => {
            return Reply {
                stdout: String::new(),
                stderr: "Usage: agent-sync {session-start|on-stop|on-idle}".into(),
                code: 1,
            };
        }
    };
    match answer(env, event, input) {
        Ok(answer) => reply(&answer, event),
        Err(cause) => Reply {
            stdout: String::new(),
            stderr: format!("[agent-sync] {cause}"),
            code: 0,
        },
    }
}

/// The script takes `{}`: the event is its argument, the project a variable.
fn answer(env: &Environment, event: &str, input: Input) -> Result<Answer, String> {
    let bytes = match input {
        Input::Bytes(bytes) => bytes,
        Input::TooLarge => return Err("the hook's input is too large".into()),
        Input::Unreadable(problem) => return Err(problem),
    };
    let mut fields: Map<String, Value> = mainspring_json::read(&bytes).unwrap_or_default();
    fields.insert("hook_event_name".into(), event.into());
    if event == "Notification" {
        fields.insert("notification_type".into(), "idle_prompt".into());
    }
    if event == "SessionStart" {
        fields.entry("source").or_insert_with(|| "startup".into());
    }
    if fields.get("cwd").and_then(Value::as_str).is_none() {
        let project = env.var_os(name::CLAUDE_PROJECT).map(PathBuf::from);
        let project = project.unwrap_or_else(|| ".".into());
        let project = std::fs::canonicalize(&project)
            .map_err(|problem| format!("{}: {problem}", project.display()))?;
        fields.insert("cwd".into(), json!(project));
    }
    // Two stops with the same `{}` are two stops.
    fields.insert("at".into(), json!(env.now()));
    let text = Value::Object(fields).to_string();
    let payload = claude::decode(text.into_bytes()).map_err(|problem| problem.to_string())?;
    decide_among(&[&claim::ROW], env, &payload).map_err(|trouble| trouble.to_string())
}

fn reply(answer: &Answer, event: &str) -> Reply {
    let notes: Vec<String> = answer
        .notes
        .iter()
        .map(|note| format!("[agent-sync] {}", clean(&note.text)))
        .collect();
    let said = match &answer.decision {
        Decision::Stop { hold: said }
        | Decision::Context { tell: said }
        | Decision::Idle { notify: said } => said,
        Decision::AfterTool { .. } | Decision::BeforeTool { .. } | Decision::Silent => {
            return Reply {
                stdout: String::new(),
                stderr: notes.join("\n"),
                code: 0,
            };
        }
    };
    let stdout = if said.is_empty() {
        String::new()
    } else {
        let text = said.text();
        let text = clean(&text);
        let mut out = json!({ "additionalContext": text });
        if event == "Notification" {
            let line = text.replace(['\n', '\t'], " ");
            out["terminalSequence"] = format!("\u{1b}]9;{line}\u{7}").into();
        } else {
            out["hookSpecificOutput"] =
                json!({ "hookEventName": event, "additionalContext": text });
        }
        format!("{out}\n")
    };
    Reply {
        stdout,
        stderr: notes.join("\n"),
        code: 0,
    }
}
