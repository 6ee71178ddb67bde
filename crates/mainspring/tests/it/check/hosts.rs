//! Checks in every host that we know, and in no drop-in.

use std::fs;
use std::path::Path;

use pretty_assertions::assert_eq;
use serde_json::Value;

use super::Checked;
use crate::env::finish;

/// A stop of the main agent, as the host's client sent it, in this project.
fn recorded(host: &str, project: &Path) -> Value {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = here.join(format!("src/hosts/fixtures/{host}.jsonl"));
    let text = fs::read_to_string(file).unwrap();
    let events = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["stdin"].clone());
    let mut stop = events
        .into_iter()
        .find(|event| {
            let name = event["hook_event_name"].as_str().unwrap_or_default();
            ["Stop", "AfterAgent"].contains(&name) && event["agent_id"].is_null()
        })
        .unwrap_or_else(|| panic!("no stop of {host}"));
    stop["cwd"] = project.to_string_lossy().into();
    stop["transcript_path"] = project.join("no-transcript").to_string_lossy().into();
    stop
}

#[test]
fn a_red_check_holds_the_agent_in_every_host() {
    for host in ["codex", "gemini", "qwen", "copilot"] {
        let checked = Checked::new();
        checked.write("good.txt", "no\n");
        let event = recorded(host, &checked.env.project()).to_string();
        let stop = || {
            let mut hook = checked.env.command();
            finish(hook.args(["hook", "--host", host]), event.as_bytes()).ok()
        };
        let answer: Value = serde_json::from_str(&stop()).unwrap();
        let reason = answer["reason"].as_str().unwrap_or_default();
        assert!(
            reason.contains("`tests` fails with exit code 3"),
            "{host}: {answer}"
        );
        checked.write("good.txt", "yes\n");
        let said = stop();
        assert!(said.contains("tests pass at"), "{host}: {said}");
        assert_eq!(checked.runs(), 2, "{host}");
    }
}

#[test]
fn no_drop_in_runs_a_check() {
    let checked = Checked::new();
    checked.write("good.txt", "no\n");
    let event = crate::env::payload(
        &checked.env.project(),
        "Stop",
        serde_json::json!({ "last_assistant_message": "done" }),
    );
    for script in ["taskmaster", "idle", "taskie", "agent-sync"] {
        let mut command = checked.env.command();
        let ran = finish(
            command.args(["compat", script]),
            event.to_string().as_bytes(),
        );
        assert!(!ran.stdout.contains("`tests`"), "{script}: {ran:?}");
    }
    assert_eq!(checked.runs(), 0);
}
