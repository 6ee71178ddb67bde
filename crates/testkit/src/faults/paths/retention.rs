//! A session's start sweeps old state. Whatever is left of it after a fault, what is young or open
//! is whole.

use std::fs::File;
use std::time::{Duration, SystemTime};

use serde_json::json;

use super::{HOOK, Path, held_with, put, state_file, text};

/// Longer ago than state is kept.
const LONG_AGO: Duration = Duration::from_secs(100 * 24 * 60 * 60);

pub(super) const SWEEP: Path = Path {
    name: "retention: sweep",
    prepare: |world| {
        world.person(&["gate", "on", "--project"]);
        world.hook(&world.stop("One."));
        let state = world.home().join(".local/state/mainspring");
        for old in [
            state_file(world, "sessions/old.json"),
            state_file(world, "loop.json.aside-0123abcd"),
            state_file(world, "reviews/7/stdout.json"),
            state.join("sessions/old"),
            state.join("told/0123/old"),
            state.join("projects/0123.deleted/journal.jsonl"),
        ] {
            put(&old, "{}\n");
            let file = File::open(&old).expect("it was just made");
            let then = SystemTime::now() - LONG_AGO;
            file.set_modified(then).expect("a file of our own");
        }
        world.event("SessionStart", json!({"source": "startup"}))
    },
    verify: |world, _| {
        let bound = text(&world.home().join(".local/state/mainspring/sessions/s"));
        if bound == "-" {
            return Err("the session that is at work lost its binding".into());
        }
        held_with(&world.hook(&world.stop("Two.")), &["TASKMASTER (2)"])
    },
    ..HOOK
};
