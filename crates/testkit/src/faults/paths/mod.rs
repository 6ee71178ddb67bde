//! The paths that are tested. A machine adds a file and its entries.

mod check;
mod claim;
mod gate;
mod looping;
mod orders;
mod pulse;
mod retention;
pub(super) mod review;
mod tasks;
mod verbs;

use std::fs;
use std::path::Path as FilePath;

use serde_json::Value;

use crate::world::World;

/// One way through the program.
#[derive(Debug)]
pub struct Path {
    pub name: &'static str,
    pub does: Does,
    /// Variables for everything in its world.
    pub vars: &'static [(&'static str, &'static str)],
    /// Does it start children? Then it waits for them, and how often it looks varies.
    pub has_children: bool,
    /// Sets up the world, and returns the event.
    pub prepare: fn(&World) -> Vec<u8>,
    /// The state that the path is about, as text: it differs before and after only by what the path
    /// changes.
    pub mark: fn(&World) -> String,
    /// Checks the world after a fault, another event and one more healthy delivery, whose output it
    /// gets.
    pub verify: fn(&World, &str) -> Result<(), String>,
}

/// The command that is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    Hook,
    Verb {
        args: &'static [&'static str],
        who: Who,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    Agent,
    Person,
}

/// A hook in an empty project; all other paths differ from it.
const HOOK: Path = Path {
    name: "",
    does: Does::Hook,
    vars: &[],
    has_children: false,
    prepare: |world| world.stop("Done."),
    mark: |_| String::new(),
    verify: |_, _| Ok(()),
};

/// The content of a file that a path breaks on purpose.
pub(super) const BROKEN: &str = "{\"schema\": 1,";

/// The next event was held, and its reason contains one of these.
fn held_with(said: &str, any: &[&str]) -> Result<(), String> {
    let held = said.contains("\"decision\":\"block\"");
    if held && any.iter().any(|words| said.contains(words)) {
        Ok(())
    } else {
        Err(format!("the agent is not held with any of {any:?}"))
    }
}

fn let_go(said: &str) -> Result<(), String> {
    if said.contains("\"decision\":\"block\"") {
        Err("the agent is held".into())
    } else {
        Ok(())
    }
}

fn told(said: &str, words: &str) -> Result<(), String> {
    if said.contains(words) {
        Ok(())
    } else {
        Err(format!("nobody was told {words:?}"))
    }
}

/// A file's text, or a dash.
fn text(path: &FilePath) -> String {
    fs::read_to_string(path).unwrap_or_else(|_| "-".into())
}

/// These fields of a JSON file, or a dash; a file that is not JSON is shown whole.
fn fields(path: &FilePath, pointers: &[&str]) -> String {
    let text = text(path);
    match serde_json::from_str::<Value>(&text) {
        Ok(json) => pointers
            .iter()
            .map(|pointer| json.pointer(pointer).unwrap_or(&Value::Null).to_string())
            .collect::<Vec<_>>()
            .join(" "),
        Err(_) => text,
    }
}

/// A file of the project's state, if there is any state.
fn state_file(world: &World, name: &str) -> std::path::PathBuf {
    let projects = world.home().join(".local/state/mainspring/projects");
    let first = fs::read_dir(projects).ok().and_then(|mut all| all.next());
    match first {
        Some(Ok(dir)) => dir.path().join(name),
        Some(Err(_)) | None => world.root().join("no-state"),
    }
}

/// What is in a file of the project's state.
pub(super) fn state_text(world: &World, name: &str) -> String {
    text(&state_file(world, name))
}

/// How often a reviewer was started.
pub(super) fn reviews(world: &World) -> usize {
    review::starts(world)
}

fn put(path: &FilePath, text: &str) {
    let folder = path.parent().expect("a file in a folder");
    fs::create_dir_all(folder).expect("a folder of the world's own");
    fs::write(path, text).expect("room for a file");
}

pub const ALL: &[Path] = &[
    pulse::NOTHING,
    pulse::FIRST_HOLD,
    pulse::HOLD,
    pulse::RECOVERY,
    pulse::RELEASE,
    pulse::ABANDONED,
    pulse::CAPPED,
    gate::HOLD,
    gate::RELEASE,
    gate::PROMPT,
    looping::ITERATE,
    looping::COMPLETE,
    looping::FALLBACK_FILE,
    looping::BESIDE,
    looping::BROKEN_FILE,
    review::SKIP,
    review::INVALID,
    review::UNTRUSTED,
    review::REVIEWED,
    tasks::LAY_OUT,
    tasks::AGAIN,
    tasks::TYPED,
    tasks::REFUSED,
    check::RED,
    check::GREEN,
    check::KNOWN,
    check::EDITED,
    claim::CODING,
    claim::NO_GITHUB,
    claim::START,
    claim::MAIL,
    claim::CLOSE,
    orders::SUSPENDED,
    orders::OBSERVED,
    retention::SWEEP,
    verbs::GATE_ON,
    verbs::LOOP_START,
    verbs::STOP,
    verbs::PAUSE,
    verbs::TRUST,
    verbs::PULSE_OFF,
];
