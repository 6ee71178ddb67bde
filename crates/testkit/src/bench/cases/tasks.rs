//! A skill is invoked: without a list, with 20 tasks, and with the longest list.

use serde_json::{Value, json};

use super::{Case, Start, World, nothing};

pub(super) const NO_LIST: Case = Case {
    name: "skill without a list",
    about: "where most skills are: two looks for an fsm.json",
    start: Start::Exec(&["hook"]),
    says: "",
    prepare: |world| {
        std::fs::create_dir_all(world.project().join(".claude/skills/s")).expect("a folder");
        invocation(world)
    },
    reset: nothing,
};

pub(super) const TWENTY: Case = Case {
    name: "20 tasks laid out",
    about: "the client's lock, one record with one sync, 20 new files",
    start: Start::Exec(&["hook"]),
    says: "20",
    prepare: |world| list_of(world, 20),
    reset: forget,
};

pub(super) const TWENTY_AGAIN: Case = Case {
    name: "20 tasks replaced",
    about: "the same over the last ones: 20 locks more, 20 files replaced",
    start: Start::Exec(&["hook"]),
    says: "20",
    prepare: |world| list_of(world, 20),
    reset: forget_delivery,
};

pub(super) const THOUSAND: Case = Case {
    name: "1000 tasks laid out",
    about: "the longest list there is",
    start: Start::Exec(&["hook"]),
    says: "1000",
    prepare: |world| list_of(world, 1_000),
    reset: forget,
};

pub(super) const TOO_MANY: Case = Case {
    name: "1001 tasks refused",
    about: "one more than the longest: nothing is laid out, and it is said",
    start: Start::Exec(&["hook"]),
    says: "1000",
    prepare: |world| list_of(world, 1_001),
    reset: forget,
};

fn invocation(world: &World) -> Vec<u8> {
    let fields = json!({
        "tool_name": "Skill",
        "tool_input": { "skill": "s" },
        "tool_response": { "success": true, "commandName": "s" },
        "tool_use_id": "toolu_1",
    });
    world.event("PostToolUse", fields)
}

/// A chain: each task waits for the one before.
pub(crate) fn list_of(world: &World, count: u32) -> Vec<u8> {
    let tasks: Vec<Value> = (1..=count)
        .map(|id| {
            let before: Vec<u32> = (id > 1).then(|| id - 1).into_iter().collect();
            json!({
                "id": id,
                "subject": format!("Step {id} of the work"),
                "description": "What has to be done here, in a sentence or two of usual length.",
                "activeForm": format!("Taking step {id}"),
                "blockedBy": before,
            })
        })
        .collect();
    let skill = world.project().join(".claude/skills/s");
    std::fs::create_dir_all(&skill).expect("a folder");
    let list = Value::Array(tasks).to_string();
    std::fs::write(skill.join("fsm.json"), list).expect("a file in it");
    invocation(world)
}

/// An empty task list, and no memory of the event; otherwise it would be a second delivery.
pub(crate) fn forget(world: &World) {
    let _ = std::fs::remove_dir_all(world.home().join(".claude/tasks"));
    forget_delivery(world);
}

pub(crate) fn forget_delivery(world: &World) {
    if world.home().join(".local").exists() {
        let _ = std::fs::remove_file(world.state().join("sessions/s.json"));
    }
}
