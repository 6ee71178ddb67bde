//! A plan's state moves as a whole, whatever dies when.

use std::fs;

use serde_json::Value;

use super::Path;
use crate::world::World;

pub(super) const SKIP: Path = Path {
    name: "review: max_reviews 0",
    prepare: |world| {
        plan(world, 0);
        world.stop("One.")
    },
    verify: |world, _| state_is(world, "create-tasks", 0),
};

pub(super) const INVALID: Path = Path {
    name: "review: broken ground rules",
    prepare: |world| {
        plan(world, 8);
        let state = dir(world).join("state.json");
        fs::remove_file(state).expect("it was just written");
        fs::write(dir(world).join("notes.md"), "x").expect("a file in the plan");
        world.mainspring(&["plan", "adopt"]);
        world.stop("One.")
    },
    // Held now, or held before: never twice for the same.
    verify: |_, said| {
        if said.contains("Invalid filename: notes.md") {
            Ok(())
        } else {
            Err("nobody was told".into())
        }
    },
};

fn dir(world: &World) -> std::path::PathBuf {
    world.project().join(".taskie/plans/demo")
}

fn plan(world: &World, max_reviews: u32) {
    let dir = dir(world);
    fs::create_dir_all(&dir).expect("a folder in the project");
    fs::write(dir.join("plan.md"), "# Plan\n").expect("a file in it");
    let state = format!(
        r#"{{"max_reviews": {max_reviews}, "current_task": null, "phase": "new-plan",
            "phase_iteration": 0, "next_phase": "plan-review", "review_model": "opus",
            "consecutive_clean": 0, "tdd": false}}"#
    );
    fs::write(dir.join("state.json"), state).expect("a file in it");
}

fn state_is(world: &World, next: &str, iteration: u64) -> Result<(), String> {
    let text = fs::read_to_string(dir(world).join("state.json"));
    let text = text.map_err(|error| error.to_string())?;
    let state: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let found = (
        state["next_phase"].as_str(),
        state["phase_iteration"].as_u64(),
    );
    if found == (Some(next), Some(iteration)) {
        Ok(())
    } else {
        Err(format!("the state is {text}"))
    }
}
