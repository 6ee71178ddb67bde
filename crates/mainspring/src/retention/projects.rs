//! What we know of the projects that have state: where their folder is, and what is open.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use mainspring_kernel::machines::gate::verbs::Switch;
use mainspring_kernel::machines::{Name, Pending};
use mainspring_kernel::orders::{Allowance, Orders};
use mainspring_kernel::retention::{Folder, Open, Project, Rules};
use mainspring_kernel::{Millis, retention};
use mainspring_platform::path::from_bytes;
use mainspring_store::{Store, Trouble, atomic, is_deleted, read_json};
use serde::Deserialize;

use super::files::{self, File, FileKind, PATH_BYTES, session_of};
use super::{changed, names};
use crate::limits;
use crate::machines::effect_owner;
use crate::machines::gate::switch::{GateSwitch, SwitchedBy};
use crate::machines::looping::loop_store;
use crate::project;
use crate::store::StateDir;

/// More than this many open things need not be listed.
const MOST_OPEN: usize = 16;

/// A project that has state.
#[derive(Debug)]
pub(crate) struct Stored {
    /// Where its state is.
    pub(crate) dir: PathBuf,
    /// Its own folder, if its path is known.
    pub(crate) root: Option<PathBuf>,
}

/// Every project that has state, in the order of the folders' names.
pub(crate) fn all(state: &StateDir) -> Vec<Stored> {
    let dirs = names(&state.projects()).into_iter();
    let dirs = dirs.map(|name| state.projects().join(name));
    dirs.filter(|dir| dir.is_dir() && !is_deleted(dir))
        .map(|dir| Stored::at(state, dir))
        .collect()
}

impl Stored {
    pub(super) fn at(state: &StateDir, dir: PathBuf) -> Self {
        let root = atomic::read(&dir.join("root"), PATH_BYTES).ok().flatten();
        let root = root.map(|mut bytes| {
            bytes.truncate(bytes.trim_ascii_end().len());
            from_bytes(bytes)
        });
        // A path that is not UTF-8 text was written with other characters, and is not the path.
        let root = root.filter(|root| state.project(root) == dir);
        Self { dir, root }
    }

    /// The project at this path, whether or not it has state.
    pub(crate) fn of(state: &StateDir, root: &Path) -> Self {
        Self {
            dir: state.project(root),
            root: Some(root.into()),
        }
    }

    pub(crate) fn folder(&self) -> Folder {
        let Some(root) = &self.root else {
            return Folder::Unknown;
        };
        match fs::symlink_metadata(root) {
            Ok(_) => Folder::There,
            Err(error) if error.kind() == ErrorKind::NotFound => Folder::Gone,
            Err(_) => Folder::Unknown,
        }
    }

    /// Its lock can be taken without finishing what a crashed process left.
    pub(crate) fn store(&self) -> Store {
        Store::new(self.dir.clone(), self.root.clone().unwrap_or_default())
    }

    /// What the rules ask about it.
    pub(crate) fn facts(&self, state: &StateDir, now: Millis) -> Project {
        Project {
            folder: self.folder(),
            changed: self.changed(),
            open: self.open(state, now),
        }
    }

    /// What is kept here besides a gate for the whole project, and besides what was: decisions, and
    /// the counts of sessions.
    pub(crate) fn besides_gate(&self, state: &StateDir, now: Millis) -> Option<String> {
        let mut open = self.open(state, now).into_iter();
        if let Some(other) = open.find(|open| *open != Open::Gate) {
            return Some(other.what());
        }
        let names = files::names_of_project(&self.dir).into_iter();
        let mut of_machines = names.filter(|name| FileKind::of(name) == FileKind::Machine);
        let other = of_machines.find(|name| !["lock", "root", "gate.json"].contains(&&**name));
        other.map(|name| format!("{name} is kept there"))
    }

    /// When one of its files was last changed. A folder changes when we delete something in it, so
    /// it counts only if there are no files.
    fn changed(&self) -> Millis {
        let files = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let files = files.filter_map(|entry| entry.metadata().ok());
        let newest = files
            .filter(|meta| !meta.is_dir())
            .map(|meta| changed(&meta));
        newest.max().unwrap_or_else(|| {
            fs::symlink_metadata(&self.dir).map_or(Millis(u64::MAX), |meta| changed(&meta))
        })
    }

    fn open(&self, state: &StateDir, now: Millis) -> Vec<Open> {
        let mut open = Vec::new();
        if state.has_trust_record(&self.dir) {
            open.push(Open::Trust);
        }
        for name in files::names_of_project(&self.dir) {
            if open.len() >= MOST_OPEN {
                break;
            }
            match opens(&self.dir, &name, now) {
                Ok(opens) => open.extend(opens),
                Err(_) => open.push(Open::Unreadable(name)),
            }
        }
        open
    }

    /// What its machines remember.
    pub(super) fn memory(&self) -> Memory {
        let mut memory = Memory::default();
        for name in names(&self.dir) {
            memory.reviews |= name.starts_with("intent-review");
            memory.checks |= name.starts_with("intent-check");
            if FileKind::of(&name) == FileKind::Machine && name.ends_with(".json") {
                match atomic::read(&self.dir.join(name), limits::STATE_FILE) {
                    Ok(bytes) => memory.texts.extend(bytes),
                    Err(_) => memory.unreadable = true,
                }
            }
        }
        memory
    }

    /// Does this file go?
    pub(super) fn sweeps_file(
        &self,
        rules: &Rules,
        file: &File,
        memory: &Memory,
        starts: Option<&str>,
    ) -> bool {
        if !rules.is_old(file.changed) {
            return false;
        }
        match (file.kind, session_of(&file.name)) {
            (FileKind::Session, Some(session)) => {
                let facts = self.session(session, memory, starts == Some(session));
                facts.is_some_and(|facts| rules.sweeps_session(&facts))
            }
            (FileKind::Review, _) => !memory.reviews,
            (FileKind::Check, _) => !memory.checks,
            (FileKind::Session | FileKind::Aside, _) => true,
            (FileKind::Journal | FileKind::Segment | FileKind::Machine, _) => false,
        }
    }

    /// What the rules ask about one of its sessions; `None` if it has no files.
    pub(super) fn session(
        &self,
        session: &str,
        memory: &Memory,
        starts: bool,
    ) -> Option<retention::Session> {
        let gate = self.dir.join(format!("sessions/{session}.gate.json"));
        Some(retention::Session {
            changed: files::session_changed(&self.dir, session)?,
            gate_on: read_switch(&gate).map_or(true, |gate| {
                gate.switch == Some(Switch::On) && gate.by == SwitchedBy::Another
            }),
            owns: memory.names(session),
            starts,
        })
    }
}

/// The machines' own state, as text.
#[derive(Debug, Default)]
pub(super) struct Memory {
    texts: Vec<Vec<u8>>,
    unreadable: bool,
    /// A reviewer is at work, or was when its hook died: its files are needed.
    reviews: bool,
    /// The same for a check.
    checks: bool,
}

impl Memory {
    /// Does it name this session, as the owner of something? An odd id is not in the names of its
    /// files, only its digest, and what cannot be read may name anybody: both count as named.
    pub(super) fn names(&self, session: &str) -> bool {
        let quoted = format!("\"{session}\"");
        let named = |text: &Vec<u8>| {
            let mut parts = text.windows(quoted.len());
            session.starts_with('#') || parts.any(|part| part == quoted.as_bytes())
        };
        self.unreadable || self.texts.iter().any(named)
    }
}

/// Does the project that a session is bound to still know the session?
pub(super) fn is_in_use(state: &StateDir, binding: &Path, session: &str) -> bool {
    if session.contains(".aside-") {
        return false;
    }
    match project::read_binding(binding) {
        Err(_) => true,
        Ok(None) => false,
        Ok(Some(root)) => {
            let stored = Stored::of(state, &root);
            let has_files = files::session_changed(&stored.dir, session).is_some();
            has_files || stored.memory().names(session)
        }
    }
}

/// The sessions that are bound to this project, by their bindings.
pub(crate) fn bindings_to(state: &StateDir, root: &Path) -> Vec<PathBuf> {
    let folder = state.bindings();
    let paths = names(&folder).into_iter().map(|name| folder.join(name));
    paths
        .filter(|path| {
            project::read_binding(path).is_ok_and(|bound| bound.as_deref() == Some(root))
        })
        .collect()
}

/// What one of a project's files says is open.
fn opens(dir: &Path, name: &str, now: Millis) -> Result<Option<Open>, Trouble> {
    let path = dir.join(name);
    if let Some(rest) = name.strip_prefix("intent-") {
        let pending = read_json::<Pending>(path)?.value;
        let machine = rest.split(['.', '-']).next().unwrap_or(rest);
        return Ok(
            pending.map(|pending| Open::effect(machine, effect_owner::is_alive(pending.owner())))
        );
    }
    Ok(match name {
        "orders.json" => {
            let orders = read_json::<Orders>(path)?.value.unwrap_or_default();
            let in_force = |name: &Name| orders.allowance(*name, now) != Allowance::Act;
            Name::ALL.iter().any(in_force).then_some(Open::Order)
        }
        "loop.json" => loop_on(path).then_some(Open::Loop),
        _ if name.starts_with(loop_store::OF_SESSION) && name.ends_with(".json") => {
            loop_on(path).then_some(Open::Loop)
        }
        "gate.json" => gate_on(&path)?.then_some(Open::Gate),
        _ if name.ends_with(".gate.json") => {
            let session = session_of(name).filter(|_| gate_on(&path).unwrap_or(true));
            session.map(|session| Open::SessionGate(session.to_owned()))
        }
        _ => None,
    })
}

/// A loop that is over leaves no file, but for one that was aborted: it stays until a stop has said
/// so. One that cannot be read may be on.
fn loop_on(path: PathBuf) -> bool {
    let found = read_json::<LoopEvent>(path).ok();
    let found = found.and_then(|found| found.value);
    found.is_none_or(|found| found.event != "ABORT")
}

/// What a loop's file says first.
#[derive(Deserialize)]
struct LoopEvent {
    #[serde(default)]
    event: String,
}

fn gate_on(path: &Path) -> Result<bool, Trouble> {
    Ok(read_switch(path)?.switch == Some(Switch::On))
}

fn read_switch(path: &Path) -> Result<GateSwitch, Trouble> {
    let found = read_json::<GateSwitch>(path.into())?;
    Ok(found.value.unwrap_or_default())
}
