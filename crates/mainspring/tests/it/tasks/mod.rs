//! `tasks`, as the client sees it: events in, task files out.

mod client;
mod compat;
mod crash;
mod daily;
mod errors;
mod events;
mod readers;
mod verbs;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::env::{Ran, TestEnv};

/// Three steps, each waiting for the one before.
pub(crate) const STEPS: &str = r#"[
  {"id": 1, "subject": "Set up", "activeForm": "Setting up"},
  {"id": 2, "subject": "Build", "description": "All of it", "blockedBy": [1]},
  {"id": 3, "subject": "Ship", "blockedBy": [1, 2], "metadata": {"k": 1}, "priority": "high"}
]"#;

/// Gives the project a skill with this list.
fn skill(env: &TestEnv, name: &str, list: &str) {
    put(
        &env.project()
            .join(".claude/skills")
            .join(name)
            .join("fsm.json"),
        list,
    );
}

pub(crate) fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let beside = path.with_extension("new");
    fs::File::create(&beside)
        .and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()))
        .unwrap();
    fs::rename(beside, path).unwrap();
}

/// The folder of the list of session `s`.
fn folder(env: &TestEnv) -> PathBuf {
    env.home().join(".claude/tasks/s")
}

/// Adds a task by hand.
fn by_hand(env: &TestEnv, id: u64, blocked_by: &[&str]) {
    let task = json!({
        "id": id.to_string(), "subject": format!("By hand {id}"), "description": "",
        "status": "pending", "blocks": [], "blockedBy": blocked_by, "mine": [1.5, null],
    });
    put(&folder(env).join(format!("{id}.json")), &task.to_string());
}

/// The agent invokes a skill.
fn invoke(env: &TestEnv, skill: &str) -> Ran {
    env.hook("PostToolUse", invocation(skill))
}

fn invocation(skill: &str) -> Value {
    json!({
        "tool_name": "Skill",
        "tool_input": { "skill": skill },
        "tool_response": { "success": true, "commandName": skill },
        // Each call has its own id, so that none counts as a second delivery of the same event.
        "tool_use_id": unique(),
    })
}

/// A person invokes a skill.
fn typed(env: &TestEnv, skill: &str) -> Ran {
    env.hook(
        "UserPromptExpansion",
        json!({ "command_name": skill, "command_args": "", "prompt_id": unique() }),
    )
}

fn unique() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Every file of the list, unchanged.
fn contents(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries
        .map(|entry| {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let text = fs::read_to_string(entry.path()).unwrap_or_else(|_| "<no file>".into());
            (name, text)
        })
        .collect()
}

/// The tasks by id: subject, and what they wait for.
fn tasks(env: &TestEnv) -> Vec<String> {
    let mut tasks: Vec<(u64, String)> = contents(&folder(env))
        .into_iter()
        .filter_map(|(name, text)| {
            let id: u64 = name.strip_suffix(".json")?.parse().ok()?;
            let task: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(task["id"], id.to_string());
            let waits = task["blockedBy"].as_array().unwrap();
            let waits: Vec<&str> = waits.iter().map(|id| id.as_str().unwrap()).collect();
            let subject = task["subject"].as_str().unwrap();
            Some((id, format!("{id} {subject} <{}>", waits.join(","))))
        })
        .collect();
    tasks.sort();
    tasks.into_iter().map(|(_, text)| text).collect()
}
