//! Commands that write work like events: a record first, then its files.

use std::fs;

use super::{Does, HOOK, Path, Who, fields, held_with, let_go, state_file, state_text, text};
use crate::world::World;

pub(super) const GATE_ON: Path = Path {
    name: "command: gate on",
    does: Does::Verb {
        args: &["gate", "on", "--project"],
        who: Who::Person,
    },
    prepare: |_| Vec::new(),
    mark: |world| state_text(world, "gate.json"),
    verify: |world, _| held_with(&world.hook(&world.stop("One.")), &["TASKMASTER (1)"]),
    ..HOOK
};

pub(super) const LOOP_START: Path = Path {
    name: "command: loop start",
    does: Does::Verb {
        args: &["loop", "start", "--max", "50"],
        who: Who::Agent,
    },
    prepare: |_| Vec::new(),
    mark: |world| fields(&state_file(world, "loop-of-s.json"), &["/stack/0/iter"]),
    verify: |world, _| held_with(&world.hook(&world.stop("One.")), &["[ITERATION 1/50]"]),
    ..HOOK
};

pub(super) const STOP: Path = Path {
    name: "command: stop",
    does: Does::Verb {
        args: &["stop"],
        who: Who::Person,
    },
    prepare: |world| {
        world.mainspring(&["pulse", "50"]);
        Vec::new()
    },
    mark: |world| state_text(world, "orders.json"),
    verify: |world, _| let_go(&world.hook(&world.stop("One."))),
    ..HOOK
};

pub(super) const PAUSE: Path = Path {
    name: "command: pause",
    does: Does::Verb {
        args: &["pause", "10m"],
        who: Who::Person,
    },
    prepare: |world| {
        world.mainspring(&["pulse", "50"]);
        Vec::new()
    },
    mark: |world| {
        super::super::lab::without_digits(&fields(
            &state_file(world, "orders.json"),
            &["/everything"],
        ))
    },
    verify: |world, _| let_go(&world.hook(&world.stop("One."))),
    ..HOOK
};

pub(super) const TRUST: Path = Path {
    name: "command: trust",
    does: Does::Verb {
        args: &["trust", "--yes"],
        who: Who::Person,
    },
    prepare: |_| Vec::new(),
    mark: trusted,
    verify: |world, _| match trusted(world).as_str() {
        "trusted" => Ok(()),
        other => Err(format!("the project is {other}")),
    },
    ..HOOK
};

pub(super) const PULSE_OFF: Path = Path {
    name: "command: pulse off",
    does: Does::Verb {
        args: &["pulse", "off"],
        who: Who::Person,
    },
    prepare: |world| {
        world.mainspring(&["pulse", "50"]);
        Vec::new()
    },
    mark: |world| fields(&state_file(world, "pulse.json"), &["/beating/beat"]),
    verify: |world, _| let_go(&world.hook(&world.stop("One."))),
    ..HOOK
};

fn trusted(world: &World) -> String {
    let folder = world.home().join(".local/state/mainspring/trusted");
    let project = world.project().to_string_lossy().into_owned();
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    // A line that is not a record is the start of one that is being written.
    let records = files
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"));
    let texts: Vec<String> = records.map(|record| text(&record)).collect();
    match texts.as_slice() {
        [only] if only.contains(&project) => "trusted".into(),
        other => other.concat(),
    }
}
