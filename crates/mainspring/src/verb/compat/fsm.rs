//! In place of `hydrate-tasks.py`: exit 0 and `{"continue": true}`, or exit 1 and the
//! errors on stderr. It reads the script's three variables like everything else here.

use std::ffi::OsString;

use mainspring_kernel::machines::tasks::words;
use mainspring_kernel::{Answer, Decision};
use serde_json::Value;

use super::Reply;
use crate::env::Environment;
use crate::host::claude;
use crate::machine::tasks;
use crate::verb::hook::{Input, decide_among};

pub(super) fn run(env: &Environment, _: &[OsString], input: Input) -> Reply {
    match answer(env, input) {
        Ok(answer) => reply(&answer),
        Err(cause) => error(&cause),
    }
}

/// The script is registered for skills only, and its payload need not say so.
fn answer(env: &Environment, input: Input) -> Result<Answer, String> {
    let invalid = |problem: &str| format!("Invalid JSON input: {problem}");
    let bytes = match input {
        Input::Bytes(bytes) => bytes,
        Input::TooLarge => return Err(invalid("it is too large")),
        Input::Unreadable(problem) => return Err(invalid(&problem)),
    };
    let mut payload: Value =
        mainspring_json::read(&bytes).map_err(|problem| invalid(&problem.to_string()))?;
    let fields = payload.as_object_mut();
    let fields = fields.ok_or_else(|| invalid("it is no object"))?;
    if fields.get("hook_event_name").and_then(Value::as_str) != Some("UserPromptExpansion") {
        fields.insert("hook_event_name".into(), "PostToolUse".into());
        let tool = fields.entry("tool_name").or_insert_with(|| "Skill".into());
        if tool != "Skill" {
            return Ok(nothing());
        }
    }
    let payload = claude::decode(payload.to_string().into_bytes())
        .map_err(|problem| invalid(&problem.to_string()))?;
    decide_among(&[&tasks::ROW], env, &payload).map_err(|trouble| trouble.to_string())
}

fn nothing() -> Answer {
    Answer {
        decision: Decision::Silent,
        notes: Vec::new(),
    }
}

fn reply(answer: &Answer) -> Reply {
    let refused = match &answer.decision {
        Decision::AfterTool { object, .. } => object.text(),
        // A typed skill cannot be refused, so its refusal is only in what the person reads.
        _ => answer
            .notes
            .iter()
            .find(|note| words::is_refusal(&note.text))
            .map_or_else(String::new, |note| note.text.clone()),
    };
    if !refused.is_empty() {
        return error(words::cause(&refused));
    }
    let mut log: Vec<String> = answer.notes.iter().map(|note| note.text.clone()).collect();
    if let Decision::AfterTool { tell, .. } | Decision::Context { tell } = &answer.decision
        && let Some(line) = tell.text().lines().next()
    {
        log.insert(0, line.trim_end_matches(':').into());
    }
    let log: Vec<String> = log.iter().map(|line| format!("[fsm] {line}")).collect();
    Reply {
        stdout: "{\"continue\": true}\n".into(),
        stderr: log.join("\n"),
        code: 0,
    }
}

fn error(cause: &str) -> Reply {
    Reply {
        stdout: String::new(),
        stderr: format!("[fsm] ERROR: {cause}"),
        code: 1,
    }
}
