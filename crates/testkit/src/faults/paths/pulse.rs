//! The smallest machine: nothing to do, the first hold, a later one, after a crash, the end.

use std::fs;

use serde_json::Value;

use super::Path;
use crate::world::World;

/// Where a look fails, a machine may take the lock to look again; it then says nothing and
/// records nothing.
pub(super) const NOTHING: Path = Path {
    name: "nothing here",
    prepare: |world| world.stop("Done."),
    verify: |world, said| {
        let projects = world.home().join(".local/state/mainspring/projects");
        let recorded = fs::read_dir(projects).is_ok_and(|mut projects| {
            projects
                .any(|project| project.is_ok_and(|dir| dir.path().join("journal.jsonl").exists()))
        });
        if said.is_empty() && !recorded {
            Ok(())
        } else {
            Err("something was recorded or said".into())
        }
    },
};

pub(super) const FIRST_HOLD: Path = Path {
    name: "pulse: first hold",
    prepare: |world| {
        world.mainspring(&["pulse", "50"]);
        // The command bound the session; here the hook does it.
        let _ = fs::remove_dir_all(world.home().join(".local/state/mainspring/sessions"));
        world.stop("One.")
    },
    verify: |world, said| held(world, said, &[1, 2]),
};

pub(super) const HOLD: Path = Path {
    name: "pulse: later hold",
    prepare: |world| {
        world.mainspring(&["pulse", "50"]);
        world.hook(&world.stop("One."));
        world.stop("Two.")
    },
    verify: |world, said| held(world, said, &[2, 3]),
};

/// A process died after its record: the next one has files to roll forward.
pub(super) const RECOVERY: Path = Path {
    name: "pulse: recovery",
    prepare: |world| {
        world.mainspring(&["pulse", "50"]);
        let state = world.state();
        let old = fs::read(state.join("pulse.json")).expect("it was started");
        world.hook(&world.stop("One."));
        fs::write(state.join("pulse.json"), old).expect("a file of ours");
        fs::write(state.join("lock"), "").expect("a file of ours");
        let _ = fs::remove_file(state.join("sessions/s.json"));
        world.stop("Two.")
    },
    verify: |world, said| held(world, said, &[2, 3]),
};

pub(super) const RELEASE: Path = Path {
    name: "pulse: release",
    prepare: |world| {
        world.person(&["trust"]);
        world.mainspring(&["pulse", "1"]);
        world.hook(&world.stop("One."));
        world.stop("Bye.")
    },
    verify: |world, said| {
        let gone = !world.state().join("pulse.json").exists();
        if said.is_empty() && gone {
            Ok(())
        } else {
            Err("the check is not over".into())
        }
    },
};

/// The agent is held, and the beats are counted: neither lost nor, for what was said
/// once, given twice.
fn held(world: &World, said: &str, beats: &[u64]) -> Result<(), String> {
    if !said.contains("\"decision\":\"block\"") {
        return Err("the agent is not held".into());
    }
    let text =
        fs::read_to_string(world.state().join("pulse.json")).map_err(|error| error.to_string())?;
    let state: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let beat = state["beating"]["beat"].as_u64().unwrap_or(0);
    if beats.contains(&beat) {
        Ok(())
    } else {
        Err(format!("beat {beat}, expected one of {beats:?}"))
    }
}
