//! Sizes that can grow in one project.

use std::fs;

use serde_json::{Value, json};

use super::super::cases::{review, stop, tasks};
use super::{Curve, Series, World, floors};
use crate::files::sealed;

pub(super) const TRANSCRIPT: Curve = Curve {
    name: "transcript",
    title: "A stop that the gate holds, behind a transcript",
    axis: "bytes of transcript",
    about: "Only its end is read, at most a MiB: from there on it may be as long as it likes.",
    measure: |lab| {
        lab.grow(
            &[100_000, 1 << 20, 100 << 20, 1 << 30, 8 << 30],
            "TASKMASTER (1)",
            stop::with_transcript,
            |world, _| stop::forget_gate(world),
        )
    },
};

pub(super) const STACK: Curve = Curve {
    name: "stack",
    title: "An iteration of the innermost of nested loops",
    axis: "loops on the stack",
    about: "A stack may have 16. One of a thousand, made by hand, is refused as corrupt, \
            which takes the last point's time.",
    measure: |lab| {
        lab.grow(
            &[1, 4, 16, 1_000],
            "loop",
            |world, size| {
                world.mainspring(&["loop", "start", "--max", "1000000"]);
                stack(world, size);
                world.stop("Not yet.")
            },
            |world, _| {
                let state = world.state();
                let _ = fs::remove_file(state.join("sessions/s.json"));
                let kept = world.root().join("loop.json");
                fs::copy(kept, state.join("loop-of-s.json")).expect("a file of ours");
            },
        )
    },
};

/// The running loop's one frame, that many times.
fn stack(world: &World, size: u64) {
    let text =
        fs::read_to_string(world.state().join("loop-of-s.json")).expect("a loop was started");
    let mut loops: Value = serde_json::from_str(&text).expect("it is JSON");
    let frame = loops["stack"][0].clone();
    loops["stack"] = (0..size).map(|_| frame.clone()).collect();
    fs::write(world.root().join("loop.json"), sealed(loops)).expect("room for it");
}

pub(super) const TASKS: Curve = Curve {
    name: "tasks",
    title: "A skill's list is laid out",
    axis: "tasks in the list",
    about: "One file for each task, which the client reads; a thousand is the longest list. \
            A bare loop makes as many files of that size and renames them, and does nothing else.",
    measure: |lab| {
        let sizes = [10, 30, 100, 300, 1_000];
        let rounds = lab.rounds.min(60);
        let lab = super::Lab { rounds, ..*lab };
        let mut measured = lab.grow(
            &sizes,
            "tasks",
            |world, size| tasks::list_of(world, u32::try_from(size).unwrap_or(u32::MAX)),
            |world, _| tasks::forget(world),
        );
        let bare = sizes.map(|size| {
            let files = usize::try_from(size).unwrap_or(usize::MAX);
            (size, floors::files(files, rounds.min(20)).median_ms())
        });
        measured
            .series
            .push(Series::new("bare files, ms", bare.into()));
        measured
    },
};

pub(super) const BESIDE: Curve = Curve {
    name: "tasks-beside",
    title: "A list of ten is laid out beside the agent's own tasks",
    axis: "tasks that are there already",
    about: "Each of them is looked at: one may be ours, of an earlier invocation.",
    measure: |lab| {
        let rounds = lab.rounds.min(60);
        super::Lab { rounds, ..*lab }.grow(
            &[10, 100, 1_000, 10_000],
            "10 tasks",
            |world, size| {
                let folder = world.home().join(".claude/tasks/s");
                fs::create_dir_all(&folder).expect("a folder in the home");
                for id in 1..=size {
                    let task = json!({
                        "id": id.to_string(),
                        "subject": "The agent's own",
                        "description": "What has to be done here.",
                        "status": "pending",
                        "blocks": [],
                        "blockedBy": [],
                    });
                    let text = format!("{task:#}");
                    fs::write(folder.join(format!("{id}.json")), text).expect("room for it");
                }
                tasks::list_of(world, 10)
            },
            |world, size| {
                for id in size + 1..=size + 10 {
                    let file = world.home().join(format!(".claude/tasks/s/{id}.json"));
                    let _ = fs::remove_file(file);
                }
                tasks::forget_delivery(world);
            },
        )
    },
};

pub(super) const PLAN_FILES: Curve = Curve {
    name: "plan-files",
    title: "A stop with a plan that needs no review",
    axis: "files in the plan",
    about: "Names are looked at, and the table of tasks is read; nothing is written.",
    measure: |lab| {
        lab.grow(
            &[10, 100, 1_000, 5_000],
            "",
            |world, size| {
                let files = usize::try_from(size).unwrap_or(usize::MAX);
                review::lay_out(world, "current", files);
                world.stop("Done for today.")
            },
            |_, _| {},
        )
    },
};
