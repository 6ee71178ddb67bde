//! A computer on which many projects have been worked on.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::super::cases::stop;
use super::{Curve, World};

pub(super) const PROJECTS: Curve = Curve {
    name: "projects",
    title: "A stop that the gate holds, in one of many projects",
    axis: "projects on the machine",
    about: "Each of the others has its state, a session bound to it, and a person's trust.",
    measure: |lab| {
        lab.grow(
            &[1, 10, 100, 1_000, 10_000],
            "TASKMASTER (1)",
            |world, size| {
                world.mainspring(&["gate", "on"]);
                others(world, size - 1);
                world.stop("Looks fine to me.")
            },
            |world, _| forget(world),
        )
    },
};

/// State of that many other projects, as a first decision leaves it.
fn others(world: &World, count: u64) {
    let own = world.state();
    // The world's own state, which it must find among the others.
    let name = own.file_name().expect("it has a name").to_string_lossy();
    fs::write(world.root().join("own"), name.as_bytes()).expect("room for a name");
    let projects = own.parent().expect("projects are in a folder");
    let state = projects.parent().expect("and that in our own");
    fs::create_dir_all(state.join("trusted")).expect("a folder of ours");
    for number in 0..count {
        let project = projects.join(format!("{number:032x}"));
        fs::create_dir_all(project.join("sessions")).expect("a folder of ours");
        for file in ["root", "lock", "journal.jsonl"] {
            fs::copy(own.join(file), project.join(file)).expect("a file of ours");
        }
        let place = format!("/home/somebody/projects/number-{number}");
        let session = state.join(format!("sessions/session-{number}"));
        fs::write(session, &place).expect("room for a name");
        let trust = json!({ "project": place, "since": 1_700_000_000_000_u64 });
        let record = state.join(format!("trusted/{number:032x}.json"));
        fs::write(record, trust.to_string()).expect("room for a name");
    }
}

/// Like the gate's own case, but with this world's state.
fn forget(world: &World) {
    let name = fs::read_to_string(world.root().join("own")).expect("it was kept");
    let projects = world.home().join(".local/state/mainspring/projects");
    stop::forget_gate_in(world, &Path::new(&projects).join(name));
}
