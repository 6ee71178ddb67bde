//! A skill's task list is laid out as a whole, beside other tasks.

use std::fs;

use serde_json::{Value, json};

use super::{HOOK, Path, put, text, told};
use crate::world::World;

const STEPS: &str = r#"[
  {"id": 1, "subject": "Set up"},
  {"id": 2, "subject": "Build", "blockedBy": [1]},
  {"id": 3, "subject": "Ship", "blockedBy": [1, 2]}
]"#;

/// Beside a task made by hand that waits for a task of another skill.
pub(super) const LAY_OUT: Path = Path {
    name: "tasks: lay out",
    prepare: |world| {
        skill(world, STEPS);
        task(world, 1, &json!({"subject": "By hand", "blockedBy": []}));
        let old = json!({"subject": "Old", "blockedBy": [], "metadata": {"fsm": "old"}});
        task(world, 2, &old);
        task(
            world,
            3,
            &json!({"subject": "Mine", "blockedBy": ["2", "1"]}),
        );
        invoked(world, "one")
    },
    mark: list,
    verify: |world, _| list_has(world, &["By hand", "Mine", "Set up", "Build", "Ship"]),
    ..HOOK
};

pub(super) const AGAIN: Path = Path {
    name: "tasks: lay out again",
    prepare: |world| {
        skill(world, STEPS);
        world.hook(&invoked(world, "one"));
        skill(world, r#"[{"id": 1, "subject": "Only"}]"#);
        invoked(world, "two")
    },
    mark: list,
    verify: |world, _| list_has(world, &["Only"]),
    ..HOOK
};

pub(super) const TYPED: Path = Path {
    name: "tasks: a typed skill",
    prepare: |world| {
        skill(world, STEPS);
        world.event(
            "UserPromptExpansion",
            json!({"command_name": "ship", "command_args": ""}),
        )
    },
    mark: list,
    verify: |world, said| {
        list_has(world, &["Set up", "Build", "Ship"])?;
        told(said, "#2 Build (after #1)")
    },
    ..HOOK
};

/// An invalid list changes nothing, and the agent is told why.
pub(super) const REFUSED: Path = Path {
    name: "tasks: refused",
    prepare: |world| {
        skill(world, r#"[{"id": 1, "subject": "A", "blockedBy": [7]}]"#);
        task(world, 1, &json!({"subject": "By hand", "blockedBy": []}));
        invoked(world, "one")
    },
    mark: list,
    verify: |world, said| {
        list_has(world, &["By hand"])?;
        told(said, "\"decision\":\"block\"")
    },
    ..HOOK
};

fn skill(world: &World, list: &str) {
    put(&world.project().join(".claude/skills/ship/fsm.json"), list);
}

fn folder(world: &World) -> std::path::PathBuf {
    world.home().join(".claude/tasks/s")
}

fn task(world: &World, id: u32, fields: &Value) {
    let mut task = json!({
        "id": id.to_string(), "description": "", "status": "pending", "blocks": [],
    });
    if let (Value::Object(task), Value::Object(fields)) = (&mut task, fields.clone()) {
        task.extend(fields);
    }
    put(&folder(world).join(format!("{id}.json")), &task.to_string());
}

fn invoked(world: &World, call: &str) -> Vec<u8> {
    world.event(
        "PostToolUse",
        json!({
            "tool_name": "Skill", "tool_input": {"skill": "ship"},
            "tool_response": {"success": true, "commandName": "ship"}, "tool_use_id": call,
        }),
    )
}

/// Every task's content.
pub(super) fn list(world: &World) -> String {
    let mut all: Vec<(String, String)> = fs::read_dir(folder(world))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            name.strip_suffix(".json")?;
            Some((name, text(&entry.path())))
        })
        .collect();
    all.sort();
    format!("{all:?}")
}

fn list_has(world: &World, subjects: &[&str]) -> Result<(), String> {
    let list = list(world);
    let count = list.matches("subject").count();
    let all = subjects.iter().all(|subject| list.contains(subject));
    if all && count == subjects.len() {
        Ok(())
    } else {
        Err(format!("the list is {list}, not {subjects:?}"))
    }
}
