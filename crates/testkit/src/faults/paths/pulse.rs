//! The smallest machine: nothing to do, the first hold, a later one, recovery after a crash, the
//! end with a child, and the host's limit.

use std::fs;

use serde_json::json;

use super::{HOOK, Path, fields, let_go, state_file, told};
use crate::world::World;

fn beat(world: &World) -> String {
    fields(&state_file(world, "pulse.json"), &["/beating/beat"])
}

/// If a look fails, a machine may take the lock to look again; then it says and records nothing.
pub(super) const NOTHING: Path = Path {
    name: "nothing here",
    verify: |world, said| {
        if said.is_empty() && !state_file(world, "journal.jsonl").exists() {
            Ok(())
        } else {
            Err("something was recorded or said".into())
        }
    },
    ..HOOK
};

/// The hook itself binds the session, and creates the first folders.
pub(super) const FIRST_HOLD: Path = Path {
    name: "pulse: first hold",
    prepare: |world| {
        world.mainspring(&["pulse", "50"]);
        // The command has bound the session; here the hook does it.
        let _ = fs::remove_dir_all(world.home().join(".local/state/mainspring/sessions"));
        world.stop("One.")
    },
    mark: beat,
    verify: |world, said| held(world, said, &["1", "2"]),
    ..HOOK
};

pub(super) const HOLD: Path = Path {
    name: "pulse: later hold",
    prepare: |world| {
        world.mainspring(&["pulse", "50"]);
        world.hook(&world.stop("One."));
        world.stop("Two.")
    },
    mark: beat,
    verify: |world, said| held(world, said, &["2", "3"]),
    ..HOOK
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
    // Between the two is the state that is rolled forward first.
    mark: |world| match beat(world).as_str() {
        "0" | "1" => "0 or 1".into(),
        beat => beat.to_owned(),
    },
    verify: |world, said| held(world, said, &["2", "3"]),
    ..HOOK
};

pub(super) const RELEASE: Path = Path {
    name: "pulse: release, with a child",
    has_children: true,
    prepare: |world| {
        world.person(&["trust", "--yes"]);
        world.mainspring(&["pulse", "1"]);
        world.hook(&world.stop("One."));
        world.stop("Bye.")
    },
    mark: beat,
    verify: |world, said| over(world, said),
    ..HOOK
};

/// The process that ran the child is gone, but its record is still there.
pub(super) const ABANDONED: Path = Path {
    name: "pulse: an abandoned child",
    has_children: true,
    prepare: |world| {
        world.person(&["trust", "--yes"]);
        world.mainspring(&["pulse", "1"]);
        world.hook(&world.stop("One."));
        let intent = json!({"pulse": {
            "fence": 2, "effect": null,
            "owner": {"pid": 4_000_000, "started": 1, "boot": "gone"},
            "since": 0, "deadline": 9_999_999_999_999_u64,
        }});
        let file = world.state().join("intent-pulse.json");
        fs::write(file, intent.to_string()).expect("a file of ours");
        world.stop("Bye.")
    },
    mark: beat,
    verify: |world, said| {
        over(world, said)?;
        if state_file(world, "intent-pulse.json").exists() {
            return Err("the record of the child outlived it".into());
        }
        Ok(())
    },
    ..HOOK
};

/// The host overrides the fourth hold in a row: we let the agent go ourselves, and say so.
pub(super) const CAPPED: Path = Path {
    name: "the host's own limit",
    vars: &[("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "3")],
    prepare: |world| {
        world.mainspring(&["pulse", "50"]);
        for words in ["One.", "Two.", "Three."] {
            world.hook(&continued(world, words));
        }
        continued(world, "Four.")
    },
    mark: beat,
    verify: |_, said| {
        let_go(said)?;
        told(said, "the host would override")
    },
    ..HOOK
};

/// A stop without a transcript: at the host's limit the hook would wait for one that is not there.
fn continued(world: &World, words: &str) -> Vec<u8> {
    let fields = json!({
        "stop_hook_active": true, "last_assistant_message": words, "transcript_path": null,
    });
    world.event("Stop", fields)
}

fn over(world: &World, said: &str) -> Result<(), String> {
    let_go(said)?;
    match beat(world).as_str() {
        "-" => Ok(()),
        _ => Err("the check is not over".into()),
    }
}

/// The agent is held, and the beats are counted: none is lost, and none that was reported is given
/// twice.
fn held(world: &World, said: &str, beats: &[&str]) -> Result<(), String> {
    super::held_with(said, &["pulse", "Mainspring"])?;
    let beat = beat(world);
    if beats.contains(&beat.as_str()) {
        Ok(())
    } else {
        Err(format!("beat {beat}, expected one of {beats:?}"))
    }
}
