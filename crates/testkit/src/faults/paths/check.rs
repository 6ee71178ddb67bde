//! A check passes only by a finished run over the tree as it is: a kill or an error on the way makes
//! no pass, and loses none.

use std::fs;
use std::process::Command;

use serde_json::json;

use super::{HOOK, Path, fields, held_with, let_go, put, state_file, text};
use crate::world::World;

/// It runs, and fails: whatever died before, the agent is held.
pub(super) const RED: Path = Path {
    name: "check: red",
    has_children: true,
    prepare: |world| {
        project(world, "no");
        stop(world)
    },
    mark: passes,
    verify: |world, said| {
        held_with(said, &["`tests` fails with exit code 3"])?;
        none_passed(world)
    },
    ..HOOK
};

/// It runs, and passes.
pub(super) const GREEN: Path = Path {
    name: "check: green",
    has_children: true,
    prepare: |world| {
        project(world, "yes");
        stop(world)
    },
    mark: passes,
    verify: |world, said| {
        let_go(said)?;
        match (passes(world).as_str(), runs(world)) {
            ("passed", 1..) => Ok(()),
            (other, runs) => Err(format!("the check has {other} in {runs} runs")),
        }
    },
    ..HOOK
};

/// It has passed: only the key is taken, and nothing runs.
pub(super) const KNOWN: Path = Path {
    name: "check: known",
    has_children: true,
    prepare: |world| {
        project(world, "yes");
        world.person(&["check", "run"]);
        fs::remove_file(count(world)).expect("it ran");
        stop(world)
    },
    mark: passes,
    verify: |world, said| {
        let_go(said)?;
        match runs(world) {
            0 => Ok(()),
            runs => Err(format!("it ran {runs} times over a tree that is known")),
        }
    },
    ..HOOK
};

/// It passed over another tree, and this one is bad: the old pass must not count.
pub(super) const EDITED: Path = Path {
    name: "check: edited since it passed",
    has_children: true,
    prepare: |world| {
        project(world, "yes");
        world.person(&["check", "run"]);
        put(&world.project().join("good.txt"), "no\n");
        stop(world)
    },
    // The pass of the other tree stays.
    verify: |_, said| held_with(said, &["`tests` fails with exit code 3"]),
    ..HOOK
};

const SETTINGS: &str =
    "[[check]]\nname = \"tests\"\nrun = [\"sh\", \"test.sh\"]\ntimeout = \"15s\"\n";
const SCRIPT: &str = "echo run >> ../count\ngrep -q yes good.txt || exit 3\n";

fn project(world: &World, good: &str) {
    let project = world.project();
    fs::remove_dir_all(project.join(".git")).expect("an empty folder");
    let made = Command::new("git")
        .args(["init", "--quiet"])
        .env_clear()
        .env("HOME", world.home())
        .env("PATH", "/usr/bin:/bin")
        .current_dir(&project)
        .status();
    assert!(made.expect("git is here").success());
    put(&project.join("mainspring.toml"), SETTINGS);
    put(&project.join("test.sh"), SCRIPT);
    put(&project.join("good.txt"), &format!("{good}\n"));
    world.person(&["trust", "--yes"]);
}

fn count(world: &World) -> std::path::PathBuf {
    world.root().join("count")
}

/// How often the check ran.
fn runs(world: &World) -> usize {
    match text(&count(world)).as_str() {
        "-" => 0,
        lines => lines.lines().count(),
    }
}

/// Is a pass recorded?
fn passes(world: &World) -> String {
    let kept = fields(
        &state_file(world, "check.json"),
        &["/results/tests/passes/0/key"],
    );
    match kept.as_str() {
        "-" | "null" => "not passed".into(),
        key if key.starts_with('"') => "passed".into(),
        other => other.into(),
    }
}

fn none_passed(world: &World) -> Result<(), String> {
    match passes(world).as_str() {
        "not passed" => Ok(()),
        other => Err(format!("the check has {other}")),
    }
}

/// A stop without a transcript: the hook would wait a moment for one that is not there.
fn stop(world: &World) -> Vec<u8> {
    let words = json!({
        "stop_hook_active": false, "last_assistant_message": "One.", "transcript_path": null,
    });
    world.event("Stop", words)
}
