//! The drop-in for the public Stop hook of Taskie.
//!
//! It exits with 2 for input that it cannot use, as the script does; but never after a hook
//! has already continued the agent, because hosts take 2 for a block. Otherwise it exits with
//! 0 and prints one JSON object.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use mainspring_kernel::event::{Background, Chain, Kind};
use mainspring_kernel::{Answer, Decision, Name};
use serde_json::{Map, Value, json};

use super::Reply;
use crate::drive::drive;
use crate::env::Environment;
use crate::event_context::EventContext;
use crate::host::text::clean;
use crate::host::{self, DecodeAs, Payload};
use crate::machine;
use crate::project::{Bound, Contents, Project};
use crate::store::{ProjectStore, StateDir};
use crate::verb::hook::Input;

/// Input that it cannot use. The script lets the agent stop all the same.
const UNUSABLE: u8 = 2;
const VALIDATED: &str = "structure validated successfully";

pub(super) fn run(env: &Environment, _: &[OsString], input: Input) -> Reply {
    let (payload, chain) = match read(env, input) {
        Ok(read) => read,
        Err(problem) => return unusable(&format!("Invalid JSON input: {problem}")),
    };
    let root = payload.cwd.as_deref().and_then(real);
    match (root, chain) {
        (Some(root), _) => decide(env, payload, chain, root),
        (None, Chain::Continued) => quiet(),
        (None, Chain::First) => {
            let named = payload.cwd.as_deref().unwrap_or_else(|| Path::new(""));
            unusable(&format!("Cannot change to directory: {}", named.display()))
        }
    }
}

fn read(env: &Environment, input: Input) -> Result<(Payload, Chain), String> {
    let bytes = match input {
        Input::Bytes(bytes) => bytes,
        Input::TooLarge => return Err("it is too large".into()),
        Input::Unreadable(error) => return Err(error),
    };
    let _: Value = mainspring_json::read(&bytes).map_err(|error| error.to_string())?;
    let payload = host::decode(env, bytes, DecodeAs::Stop).map_err(|error| error.to_string())?;
    let chain = match payload.event.kind {
        Kind::Stop { chain, .. } => chain,
        _ => Chain::First,
    };
    Ok((payload, chain))
}

fn real(cwd: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(cwd).ok().filter(|cwd| cwd.is_dir())
}

/// The script changes into the directory, and looks for plans there and nowhere else.
fn decide(env: &Environment, mut payload: Payload, chain: Chain, root: PathBuf) -> Reply {
    payload.event.kind = Kind::Stop {
        chain,
        background: Background::Quiet,
    };
    let Some(state) = StateDir::of(env) else {
        let note = "there is no place for mainspring's state: set HOME or XDG_STATE_HOME";
        return encode(&Answer::fault(&payload.event.kind, note));
    };
    let project = Project {
        ignored: Vec::new(),
        worktree: root.clone(),
        bound: Bound::Yes,
        contents: Contents::Something,
        root,
    };
    let store = ProjectStore::new(state, &project.root);
    let context = EventContext::new(env, &project, &store, Some(&payload)).registered(Name::Review);
    match machine::applies(Name::Review, &context) {
        Ok(false) => quiet(),
        Ok(true) => encode(&drive(&context, &payload, &[Name::Review])),
        Err(trouble) => encode(&Answer::fault(&payload.event.kind, trouble.to_string())),
    }
}

fn encode(answer: &Answer) -> Reply {
    let notes: Vec<String> = answer
        .notes
        .iter()
        .map(|note| clean(&note.text).into_owned())
        .collect();
    let mut out = Map::new();
    let held = match &answer.decision {
        Decision::Stop { hold } if !hold.is_empty() => Some(clean(&hold.text()).into_owned()),
        _ => None,
    };
    if let Some(reason) = held {
        out.insert("decision".into(), "block".into());
        out.insert("reason".into(), reason.into());
    } else {
        if !notes.is_empty() {
            out.insert("systemMessage".into(), notes.join("\n").into());
        }
        out.insert("suppressOutput".into(), true.into());
    }
    let warnings: Vec<&str> = notes
        .iter()
        .map(String::as_str)
        .filter(|note| !note.ends_with(VALIDATED))
        .collect();
    Reply {
        stdout: format!("{}\n", Value::Object(out)),
        stderr: warnings.join("\n"),
        code: 0,
    }
}

fn quiet() -> Reply {
    Reply {
        stdout: format!("{}\n", json!({ "suppressOutput": true })),
        stderr: String::new(),
        code: 0,
    }
}

fn unusable(problem: &str) -> Reply {
    Reply {
        stdout: String::new(),
        stderr: format!("Error: {problem}"),
        code: UNUSABLE,
    }
}
