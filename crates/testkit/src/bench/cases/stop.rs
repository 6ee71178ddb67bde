//! The two machines that only listen at a stop: what a block costs, and what a transcript adds.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use serde_json::{Value, json};

use super::{Case, Start, World, nothing, put_back};
use crate::files::sealed;

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
        put_back(&dir.join("s"), "3\n");
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
    // Within two seconds, the ledger would take the same message for the same delivery.
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
        let kept = world.state().join("loop-of-s.json");
        fs::copy(kept, world.root().join("loop.json")).expect("a loop was started");
        world.stop("Done.\n\n<loop-done>COMPLETE</loop-done>")
    },
    reset: |world| {
        let kept = fs::read(world.root().join("loop.json")).expect("it was kept");
        put_back(&world.state().join("loop-of-s.json"), kept);
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

pub(super) const ONE_MESSAGE: Case = Case {
    name: "gate, a MiB in one message",
    about: "the longest way: a message that does not begin within a MiB",
    start: Start::Exec(&["hook"]),
    says: "TASKMASTER (1)",
    prepare: |world| with_one_message(world, 1 << 20),
    reset: forget_gate,
};

pub(crate) fn forget_gate(world: &World) {
    forget_gate_in(world, &world.state());
}

/// The same, with state of other projects.
pub(crate) fn forget_gate_in(world: &World, state: &Path) {
    let _ = fs::remove_file(state.join("sessions/s.json"));
    let _ = fs::remove_file(world.root().join("tmp/taskmaster/s"));
    let card = json!({ "switch": "on", "stage": "waiting" });
    put_back(&state.join("sessions/s.gate.json"), sealed(card));
}

/// A transcript of about this size: prompts, messages of the agent, tools and their results. Before
/// its last MiB is a hole, which takes no disk space.
pub(crate) fn with_transcript(world: &World, size: u64) -> Vec<u8> {
    let agent = |part: Value| {
        let message = json!({ "role": "assistant", "id": "m", "content": [part] });
        json!({ "type": "assistant", "isSidechain": false, "message": message })
    };
    let user = |content: Value| {
        let message = json!({ "role": "user", "content": content });
        json!({ "type": "user", "isSidechain": false, "message": message })
    };
    let result = json!([{ "type": "tool_result", "tool_use_id": "t", "content": words(400) }]);
    let turn = [
        user(json!(words(20))),
        agent(json!({ "type": "text", "text": words(100) })),
        agent(
            json!({ "type": "tool_use", "id": "t", "name": "Bash", "input": { "command": words(10) } }),
        ),
        user(result),
    ];
    behind(world, size, &turn)
}

/// The worst case: the beginning of the agent's message is not in the part that is read.
fn with_one_message(world: &World, size: u64) -> Vec<u8> {
    let content = json!([{ "type": "text", "text": words(800) }]);
    let message = json!({ "role": "assistant", "id": "m", "content": content });
    let line = json!({ "type": "assistant", "isSidechain": false, "message": message });
    behind(world, size, &[line])
}

fn words(count: usize) -> String {
    "word ".repeat(count)
}

/// A stop with a transcript whose last MiB repeats these lines.
fn behind(world: &World, size: u64, lines: &[Value]) -> Vec<u8> {
    world.mainspring(&["gate", "on"]);
    let path = world.project().join("transcript.jsonl");
    let mut file = File::create(&path).expect("a transcript");
    let length = size.min(1 << 20);
    file.seek(SeekFrom::Start(size - length))
        .expect("files may be sparse");
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    let text = lines.join("\n") + "\n";
    for _ in 0..length / text.len() as u64 {
        file.write_all(text.as_bytes())
            .expect("room for a transcript");
    }
    let fields = json!({
        "transcript_path": path,
        "stop_hook_active": false,
        "last_assistant_message": words(100),
        "background_tasks": [],
    });
    world.event("Stop", fields)
}
