//! A loop's iterations are counted once each, in our own file or in the one that was there.

use std::fs;

use super::{Path, held_with};

pub(super) const ITERATE: Path = Path {
    name: "loop: iterate",
    prepare: |world| {
        world.mainspring(&["loop", "start", "--max", "50"]);
        world.hook(&world.stop("One."));
        world.stop("Two.")
    },
    verify: |_, said| held_with(said, &["[ITERATION 3/50]", "[ITERATION 4/50]"]),
};

pub(super) const COMPLETE: Path = Path {
    name: "loop: complete",
    prepare: |world| {
        world.mainspring(&["loop", "start", "--max", "50"]);
        world.hook(&world.stop("One."));
        world.stop("Done.\n\n<loop-done>COMPLETE</loop-done>")
    },
    verify: |_, said| {
        if said.contains("block") {
            Err("the signal was given, and the agent is held".into())
        } else {
            Ok(())
        }
    },
};

pub(super) const FALLBACK_FILE: Path = Path {
    name: "loop: its fallback file",
    prepare: |world| {
        let folder = world.project().join(".claude");
        fs::create_dir_all(&folder).expect("a folder in the project");
        let text =
            "---\nactive: true\nmode: loop\niteration: 1\nmax_iterations: 50\n---\n\nDo it.\n";
        fs::write(folder.join("idle-loop.local.md"), text).expect("a file in it");
        world.hook(&world.stop("One."));
        world.stop("Two.")
    },
    verify: |_, said| held_with(said, &["[ITERATION 3/50]", "[ITERATION 4/50]"]),
};
