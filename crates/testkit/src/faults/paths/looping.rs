//! A loop's iterations are counted once each, in our own file or in one that already existed.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::{HOOK, Path, fields, held_with, let_go, put, state_file, text};
use crate::files::sealed;
use crate::world::World;

fn iteration(world: &World) -> String {
    fields(
        &state_file(world, "loop-of-s.json"),
        &["/stack/0/iter", "/event"],
    )
}

pub(super) const ITERATE: Path = Path {
    name: "loop: iterate",
    prepare: |world| {
        world.mainspring(&["loop", "start", "--max", "50"]);
        world.hook(&world.stop("One."));
        world.stop("Two.")
    },
    mark: iteration,
    verify: |_, said| held_with(said, &["[ITERATION 2/50]", "[ITERATION 3/50]"]),
    ..HOOK
};

pub(super) const COMPLETE: Path = Path {
    name: "loop: complete",
    prepare: |world| {
        world.mainspring(&["loop", "start", "--max", "50"]);
        world.hook(&world.stop("One."));
        world.stop("Done.\n\n<loop-done>COMPLETE</loop-done>")
    },
    mark: iteration,
    verify: |_, said| let_go(said),
    ..HOOK
};

fn fallback(world: &World) -> PathBuf {
    world.project().join(".claude/idle-loop.local.md")
}

pub(super) const FALLBACK_FILE: Path = Path {
    name: "loop: its fallback file",
    prepare: |world| {
        let text =
            "---\nactive: true\nmode: loop\niteration: 1\nmax_iterations: 50\n---\n\nDo it.\n";
        put(&fallback(world), text);
        world.person(&["trust", "--yes"]);
        world.hook(&world.stop("One."));
        world.stop("Two.")
    },
    mark: |world| {
        let text = text(&fallback(world));
        let line = text.lines().find(|line| line.starts_with("iteration"));
        line.unwrap_or(&text).to_owned()
    },
    verify: |_, said| held_with(said, &["[ITERATION 3/50]", "[ITERATION 4/50]"]),
    ..HOOK
};

const SECRET: &str = "What a neighbour told nobody.";

/// A document may name a file in the project, but not one in a folder whose name only starts like
/// the project's.
pub(super) const BESIDE: Path = Path {
    name: "loop: a prompt beside the project",
    prepare: |world| {
        world.mainspring(&["loop", "start", "--max", "50"]);
        world.hook(&world.stop("One."));
        put(
            &world.home().join(".config/mainspring/config.toml"),
            "[loop]\nrepeat_prompt = true\n",
        );
        let beside = world.root().join("project-of-a-neighbour/prompt.md");
        put(&beside, SECRET);
        let file = state_file(world, "loop-of-s.json");
        let mut document: Value = serde_json::from_str(&text(&file)).expect("a loop");
        document["stack"][0]["prompt_file"] = json!(beside);
        put(&file, &sealed(document));
        world.stop("Two.")
    },
    mark: iteration,
    verify: |_, said| {
        if said.contains(SECRET) {
            return Err("the agent was told a neighbour's secret".into());
        }
        held_with(said, &["[ITERATION 2/50]", "[ITERATION 3/50]"])
    },
    ..HOOK
};

/// A state that cannot be understood is reported, moved aside, and holds nobody.
pub(super) const BROKEN_FILE: Path = Path {
    name: "loop: a broken file",
    prepare: |world| {
        world.mainspring(&["loop", "start", "--max", "50"]);
        put(&state_file(world, "loop-of-s.json"), super::BROKEN);
        world.stop("One.")
    },
    mark: |world| {
        let entries = fs::read_dir(world.state()).expect("there is state");
        let kept = entries
            .flatten()
            .any(|entry| text(&entry.path()) == super::BROKEN);
        if kept { "kept".into() } else { "gone".into() }
    },
    verify: |_, said| let_go(said),
    ..HOOK
};
