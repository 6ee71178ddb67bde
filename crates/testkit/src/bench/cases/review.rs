//! A stop in a project with a plan whose next phase is not a review.

use std::fs;

use super::{Case, Start, nothing, put_back};
use crate::world::World;

pub(super) const THIRTY: Case = Case {
    name: "review: plan of 30 files",
    about: "a stop that needs no review; everything is looked at, nothing written",
    start: Start::Exec(&["hook"]),
    says: "",
    prepare: |world| plan(world, 30),
    reset: nothing,
};

pub(super) const TWO_THOUSAND: Case = Case {
    name: "review: 2,000 plan files",
    about: "the same with forty plans of fifty files",
    start: Start::Exec(&["hook"]),
    says: "",
    prepare: |world| {
        for number in 0..39 {
            lay_out(world, &format!("plan-{number}"), 50);
        }
        plan(world, 50)
    },
    reset: nothing,
};

pub(super) const SKIPS: Case = Case {
    name: "review moves on",
    about: "a plan that wants no reviews: its phase moves, record, three files",
    start: Start::Exec(&["hook"]),
    says: "there was no review",
    prepare: |world| {
        plan(world, 30);
        world.mainspring(&["plan", "adopt"]);
        world.stop("Done for today.")
    },
    reset: |world| {
        let _ = fs::remove_file(world.state().join("sessions/s.json"));
        let state = world.project().join(".taskie/plans/current/state.json");
        // The user's file, which others may read.
        let _ = fs::remove_file(&state);
        fs::write(state, state_json("plan-review", 0)).expect("a file in it");
    },
};

pub(super) const BROKEN: Case = Case {
    name: "review blocks",
    about: "a file of no known name in the plan: the agent is told, record, two files",
    start: Start::Exec(&["hook"]),
    says: "Invalid filename: notes.md",
    prepare: |world| {
        plan(world, 30);
        let stray = world.project().join(".taskie/plans/current/notes.md");
        fs::write(stray, "x").expect("a file in the plan");
        world.mainspring(&["plan", "adopt"]);
        let memory = world.state().join("review.json");
        fs::copy(memory, world.root().join("review.json")).expect("it was adopted");
        world.stop("Done for today.")
    },
    reset: |world| {
        let _ = fs::remove_file(world.state().join("sessions/s.json"));
        let kept = fs::read(world.root().join("review.json")).expect("it was kept");
        put_back(&world.state().join("review.json"), kept);
    },
};

fn plan(world: &World, files: usize) -> Vec<u8> {
    lay_out(world, "current", files);
    world.stop("Done for today.")
}

/// A valid plan of that many files, `state.json` among them, in a trusted project.
pub(crate) fn lay_out(world: &World, name: &str, files: usize) {
    let dir = world.project().join(".taskie/plans").join(name);
    fs::create_dir_all(&dir).expect("a folder in the project");
    let write = |file: &str, text: &str| fs::write(dir.join(file), text).expect("a file in it");
    let tasks = files - 3;
    let mut table = String::from("| Id | Status |\n|----|--------|\n");
    for id in 1..=tasks {
        table += &format!("| {id} | pending |\n");
        write(
            &format!("task-{id}.md"),
            "# Task\n\n- **Status**: pending\n",
        );
    }
    write("tasks.md", &table);
    write("plan.md", "# Plan\n\n## Overview\n");
    write("state.json", &state_json("complete-task", 8));
    world.person(&["trust", "--yes"]);
}

fn state_json(next_phase: &str, max_reviews: u32) -> String {
    format!(
        r#"{{"max_reviews": {max_reviews}, "current_task": null, "phase": "tasks-review",
            "phase_iteration": 2, "next_phase": "{next_phase}", "review_model": "opus",
            "consecutive_clean": 2, "tdd": false}}"#
    )
}
