//! A person's orders come before the machines, whatever fails.

use super::{HOOK, Path, fields, let_go, state_file, told};
use crate::world::World;

fn beat(world: &World) -> String {
    fields(&state_file(world, "pulse.json"), &["/beating/beat"])
}

pub(super) const SUSPENDED: Path = Path {
    name: "orders: stopped",
    prepare: |world| {
        world.mainspring(&["pulse", "50"]);
        world.hook(&world.stop("One."));
        world.person(&["stop"]);
        world.stop("Two.")
    },
    mark: beat,
    verify: |world, said| {
        let_go(said)?;
        told(said, "mainspring resume")?;
        match beat(world).as_str() {
            "1" => Ok(()),
            other => Err(format!("a machine that is stopped moved to {other}")),
        }
    },
    ..HOOK
};

pub(super) const OBSERVED: Path = Path {
    name: "orders: only observed",
    prepare: |world| {
        world.mainspring(&["pulse", "50"]);
        world.person(&["observe"]);
        world.stop("One.")
    },
    mark: beat,
    verify: |world, said| {
        let_go(said)?;
        told(said, "observe mode")?;
        match beat(world).as_str() {
            "0" => Ok(()),
            other => Err(format!("a machine that is observed moved to {other}")),
        }
    },
    ..HOOK
};
