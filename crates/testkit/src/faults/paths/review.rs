//! A plan's state moves as a whole, and a review is done once, whatever dies when.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use super::{Path, held_with};
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

pub(super) const REVIEW: Path = Path {
    name: "review: a reviewer",
    prepare: |world| {
        plan(world, 8);
        let reviewer = world.root().join("reviewer");
        fs::write(&reviewer, REVIEWER).expect("a file in the world");
        fs::set_permissions(&reviewer, fs::Permissions::from_mode(0o755)).expect("it is ours");
        let config = world.home().join(".config/mainspring");
        fs::create_dir_all(&config).expect("a folder in the home");
        let text = format!("[review]\ncommand = \"{}\"\n", reviewer.display());
        fs::write(config.join("config.toml"), text).expect("a file in it");
        world.person(&["trust"]);
        world.mainspring(&["plan", "adopt"]);
        world.stop("One.")
    },
    verify: |world, said| {
        state_is(world, "post-plan-review", 1)?;
        let reviews = fs::read_dir(dir(world))
            .map_err(|error| error.to_string())?
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| name.starts_with("plan-review-"));
        let reviews: Vec<String> = reviews.collect();
        if reviews != ["plan-review-1.md"] {
            return Err(format!("the reviews are {reviews:?}"));
        }
        // Told by this delivery, or by the one before, and then reminded.
        held_with(said, &["plan-review-1.md"]).or_else(|problem| {
            if said.contains("plan-review-1.md waits for its answer") {
                Ok(())
            } else {
                Err(problem)
            }
        })
    },
};

const REVIEWER: &str = r#"#!/bin/sh
echo review > .taskie/plans/demo/plan-review-1.md
echo '{"structured_output":{"verdict":"FAIL"}}'
"#;

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
