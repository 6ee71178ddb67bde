//! Replaces `hydrate-tasks.py`: exits with 0 and `{"continue": true}`, or with 1 and the errors
//! on stderr. It reads the script's three variables, as the machine itself does.

use std::ffi::OsString;

use mainspring_kernel::machines::tasks::messages;
use mainspring_kernel::{Answer, Decision, Name};
use serde_json::Value;

use super::Reply;
use crate::env::Environment;
use crate::host::{self, DecodeAs};
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
    let payload: Value =
        mainspring_json::read(&bytes).map_err(|problem| invalid(&problem.to_string()))?;
    if !payload.is_object() {
        return Err(invalid("it is not an object"));
    }
    let payload = host::decode(env, bytes, DecodeAs::Skill)
        .map_err(|problem| invalid(&problem.to_string()))?;
    decide_among(Name::Tasks, env, &payload).map_err(|trouble| trouble.to_string())
}

fn reply(answer: &Answer) -> Reply {
    let refused = match &answer.decision {
        Decision::AfterTool { object, .. } => object.text(),
        // A skill that a person typed cannot be refused, so only the notes say that it failed.
        _ => answer
            .notes
            .iter()
            .find(|note| messages::is_refusal(&note.text))
            .map_or_else(String::new, |note| note.text.clone()),
    };
    if !refused.is_empty() {
        return error(messages::cause(&refused));
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
