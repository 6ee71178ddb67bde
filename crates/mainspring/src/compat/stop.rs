//! What the two scripts for a stop have in common: their payload may lack fields that every
//! host sends today, and a failure lets the agent go.

use std::path::{Path, PathBuf};

use mainspring_kernel::{Answer, Decision, Name, SessionId};
use serde_json::Value;

use super::Reply;
use crate::env::Environment;
use crate::hook::decide_among;
use crate::hook::input::Input;
use crate::hosts::{self, DecodeAs, Payload};

/// The payload of a script that is registered for stops. Without a directory, it is the one that
/// the script would run in.
pub(super) fn payload(env: &Environment, input: Input) -> Result<Payload, String> {
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
        hosts::decode(env, bytes, DecodeAs::Stop, None).map_err(|problem| problem.to_string())?;
    payload.cwd = payload.cwd.or_else(own_directory);
    Ok(payload)
}

/// The answer of one machine to the payload of its script. A session that the host did not name
/// is bound to no project.
pub(super) fn answer(
    machine: Name,
    env: &Environment,
    payload: &Payload,
    named: Option<&SessionId>,
) -> Result<Answer, String> {
    decide_among(machine, env, payload, named).map_err(|trouble| trouble.to_string())
}

/// The directory that the script would run in.
pub(super) fn own_directory() -> Option<PathBuf> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the script took its own directory for the project"
    )]
    let here = std::env::current_dir();
    here.ok()
}

/// The nearest folder at or above this path that is there.
pub(super) fn existing(path: &Path) -> PathBuf {
    let mut above = path.ancestors();
    let there = above.find(|folder| folder.is_dir());
    there.unwrap_or_else(|| Path::new("/")).to_owned()
}

/// Why the agent is held; `None` if it may go.
pub(super) fn held(answer: &Answer) -> Option<String> {
    match &answer.decision {
        Decision::Stop { hold } if !hold.is_empty() => {
            Some(crate::hosts::text::clean(&hold.text()).into_owned())
        }
        _ => None,
    }
}

/// What a person should know, one line for each note.
pub(super) fn notes(script: &str, answer: &Answer) -> String {
    let lines = answer.notes.iter();
    let lines = lines.map(|note| format!("{script}: {}", crate::hosts::text::clean(&note.text)));
    lines.collect::<Vec<_>>().join("\n")
}

/// The reply for an agent that may go. What a person should know is on stderr, as the scripts have
/// it, and on stdout as well: a host shows nobody the stderr of a hook that succeeded.
pub(super) fn let_go(script: &str, answer: &Answer) -> Reply {
    let notes = notes(script, answer);
    Reply {
        stdout: if notes.is_empty() {
            String::new()
        } else {
            message(&notes)
        },
        stderr: notes,
        code: 0,
    }
}

/// The reply after a failure of ours.
pub(super) fn failed(script: &str, cause: &str) -> Reply {
    let text = format!("{script}: {cause}: the agent was let go");
    Reply {
        stdout: message(&text),
        stderr: text,
        code: 0,
    }
}

pub(super) fn message(text: &str) -> String {
    super::spaced(&[("systemMessage", text.into())])
}

/// A block, as the documents print it.
pub(super) fn block(reason: &str) -> String {
    super::spaced(&[("decision", "block".into()), ("reason", reason.into())])
}
