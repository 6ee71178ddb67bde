//! The gate counts its blocks in a file whose place its users know, and lets go at the token.

use super::{Path, held_with};

pub(super) const HOLD: Path = Path {
    name: "gate: hold",
    prepare: |world| {
        world.person(&["gate", "on", "--project"]);
        world.hook(&world.stop("One."));
        world.stop("Two.")
    },
    // A count that a fault kept back may be given again; none is skipped.
    verify: |_, said| held_with(said, &["TASKMASTER (2)", "TASKMASTER (3)"]),
};

pub(super) const RELEASE: Path = Path {
    name: "gate: release",
    prepare: |world| {
        world.person(&["gate", "on", "--project"]);
        world.hook(&world.stop("One."));
        world.stop("All of it works.\n\nTASKMASTER_DONE::s")
    },
    verify: |world, said| {
        let counter = world.root().join("tmp/taskmaster/s");
        if said.contains("block") {
            return Err("the token was said, and the agent is held".into());
        }
        if counter.exists() {
            return Err("the counter outlived the release".into());
        }
        Ok(())
    },
};
