//! The drop-in for the public Stop hook of Taskie.
//!
//! It exits with 2 for input that it cannot use, as the script does; but never after a hook
//! has already continued the agent, because hosts take 2 for a block. Otherwise it exits with
//! 0 and prints one JSON object.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use mainspring_kernel::event::{Background, Chain, Kind};
use mainspring_kernel::{Answer, Decision, Name};
use mainspring_platform::path;
use serde_json::Value;

use super::Reply;
use mainspring_store::ShownPath as _;

use crate::context::{Caller, EventContext};
use crate::env::Environment;
use crate::hook::drive::drive;
use crate::hook::forged;
use crate::hook::input::Input;
use crate::hosts::text::clean;
use crate::hosts::{self, DecodeAs, Payload};
use crate::machines;
use crate::project::{Bound, Contents, Project};
use crate::store::{ProjectStore, StateDir};

/// Input that it cannot use. The script lets the agent stop all the same.
const UNUSABLE: u8 = 2;
/// How the notes end that warn of nothing.
const GOOD_NEWS: [&str; 2] = [
    "structure validated successfully",
    "when you continue the plan",
];

pub(super) fn run(env: &Environment, _: &[OsString], input: Input) -> Reply {
    let (payload, chain) = match read(env, input) {
        Ok(read) => read,
        Err(problem) => return unusable(&format!("Invalid JSON input: {problem}")),
    };
    let named = match (&payload.cwd, chain) {
        (None, Chain::First) => super::stop::own_directory(),
        (cwd, _) => cwd.clone(),
    };
    let root = named.as_deref().and_then(real);
    match (root, chain) {
        (Some(root), _) => decide(env, payload, chain, root),
        (None, Chain::Continued) => quiet(),
        (None, Chain::First) => {
            let named = named.unwrap_or_default();
            unusable(&format!(
                "Cannot change to project directory: {}",
                named.shown()
            ))
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
    let payload =
        hosts::decode(env, bytes, DecodeAs::Stop, None).map_err(|error| error.to_string())?;
    let chain = match payload.event.kind {
        Kind::Stop { chain, .. } => chain,
        _ => Chain::First,
    };
    Ok((payload, chain))
}

fn real(cwd: &Path) -> Option<PathBuf> {
    path::real(cwd).ok().filter(|cwd| cwd.is_dir())
}

/// The script changes into the directory, and looks for plans there and nowhere else.
fn decide(env: &Environment, mut payload: Payload, chain: Chain, root: PathBuf) -> Reply {
    payload.event.kind = Kind::Stop {
        chain,
        background: Background::Quiet,
    };
    if let Some(answer) = forged(env, &payload) {
        return encode(&answer);
    }
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
    let machine = Name::Review;
    let payload = &payload;
    let context = EventContext::new(env, (project, store), Caller::DropIn { machine, payload });
    match machines::applies(Name::Review, &context) {
        Ok(false) => quiet(),
        Ok(true) => encode(&drive(&context, payload, &[Name::Review]).without_optional_notes()),
        Err(trouble) => encode(&Answer::fault(&payload.event.kind, trouble.to_string())),
    }
}

fn encode(answer: &Answer) -> Reply {
    let notes: Vec<String> = answer
        .notes
        .iter()
        .map(|note| worded(&clean(&note.text)))
        .collect();
    let held = match &answer.decision {
        Decision::Stop { hold } if !hold.is_empty() => Some(clean(&hold.text()).into_owned()),
        _ => None,
    };
    let stdout = match held {
        Some(reason) => super::stop::block(&reason),
        None if notes.is_empty() => quiet().stdout,
        None => super::spaced(&[
            ("systemMessage", notes.join("\n").into()),
            ("suppressOutput", true.into()),
        ]),
    };
    let warnings: Vec<String> = notes
        .iter()
        .filter(|note| !GOOD_NEWS.iter().any(|end| note.ends_with(end)))
        .map(|note| format!("Warning: {note}"))
        .collect();
    Reply {
        stdout,
        stderr: warnings.join("\n"),
        code: 0,
    }
}

/// What our notes say, and the words for it that users of the public hook grep for. The document
/// fixes none here.
const GREPPED: &[(&str, &str)] = &[
    ("max_reviews is 0", "Reviews disabled (max_reviews=0)"),
    ("tasks.md names no task", "No task files found"),
    ("names no usable current_task", "Task file not found"),
    ("`claude` was not found", "claude CLI not found"),
    ("did not happen", "Review failed"),
];

/// The note, after the public hook's words for it.
fn worded(note: &str) -> String {
    let known = GREPPED.iter().find(|(ours, _)| note.contains(ours));
    let words = known.map(|(_, theirs)| (*theirs).to_owned());
    match words.or_else(|| limit(note)) {
        Some(words) => format!("{words}: {note}"),
        None => note.to_owned(),
    }
}

/// The words for a cycle that has had all its reviews.
fn limit(note: &str) -> Option<String> {
    let (done, _) = note.split_once(" are done without two clean ones")?;
    let (_, most) = done.rsplit_once(" of ")?;
    let most = most.split(' ').next()?;
    Some(format!("Max review limit ({most}) reached"))
}

fn quiet() -> Reply {
    Reply {
        stdout: super::spaced(&[("suppressOutput", true.into())]),
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
