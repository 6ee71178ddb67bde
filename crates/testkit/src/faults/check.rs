//! What must hold whatever happened.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::strace::Ran;
use crate::world::World;

/// A process that was not killed has answered: nothing, or one JSON object in full, and
/// with exit 0; or it said on stderr that it could not, with exit 1.
pub(super) fn answered(ran: &Ran) -> Result<(), String> {
    match ran.code {
        Some(0) => {
            let lines: Vec<&str> = ran.stdout.lines().collect();
            match lines.as_slice() {
                [] => Ok(()),
                [line] => serde_json::from_str::<Value>(line)
                    .map(drop)
                    .map_err(|error| format!("half an answer: {error}: {line}")),
                _ => Err(format!("more than one answer: {lines:?}")),
            }
        }
        Some(1) if ran.stdout.is_empty() => Ok(()),
        code => Err(format!(
            "it ended with {code:?}, having said {:?}",
            ran.stdout
        )),
    }
}

/// Every state file is whole: JSON parses, and a journal's lines do but for the last.
pub(super) fn nothing_torn(world: &World) -> Result<(), String> {
    for path in files(&world.home()) {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let text =
            fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let is_json = path
            .extension()
            .is_some_and(|extension| extension == "json");
        if is_json && !name.starts_with('.') {
            serde_json::from_str::<Value>(&text)
                .map_err(|error| format!("torn: {}: {error}: {text:?}", path.display()))?;
        }
        if name == "journal.jsonl" {
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

/// What was said is in the journal.
pub(super) fn durable(world: &World) -> Result<(), String> {
    let journal = fs::read_to_string(world.state().join("journal.jsonl")).unwrap_or_default();
    if journal
        .lines()
        .any(|line| line.contains("\"outcome\":\"held\""))
    {
        Ok(())
    } else {
        Err("it held the agent, and no record says so".into())
    }
}

pub(super) fn nothing_left_over(world: &World) -> Result<(), String> {
    for root in [world.home(), world.project()] {
        for path in files(&root) {
            if path.to_string_lossy().ends_with(".mainspring") {
                return Err(format!("left over: {}", path.display()));
            }
        }
    }
    Ok(())
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(dir) else {
        return found;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}
