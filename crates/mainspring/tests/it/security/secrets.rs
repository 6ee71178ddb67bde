//! No variable's value and no payload is written to any file or answer.

use serde_json::{Value, json};

use super::tree;
use crate::env::{TestEnv, payload};
use crate::taskie::Taskie;

const CANARY: &str = "canary-7f3a9c51d2";

/// Events with the canary wherever a host can put a text.
fn events() -> [(&'static str, Value); 8] {
    [
        (
            "SessionStart",
            json!({"source": "startup", "secret": CANARY}),
        ),
        ("UserPromptSubmit", json!({"prompt": CANARY})),
        (
            "PreToolUse",
            json!({"tool_name": "Bash", "tool_input": {"command": CANARY}}),
        ),
        (
            "PostToolUse",
            json!({"tool_name": "Bash", "tool_response": CANARY}),
        ),
        (
            "Stop",
            json!({"last_assistant_message": format!("the key is {CANARY}")}),
        ),
        (
            "Stop",
            json!({"last_assistant_message": format!("{CANARY}\n\nTASKMASTER_DONE::s {CANARY}")}),
        ),
        (
            "Stop",
            json!({"last_assistant_message": "TASKMASTER_DONE::s"}),
        ),
        ("SessionEnd", json!({"reason": "other"})),
    ]
}

#[test]
fn no_variable_and_no_payload_is_found_in_any_file_or_answer() {
    let taskie = Taskie::with_state(json!({"next_phase": "plan-review"}));
    for name in [
        "GH_TOKEN",
        "GITHUB_TOKEN",
        "ANTHROPIC_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "CLAUDE_CODE_MESSAGING_TOKEN",
        "MAINSPRING_UNKNOWN",
        "DATABASE_URL",
    ] {
        taskie.set(name, CANARY);
    }
    let _ = taskie.run(&["trust", "--yes"], b"").ok();
    let _ = taskie.run(&["gate", "on", "--project"], b"").ok();
    let _ = taskie.run(&["loop", "start"], b"");
    let mut said = String::new();
    for (event, fields) in events() {
        let input = payload(&taskie.env.project(), event, fields).to_string();
        let ran = taskie.run(&["hook"], input.as_bytes());
        assert_eq!(ran.code, Some(0), "{event}: {ran:?}");
        said += &(ran.stdout + &ran.stderr);
    }
    for view in [
        &["log", "--json"][..],
        &["why"],
        &["status", "--json"],
        &["doctor"],
        &["config"],
    ] {
        let ran = taskie.run(view, b"");
        said += &(ran.stdout + &ran.stderr);
    }
    assert!(!said.contains(CANARY), "{said}");
    assert_eq!(taskie.calls().len(), 1, "a reviewer ran");
    for (path, bytes) in tree(&taskie.env.root()) {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(CANARY), "{}: {text}", path.display());
    }
}

/// Only the person can read what we keep.
#[test]
fn everything_of_ours_is_ours_alone() {
    use std::os::unix::fs::PermissionsExt;
    let env = TestEnv::new();
    env.run(&["gate", "on", "--project"]).ok();
    env.agent("s", &["loop", "start"]).ok();
    env.stop("x").held();
    let mut files = 0;
    for folder in [env.state(), env.tmp().join("taskmaster")] {
        for path in tree(&folder).into_keys().chain([folder.clone()]) {
            let mode = std::fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "{}: {mode:o}", path.display());
            files += 1;
        }
    }
    assert!(files > 8, "{files}");
}
