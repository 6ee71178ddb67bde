//! What must hold, whatever happened.

use std::fs;
use std::path::{Path as FilePath, PathBuf};

use serde_json::Value;

use super::deadline;
use super::lab::Ran;
use super::paths::{Does, Path};
use crate::world::World;

/// A process that was not killed has answered. A hook prints nothing or one whole JSON object and
/// exits with 0; or it says on stderr that it could not, and exits with 1. A command was done, or
/// says why not.
pub(super) fn answered(path: &Path, ran: &Ran) -> Result<(), String> {
    ended(ran)?;
    if ran.stdout.contains("internal error") || ran.stderr.contains("panicked") {
        return Err(format!("it panicked: {}{}", ran.stdout, ran.stderr));
    }
    match (path.does, ran.code) {
        (Does::Hook, Some(0)) => one_object(&ran.stdout),
        (Does::Hook, Some(1)) if ran.stdout.is_empty() && !ran.stderr.is_empty() => Ok(()),
        (Does::Verb { .. }, Some(0)) => Ok(()),
        (Does::Verb { .. }, Some(1)) if !ran.stderr.is_empty() => Ok(()),
        (_, code) => Err(format!(
            "it ended with {code:?}, having said {:?} and {:?}",
            ran.stdout, ran.stderr
        )),
    }
}

/// No process runs for ever.
pub(super) fn ended(ran: &Ran) -> Result<(), String> {
    if ran.overdue {
        return Err(format!("no end after {:?}", deadline::LIMIT));
    }
    Ok(())
}

fn one_object(stdout: &str) -> Result<(), String> {
    let lines: Vec<&str> = stdout.lines().collect();
    match lines.as_slice() {
        [] => Ok(()),
        [line] => serde_json::from_str::<Value>(line)
            .map(drop)
            .map_err(|error| format!("half an answer: {error}: {line}")),
        _ => Err(format!("more than one answer: {lines:?}")),
    }
}

/// Every state file is whole: JSON parses, and so do all lines of a journal except the last.
pub(super) fn nothing_torn(world: &World) -> Result<(), String> {
    for path in files(&world.home()) {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let is_json = path
            .extension()
            .is_some_and(|extension| extension == "json");
        if is_json && !name.starts_with('.') {
            let text = read(&path)?;
            // A reviewer's output may be anything, and one path has a broken file on purpose.
            let ours = name != "stdout.json" && text != super::paths::BROKEN;
            if ours && let Err(error) = serde_json::from_str::<Value>(&text) {
                return Err(format!("torn: {}: {error}: {text:?}", path.display()));
            }
        }
        if name == "journal.jsonl" {
            let text = read(&path)?;
            let mut lines = text.lines().peekable();
            while let Some(line) = lines.next() {
                if serde_json::from_str::<Value>(line).is_err() && lines.peek().is_some() {
                    return Err(format!("a record in the middle is torn: {line:?}"));
                }
            }
        }
    }
    Ok(())
}

fn read(path: &FilePath) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

pub(super) fn nothing_left_over(world: &World) -> Result<(), String> {
    for root in [world.home(), world.project(), world.root().join("tmp")] {
        for path in files(&root) {
            let name = path.to_string_lossy();
            // A reviewer's folder is removed as a whole, some reviews later.
            let passing = name.contains("/reviews/");
            if name.contains(".mainspring") && !passing {
                return Err(format!("left over: {}", path.display()));
            }
        }
    }
    Ok(())
}

fn files(dir: &FilePath) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(dir) else {
        return found;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}
