//! A plan's state changes as a whole, whatever dies when, and a review is done once.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::{HOOK, Path, fields, held_with, let_go, put, text, told};
use crate::world::World;

/// Writes the review that was asked for, finds something, and leaves a mark.
const REVIEWER: &str = r#"#!/bin/sh
echo x >> "${0%/*}/starts"
for last in "$@"; do :; done
file=${last#*Write your review to }
file=${file%%,*}
echo '# Review' > "$file"
echo '{"type":"result","structured_output":{"verdict":"FAIL","findings":[],"earlier":[]},"total_cost_usd":0.25}'
"#;

pub(super) const SKIP: Path = Path {
    name: "review: max_reviews 0",
    prepare: |world| {
        plan(world, 0);
        world.person(&["trust", "--yes"]);
        world.stop("One.")
    },
    mark: phase,
    verify: |world, _| phase_is(world, r#""create-tasks" null"#),
    ..HOOK
};

pub(super) const INVALID: Path = Path {
    name: "review: broken ground rules",
    prepare: |world| {
        plan(world, 8);
        let state = dir(world).join("state.json");
        fs::remove_file(state).expect("it was just written");
        put(&dir(world).join("notes.md"), "x");
        world.mainspring(&["plan", "adopt"]);
        world.person(&["trust", "--yes"]);
        world.stop("One.")
    },
    // Held now or held before, but never twice for the same violation.
    verify: |_, said| told(said, "Invalid filename: notes.md"),
    ..HOOK
};

/// A repository with a plan must not start anything.
pub(super) const UNTRUSTED: Path = Path {
    name: "review: not trusted",
    prepare: |world| {
        plan(world, 8);
        reviewer(world, REVIEWER);
        world.stop("One.")
    },
    mark: |world| format!("{} {}", phase(world), starts(world)),
    verify: |world, said| {
        let_go(said)?;
        match starts(world) {
            0 => Ok(()),
            count => Err(format!(
                "{count} reviewers were started, and nobody allowed it"
            )),
        }
    },
    ..HOOK
};

pub(super) const REVIEWED: Path = Path {
    name: "review: by a child",
    has_children: true,
    prepare: |world| {
        plan(world, 8);
        reviewer(world, REVIEWER);
        world.person(&["trust", "--yes"]);
        world.stop("One.")
    },
    mark: phase,
    // A review that a kill interrupted is done again; a finished one is not.
    verify: |world, said| {
        phase_is(world, r#""post-plan-review" 1"#)?;
        if said.contains("block") {
            held_with(said, &["plan-review-1.md"])
        } else {
            told(said, "waits for its answer")
        }
    },
    ..HOOK
};

/// How often a reviewer was started.
pub(in crate::faults) fn starts(world: &World) -> usize {
    match text(&world.root().join("bin/starts")).as_str() {
        "-" => 0,
        strokes => strokes.lines().count(),
    }
}

fn reviewer(world: &World, script: &str) {
    let program = world.root().join("bin/reviewer");
    put(&program, script);
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a file of ours");
    let config = world.home().join(".config/mainspring/config.toml");
    put(
        &config,
        &format!("[review]\ncommand = '{}'\n", program.display()),
    );
}

/// A plan whose first review is due, and a reviewer.
pub(in crate::faults) fn to_be_reviewed(world: &World) {
    to_be_reviewed_by(world, REVIEWER);
}

/// The same, with this script as its reviewer.
pub(in crate::faults) fn to_be_reviewed_by(world: &World, script: &str) {
    plan(world, 8);
    reviewer(world, script);
}

fn dir(world: &World) -> PathBuf {
    world.project().join(".taskie/plans/demo")
}

fn plan(world: &World, max_reviews: u32) {
    put(&dir(world).join("plan.md"), "# Plan\n");
    let state = format!(
        r#"{{"max_reviews": {max_reviews}, "current_task": null, "phase": "new-plan",
            "phase_iteration": 0, "next_phase": "plan-review", "review_model": "opus",
            "consecutive_clean": 0, "tdd": false}}"#
    );
    put(&dir(world).join("state.json"), &state);
}

fn phase(world: &World) -> String {
    fields(
        &dir(world).join("state.json"),
        &["/next_phase", "/phase_iteration"],
    )
}

fn phase_is(world: &World, expected: &str) -> Result<(), String> {
    let found = phase(world);
    if found == expected {
        Ok(())
    } else {
        Err(format!("the plan is at {found}, not at {expected}"))
    }
}
