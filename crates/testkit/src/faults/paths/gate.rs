//! The gate counts its blocks in a file whose path its users know, and lets the agent go at the
//! token.

use serde_json::json;

use super::{HOOK, Path, held_with, let_go, text};
use crate::world::World;

fn count(world: &World) -> String {
    text(&world.root().join("tmp/taskmaster/s"))
}

pub(super) const HOLD: Path = Path {
    name: "gate: hold",
    prepare: |world| {
        world.person(&["gate", "on", "--project"]);
        world.hook(&world.stop("One."));
        world.stop("Two.")
    },
    mark: count,
    // After a fault, a count may be given again, but none is skipped.
    verify: |_, said| held_with(said, &["TASKMASTER (2)", "TASKMASTER (3)"]),
    ..HOOK
};

pub(super) const RELEASE: Path = Path {
    name: "gate: release",
    prepare: |world| {
        world.person(&["gate", "on", "--project"]);
        world.hook(&world.stop("One."));
        world.stop("All of it works.\n\nTASKMASTER_DONE::s")
    },
    mark: count,
    verify: |world, said| {
        let_go(said)?;
        match count(world).as_str() {
            "-" => Ok(()),
            _ => Err("the counter outlived the release".into()),
        }
    },
    ..HOOK
};

/// The token counts until the next prompt, which comes here.
pub(super) const PROMPT: Path = Path {
    name: "gate: the next prompt",
    prepare: |world| {
        world.person(&["gate", "on", "--project"]);
        world.mainspring(&["loop", "start", "--max", "50"]);
        // The loop still holds the agent, so the token is kept.
        world.hook(&world.stop("Done.\n\nTASKMASTER_DONE::s"));
        world.event("UserPromptSubmit", json!({"prompt": "And now?"}))
    },
    mark: |world| super::fields(&super::state_file(world, "gate/s.json"), &["/stage"]),
    verify: |world, said| {
        let_go(said)?;
        let said = world.hook(&world.stop("Well."));
        held_with(&said, &["TASKMASTER (1)"])
    },
    ..HOOK
};
