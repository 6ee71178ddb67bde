//! All five machines at one stop: a list laid out, the gate on, a loop running, a plan and
//! a claim.

use std::fs;

use super::{Case, Start, World, claim, put_back, review, stop, tasks};

pub(super) const HOLD: Case = Case {
    name: "five machines hold",
    about: "gate and loop hold, plan and claim are looked at: one record, three files",
    start: Start::Exec(&["hook"]),
    says: "[ITERATION",
    prepare: |world| {
        alive(world);
        world.stop("Not yet.")
    },
    reset: stop::forget_gate,
};

pub(super) const RELEASE: Case = Case {
    name: "five machines let go",
    about: "token and signal in one message: the loop and the count end in one record",
    start: Start::Exec(&["hook"]),
    says: "",
    prepare: |world| {
        alive(world);
        let kept = world.state().join("loop-of-s.json");
        fs::copy(kept, world.root().join("loop.json")).expect("a loop was started");
        world.stop("All of it.\n\nTASKMASTER_DONE::s\n\n<loop-done>COMPLETE</loop-done>")
    },
    reset: |world| {
        stop::forget_gate(world);
        let kept = fs::read(world.root().join("loop.json")).expect("it was kept");
        put_back(&world.state().join("loop-of-s.json"), kept);
    },
};

fn alive(world: &World) {
    world.mainspring(&["gate", "on"]);
    world.mainspring(&["loop", "start", "--max", "1000000"]);
    review::lay_out(world, "current", 30);
    claim::claimed(world);
    let invocation = tasks::list_of(world, 20);
    world.hook(&invocation);
}
