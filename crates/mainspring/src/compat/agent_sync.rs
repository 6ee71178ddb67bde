//! Replaces `agent-sync.sh on-stop|on-idle|session-start`: always exits with 0, and prints
//! its message as `additionalContext`. The script put that at the top level of its object,
//! where hosts ignore it. This prints it there, for readers of the script's output, and also
//! where hosts look for it.

use std::ffi::OsString;

use mainspring_kernel::{Answer, Decision, Name};
use mainspring_platform::path;
use serde_json::{Map, Value, json};

use super::{Reply, stop};
use mainspring_store::ShownPath as _;

use crate::env::Environment;
use crate::hook::decide_among;
use crate::hook::input::Input;
use crate::hosts::text::clean;
use crate::hosts::{self, DecodeAs, Payload, Wording};

pub(super) fn run(env: &Environment, args: &[OsString], input: Input) -> Reply {
    let event = match args.first().and_then(|arg| arg.to_str()) {
        Some("on-stop") => DecodeAs::Stop,
        Some("on-idle") => DecodeAs::Idle,
        Some("session-start") => DecodeAs::SessionStart,
        Some(_) | None => {
            return Reply {
                stdout: String::new(),
                stderr: "Usage: agent-sync {session-start|on-stop|on-idle}".into(),
                code: 1,
            };
        }
    };
    match answer(env, event, input) {
        Ok((answer, payload)) => reply(answer, &payload),
        Err(cause) => {
            let text = format!("[agent-sync] {cause}");
            Reply {
                stdout: stop::message(&text),
                stderr: text,
                code: 0,
            }
        }
    }
}

/// The script accepts `{}`: the event is its argument, and a variable names the project.
fn answer(env: &Environment, event: DecodeAs, input: Input) -> Result<(Answer, Payload), String> {
    let bytes = match input {
        Input::Bytes(bytes) => bytes,
        Input::TooLarge => return Err("the hook's input is too large".into()),
        Input::Unreadable(problem) => return Err(problem),
    };
    let mut payload = hosts::decode(env, bytes, event, None)
        .or_else(|_| hosts::decode(env, b"{}".to_vec(), event, None))
        .map_err(|problem| problem.to_string())?;
    if payload.cwd.is_none() {
        let project = payload.host.project_dir(env);
        let project = project.unwrap_or_else(|| ".".into());
        let project =
            path::real(&project).map_err(|problem| format!("{}: {problem}", project.shown()))?;
        payload.cwd = Some(project);
    }
    let answer = decide_among(Name::Claim, env, &payload, payload.event.session.as_ref())
        .map_err(|trouble| trouble.to_string())?;
    Ok((answer, payload))
}

fn reply(mut answer: Answer, payload: &Payload) -> Reply {
    let notes = std::mem::take(&mut answer.notes);
    let notes = notes
        .iter()
        .map(|note| format!("[agent-sync] {}", clean(&note.text)));
    let stderr = notes.collect::<Vec<_>>().join("\n");
    let said = match &answer.decision {
        Decision::Stop { hold: said }
        | Decision::Context { tell: said }
        | Decision::Idle { notify: said } => said.text(),
        Decision::AfterTool { .. }
        | Decision::BeforeTool { .. }
        | Decision::Watch { .. }
        | Decision::Silent => String::new(),
    };
    let mut out = Map::new();
    if !said.is_empty() {
        out.insert("additionalContext".into(), json!(clean(&said)));
        let line = payload.encode(&answer, Wording::Context);
        out.extend(
            line.and_then(|line| serde_json::from_str::<Map<_, _>>(&line).ok())
                .unwrap_or_default(),
        );
    }
    // A host shows nobody the stderr of a hook that succeeded.
    if !stderr.is_empty() {
        out.insert("systemMessage".into(), json!(stderr));
    }
    Reply {
        stdout: if out.is_empty() {
            String::new()
        } else {
            format!("{}\n", Value::Object(out))
        },
        stderr,
        code: 0,
    }
}
