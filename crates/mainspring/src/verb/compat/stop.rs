//! What the two scripts for a stop have in common: their payload may lack fields that every
//! host sends today, and a failure lets the agent go.

use mainspring_kernel::{Answer, Decision, Name};
use serde_json::Value;

use crate::env::Environment;
use crate::host::{self, DecodeAs};
use crate::verb::hook::{Input, decide_among};

/// The answer of one machine to the payload of its script.
pub(super) fn answer(machine: Name, env: &Environment, input: Input) -> Result<Answer, String> {
    let bytes = match input {
        Input::Bytes(bytes) => bytes,
        Input::TooLarge => return Err("the input is too large".into()),
        Input::Unreadable(problem) => return Err(problem),
    };
    let payload: Value = mainspring_json::read(&bytes)
        .map_err(|problem| format!("the input is not JSON: {problem}"))?;
    if !payload.is_object() {
        return Err("the input is not a JSON object".into());
    }
    let mut payload =
        host::decode(env, bytes, DecodeAs::Stop).map_err(|problem| problem.to_string())?;
    if payload.cwd.is_none() {
        #[expect(
            clippy::disallowed_methods,
            reason = "the script took its own directory for the project"
        )]
        let here = std::env::current_dir();
        payload.cwd = here.ok();
    }
    decide_among(machine, env, &payload).map_err(|trouble| trouble.to_string())
}

/// Why the agent is held; `None` if it may go.
pub(super) fn held(answer: &Answer) -> Option<String> {
    match &answer.decision {
        Decision::Stop { hold } if !hold.is_empty() => {
            Some(crate::host::text::clean(&hold.text()).into_owned())
        }
        _ => None,
    }
}

/// What a person should know, on stderr: stdout is the script's contract.
pub(super) fn notes(script: &str, answer: &Answer) -> String {
    let lines: Vec<String> = answer
        .notes
        .iter()
        .map(|note| format!("{script}: {}", crate::host::text::clean(&note.text)))
        .collect();
    lines.join("\n")
}
