//! The smallest machine: what a decision with a commit costs.

use super::{Case, Start, World, nothing, put_back};

pub(super) const HOLD: Case = Case {
    name: "pulse holds",
    about: "lock, load, decide, one record with one sync, two files",
    start: Start::Exec(&["hook"]),
    says: r#""decision":"block""#,
    prepare: |world| {
        world.mainspring(&["pulse", "100"]);
        world.stop("Not yet.")
    },
    // The same message within two seconds would be the same delivery, and the hundredth beat would
    // be the last.
    reset: forget,
};

pub(crate) fn forget(world: &World) {
    let state = world.state();
    let beating = r#"{"beating":{"beat":0,"of":100,"session":"s"}}"#;
    put_back(&state.join("pulse.json"), beating);
    let _ = std::fs::remove_file(state.join("sessions/s.json"));
}

pub(super) const NOT_OURS: Case = Case {
    name: "pulse passes",
    about: "lock, load, decide, nothing to write: another session's check",
    start: Start::Exec(&["hook"]),
    says: "",
    prepare: |world| {
        world.mainspring(&["pulse", "100"]);
        let event = String::from_utf8(world.stop("Done.")).expect("an event is text");
        event
            .replace("\"session_id\":\"s\"", "\"session_id\":\"other\"")
            .into_bytes()
    },
    reset: nothing,
};
