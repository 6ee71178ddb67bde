//! The two machines that only listen at a stop: what a block costs, and what a transcript
//! adds to it.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use serde_json::json;

use super::{Case, Start, World, nothing};

pub(super) const GATE_PASSES: Case = Case {
    name: "gate passes",
    about: "a sub-agent still runs: nothing is asked and nothing written",
    start: Start::Exec(&["hook"]),
    says: "",
    prepare: |world| {
        world.mainspring(&["gate", "on"]);
        let running = json!([{ "id": "a1", "type": "subagent", "status": "running" }]);
        world.event(
            "Stop",
            json!({
                "stop_hook_active": false,
                "last_assistant_message": "It runs in the background.",
                "background_tasks": running,
            }),
        )
    },
    reset: nothing,
};

pub(super) const GATE_BLOCKS: Case = Case {
    name: "gate blocks",
    about: "the token was not said: count, record, three files",
    start: Start::Exec(&["hook"]),
    says: "TASKMASTER (1)",
    prepare: |world| {
        world.mainspring(&["gate", "on"]);
        world.stop("Looks fine to me.")
    },
    reset: forget_gate,
};

pub(super) const GATE_RELEASES: Case = Case {
    name: "gate releases",
    about: "the token was said, in a message of 4 KiB",
    start: Start::Exec(&["hook"]),
    says: "",
    prepare: |world| {
        world.mainspring(&["gate", "on"]);
        world.stop(&format!(
            "{}\n\nTASKMASTER_DONE::s",
            "A line of words.\n".repeat(256)
        ))
    },
    reset: |world| {
        forget_gate(world);
        let dir = world.root().join("tmp/taskmaster");
        let _ = fs::create_dir(&dir);
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        fs::set_permissions(&dir, private).expect("a folder of ours");
        fs::write(dir.join("s"), "3\n").expect("a file of ours");
    },
};

pub(super) const LOOP_PASSES: Case = Case {
    name: "loop passes",
    about: "another session's loop: read, and left alone",
    start: Start::Exec(&["hook"]),
    says: "",
    prepare: |world| {
        world.mainspring(&["loop", "start"]);
        let event = String::from_utf8(world.stop("Done.")).expect("an event is text");
        event
            .replace("\"session_id\":\"s\"", "\"session_id\":\"other\"")
            .into_bytes()
    },
    reset: nothing,
};

pub(super) const LOOP_ITERATES: Case = Case {
    name: "loop iterates",
    about: "no signal: one iteration more, record, two files",
    start: Start::Exec(&["hook"]),
    says: "[ITERATION",
    prepare: |world| {
        world.mainspring(&["loop", "start", "--max", "1000"]);
        world.stop("Not yet.")
    },
    // The ledger would know the same words within two seconds as the same delivery.
    reset: |world| {
        let _ = fs::remove_file(world.state().join("sessions/s.json"));
    },
};

pub(super) const LOOP_COMPLETES: Case = Case {
    name: "loop completes",
    about: "the signal was given: the loop ends, record, two files",
    start: Start::Exec(&["hook"]),
    says: "",
    prepare: |world| {
        world.mainspring(&["loop", "start", "--max", "1000"]);
        let kept = world.state().join("loop.json");
        fs::copy(kept, world.root().join("loop.json")).expect("a loop was started");
        world.stop("Done.\n\n<loop-done>COMPLETE</loop-done>")
    },
    reset: |world| {
        let kept = world.root().join("loop.json");
        fs::copy(kept, world.state().join("loop.json")).expect("a file of ours");
        let _ = fs::remove_file(world.state().join("sessions/s.json"));
    },
};

pub(super) const SHORT_TRANSCRIPT: Case = Case {
    name: "gate, 1 MiB transcript",
    about: "the same block, with the transcript's end to read",
    start: Start::Exec(&["hook"]),
    says: "TASKMASTER (1)",
    prepare: |world| with_transcript(world, 1 << 20),
    reset: forget_gate,
};

pub(super) const LONG_TRANSCRIPT: Case = Case {
    name: "gate, 8 GiB transcript",
    about: "the same block, behind 8 GiB that are not read",
    start: Start::Exec(&["hook"]),
    says: "TASKMASTER (1)",
    prepare: |world| with_transcript(world, 8 << 30),
    reset: forget_gate,
};

pub(crate) fn forget_gate(world: &World) {
    forget_gate_in(world, &world.state());
}

/// The same, where the machine has state of other projects too.
pub(crate) fn forget_gate_in(world: &World, state: &Path) {
    let _ = fs::remove_file(state.join("sessions/s.json"));
    let _ = fs::remove_file(world.root().join("tmp/taskmaster/s"));
    let card = r#"{"switch":"on","stage":"waiting"}"#;
    fs::write(state.join("sessions/s.gate.json"), card).expect("a file of ours");
}

/// A transcript of about this size. At most its last MiB is the agent's lines; before
/// them is a hole, which costs no disk.
pub(crate) fn with_transcript(world: &World, size: u64) -> Vec<u8> {
    world.mainspring(&["gate", "on"]);
    let path = world.project().join("transcript.jsonl");
    let mut file = File::create(&path).expect("a transcript");
    let lines = size.min(1 << 20);
    file.seek(SeekFrom::Start(size - lines))
        .expect("files may be sparse");
    let words = "word ".repeat(800);
    let content = json!([{ "type": "text", "text": words }]);
    let message = json!({ "role": "assistant", "id": "m", "content": content });
    let line = json!({ "type": "assistant", "isSidechain": false, "message": message });
    let line = format!("{line}\n");
    for _ in 0..lines / line.len() as u64 {
        file.write_all(line.as_bytes())
            .expect("room for a transcript");
    }
    let fields = json!({
        "transcript_path": path,
        "stop_hook_active": false,
        "last_assistant_message": words,
        "background_tasks": [],
    });
    world.event("Stop", fields)
}
