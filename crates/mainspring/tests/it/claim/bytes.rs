//! A checkout whose folder's name is not UTF-8 text.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use serde_json::{Value, json};

use super::world::{git, world};
use crate::env::finish;

#[test]
fn a_claim_comes_to_its_pull_request_whatever_its_folder_is_called() {
    let Some(world) = world() else { return };
    let folder = world.env.root().join(OsStr::from_bytes(b"caf\xe9"));
    fs::rename(world.env.project(), &folder).unwrap();
    let run = |args: &[&str], input: &Value| {
        let mut command = world.env.command();
        command.args(args).current_dir(&folder);
        if !matches!(args, ["trust" | "hook", ..]) {
            command.env("CLAUDE_CODE_SESSION_ID", "s");
        }
        finish(&mut command, input.to_string().as_bytes())
    };
    run(&["trust", "--yes"], &Value::Null).ok();
    let refused = run(&["claim", "43", "--worktree"], &Value::Null).failed();
    assert!(refused.contains("is not UTF-8 text"), "{refused}");
    let said = run(&["claim", "42"], &Value::Null).ok();
    assert!(said.starts_with("claimed issue #42"), "{said}");
    git(
        &folder,
        &["commit", "--quiet", "--allow-empty", "-m", "Fix"],
    );
    run(&["handoff", "--summary", "Fix it", "--push"], &Value::Null).ok();
    let event = json!({
        "session_id": "s", "cwd": folder.to_string_lossy(), "hook_event_name": "Stop",
        "stop_hook_active": false, "last_assistant_message": "handed over",
    });
    let said = run(&["hook"], &event).held();
    assert!(said.starts_with("PR #44 created"), "{said}");
    let claim = fs::read_to_string(folder.join(".agent-claim.json")).unwrap();
    let claim: Value = serde_json::from_str(&claim).unwrap();
    assert_eq!(claim["pr_number"], 44, "{claim}");
}
