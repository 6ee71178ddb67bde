//! Files of ours that are not as they were written.

use std::fs;
use std::path::{Path, PathBuf};

use mainspring_kernel::authority::Grounds;
use mainspring_store::{ShownPath as _, Trouble, atomic, seal};
use serde::de::IgnoredAny;

use super::{Findings, Repair};
use crate::command::{CommandContext, Result};
use crate::limits;
use crate::machines::review::attempt::LEADER;
use crate::store::{ProjectStore, aside_path};

const FIX: &str = "mainspring doctor --fix";

pub(super) fn examine(cmd: &CommandContext, repair: Repair, findings: &mut Findings) {
    // A binding that was changed keeps the project from being found.
    let state = match cmd.state() {
        Ok(state) => state,
        Err(error) => return findings.error("files", error.cause, "set HOME"),
    };
    let mut elsewhere = listed(&state.trusted());
    elsewhere.extend(bindings(&state.root().join("sessions")));
    for folder in folders(&state.root().join("installs")) {
        elsewhere.push(folder.join("installed.json"));
    }
    for path in elsewhere {
        if let Some(bytes) = unusable(&path, findings)
            && may_fix(cmd, repair, findings)
        {
            fixed(move_aside(&path, &bytes), &path, findings);
        }
    }
    let Ok((_, store)) = cmd.project() else {
        return;
    };
    for path in of_project(&store) {
        if let Some(bytes) = unusable(&path, findings)
            && may_fix(cmd, repair, findings)
        {
            fixed(take_away(cmd, &path, &bytes), &path, findings);
        }
    }
}

/// What a hook reads of a project's own files.
fn of_project(store: &ProjectStore) -> Vec<PathBuf> {
    let mut found = listed(store.dir());
    found.extend(listed(&store.dir().join("sessions")));
    for attempt in folders(&store.dir().join("reviews")) {
        found.push(attempt.join(LEADER));
    }
    found
}

/// The bytes of a file that cannot be used, once that is said. One of a newer version is
/// left to that version.
fn unusable(path: &Path, findings: &mut Findings) -> Option<Vec<u8>> {
    let bytes = match atomic::read(path, limits::STATE_FILE) {
        Ok(bytes) => bytes?,
        Err(trouble) => {
            let fix = format!("ls -l {}", path.shown());
            findings.error("files", trouble.to_string(), &fix);
            return None;
        }
    };
    match check(path, &bytes) {
        Ok(()) => None,
        Err(trouble @ Trouble::Newer { .. }) => {
            findings.error("files", trouble.to_string(), "mainspring --version");
            None
        }
        Err(trouble) => {
            findings.error("files", trouble.to_string(), FIX);
            Some(bytes)
        }
    }
}

/// Is it as it was written? What has no seal must at least be JSON.
fn check(path: &Path, bytes: &[u8]) -> std::result::Result<(), Trouble> {
    let object = seal::unseal(path, bytes)?;
    if object.is_empty() {
        return Ok(());
    }
    mainspring_json::read::<IgnoredAny>(&object)
        .map(drop)
        .map_err(|error| Trouble::corrupt(path, error))
}

/// To take away what holds an agent, or brakes it, is for a person.
fn may_fix(cmd: &CommandContext, repair: Repair, findings: &mut Findings) -> bool {
    if repair == Repair::Look {
        return false;
    }
    match cmd.may("doctor --fix", Grounds::Nothing) {
        Ok(()) => true,
        Err(error) => {
            findings.error("files", error.cause, FIX);
            false
        }
    }
}

fn fixed(moved: Result<PathBuf>, path: &Path, findings: &mut Findings) {
    match moved {
        Ok(aside) => {
            findings.mended();
            findings.fine(
                "files",
                format!("{} is kept as {}", path.shown(), aside.shown()),
            );
        }
        Err(error) => findings.error("files", error.cause, FIX),
    }
}

fn move_aside(path: &Path, bytes: &[u8]) -> Result<PathBuf> {
    let aside = aside_path(path, bytes);
    fs::rename(path, &aside).map_err(Trouble::io("move", path))?;
    Ok(aside)
}

/// With a record: after a power loss the files of the last records are looked at again, and
/// what was only deleted would come back.
fn take_away(cmd: &CommandContext, path: &Path, bytes: &[u8]) -> Result<PathBuf> {
    let aside = aside_path(path, bytes);
    atomic::replace(&aside, bytes)?;
    cmd.commit(None, "doctor --fix", |_| {
        let change = atomic::change(path, Some(bytes), None);
        let did = format!("moved {} away: it was damaged", path.shown());
        Ok((vec![change], did))
    })?;
    Ok(aside)
}

/// The files of a folder that are ours by their names.
fn listed(folder: &Path) -> Vec<PathBuf> {
    let mut found = entries(folder);
    found.retain(|path| {
        let end = path.extension();
        end.is_some_and(|end| end == "json" || end == "count")
    });
    found
}

/// Those that say which project a session is bound to: their names are the sessions'.
fn bindings(folder: &Path) -> Vec<PathBuf> {
    let mut found = entries(folder);
    found.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        path.is_file() && !name.starts_with('.') && !name.contains(".aside-")
    });
    found
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let mut found = entries(folder);
    found.retain(|path| path.is_dir());
    found
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    found.sort();
    found
}
