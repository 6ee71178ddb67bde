//! A stop in a project with a plan whose next phase is no review.

use std::fs;

use super::{Case, nothing};
use crate::world::World;

pub(super) const THIRTY: Case = Case {
    name: "review: plan of 30 files",
    about: "a stop that needs no review; everything is looked at, nothing written",
    args: &["hook"],
    prepare: |world| plan(world, 30),
    reset: nothing,
};

pub(super) const TWO_THOUSAND: Case = Case {
    name: "review: 2,000 plan files",
    about: "the same with forty plans of fifty files",
    args: &["hook"],
    prepare: |world| {
        for number in 0..39 {
            lay_out(world, &format!("plan-{number}"), 50);
        }
        plan(world, 50)
    },
    reset: nothing,
};

fn plan(world: &World, files: usize) -> Vec<u8> {
    lay_out(world, "current", files);
    world.stop("Done for today.")
}

/// A valid plan of that many files, `state.json` among them.
fn lay_out(world: &World, name: &str, files: usize) {
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
    write(
        "state.json",
        r#"{"max_reviews": 8, "current_task": null, "phase": "tasks-review",
            "phase_iteration": 2, "next_phase": "complete-task", "review_model": "opus",
            "consecutive_clean": 2, "tdd": false}"#,
    );
}
