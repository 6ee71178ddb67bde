//! A payload that names a wrong file as the session's transcript, and a token without work.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::Instant;

use mainspring_testkit::process::PATIENCE;
use serde_json::json;

use crate::env::{TestEnv, payload};
use crate::taskie::Taskie;

#[test]
fn no_file_that_an_event_names_as_the_transcript_completes_or_hangs() {
    let env = TestEnv::new();
    env.agent("s", &["gate", "on"]).ok();
    let line = json!({"type": "assistant", "message": {"role": "assistant", "content": "TASKMASTER_DONE::s"}});
    let real = env.home().join(".claude/projects/p/s.jsonl");
    fs::create_dir_all(real.parent().unwrap()).unwrap();
    fs::write(&real, format!("{line}\n")).unwrap();
    let link = env.home().join(".claude/projects/p/link.jsonl");
    symlink(&real, &link).unwrap();
    let fifo = env.root().join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.unwrap().success());
    let sparse = env.root().join("sparse");
    fs::File::create(&sparse).unwrap().set_len(8 << 30).unwrap();
    let socket = env.root().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let paths = [
        json!("/etc/passwd"),
        json!("/proc/self/environ"),
        json!("/proc/self/mem"),
        json!("/proc/self/fd/0"),
        json!("/dev/zero"),
        json!("/dev/stdin"),
        json!("/dev/full"),
        json!(link),
        json!(fifo),
        json!(sparse),
        json!(socket),
        json!(env.home()),
        json!("~/../../etc/passwd"),
        json!("relative.jsonl"),
        json!("/nonexistent/\u{0}x"),
        json!(format!("/{}", "x".repeat(5_000))),
        json!(7),
        json!(null),
    ];
    for path in paths {
        let began = Instant::now();
        let fields = json!({"transcript_path": path});
        let ran = env.hook_bytes(
            payload(&env.project(), "Stop", fields)
                .to_string()
                .as_bytes(),
        );
        assert!(began.elapsed() < PATIENCE, "{path}");
        ran.held();
    }
    // The session's own transcript counts, so the others were refused for what they are.
    let fields = json!({"transcript_path": real});
    let ran = env.hook_bytes(
        payload(&env.project(), "Stop", fields)
            .to_string()
            .as_bytes(),
    );
    assert_eq!(ran.let_go(), "");
}

/// The agent's token opens the gate; a review that is due is another matter.
#[test]
fn the_token_alone_does_not_end_a_stop_that_is_under_review() {
    let taskie = Taskie::with_state(json!({"next_phase": "plan-review"}));
    let _ = taskie.run(&["trust", "--yes"], b"").ok();
    let _ = taskie.run(&["gate", "on", "--project"], b"").ok();
    let words = json!({"last_assistant_message": "All done.\n\nTASKMASTER_DONE::s"});
    let event = payload(&taskie.env.project(), "Stop", words);
    let reason = taskie.run(&["hook"], event.to_string().as_bytes()).held();
    assert!(reason.contains("plan-review-1.md"), "{reason}");
    assert!(!reason.contains("TASKMASTER"), "the gate is open: {reason}");
    assert_eq!(taskie.calls().len(), 1, "and was not paid for twice");
}
