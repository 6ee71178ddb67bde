//! `replay`, `simulate`, and the views that a person keeps open.

use std::fs;
use std::io::Read;
use std::process::Stdio;

use serde_json::Value;

use crate::env::TestEnv;

fn decided() -> TestEnv {
    let env = TestEnv::new();
    env.run(&["pulse", "9"]).ok();
    env.stop("one").held();
    env.stop("two").held();
    env
}

#[test]
fn a_journal_makes_the_same_decisions_again() {
    let env = decided();
    let same = "repeated 2 decisions: all the same\n";
    assert_eq!(env.run(&["debug", "replay"]).ok(), same);
    let file = env.project_state().join("journal.jsonl");
    assert_eq!(
        env.run(&["debug", "replay", file.to_str().unwrap()]).ok(),
        same
    );
}

#[test]
fn the_first_difference_is_shown() {
    let env = decided();
    let journal = fs::read_to_string(env.project_state().join("journal.jsonl")).unwrap();
    // The second stop is changed as if another version had counted another beat, and the line
    // before it is removed so that its checksum fits. A change of the message alone would not
    // be another decision.
    let line = journal.lines().nth(2).unwrap();
    let copy = env.root().join("copy.jsonl");
    fs::write(&copy, line.replace("\"beat\":2", "\"beat\":7") + "\n").unwrap();
    let error = env
        .run(&["debug", "replay", copy.to_str().unwrap()])
        .failed();
    assert!(error.contains("#3 of"), "{error}");
    assert!(
        error.contains("\"beat\": 7") && error.contains("\"beat\": 2"),
        "{error}"
    );
}

#[test]
fn what_is_no_journal_is_named() {
    let env = decided();
    let path = env.root().join("x");
    assert!(
        env.run(&["debug", "replay", path.to_str().unwrap()])
            .failed()
            .contains("there is no file")
    );
    fs::write(&path, "garbage\n\u{0}\n").unwrap();
    let error = env
        .run(&["debug", "replay", path.to_str().unwrap()])
        .failed();
    assert!(error.contains("no record of mainspring"), "{error}");
}

#[test]
fn a_simulated_event_says_what_would_happen_and_changes_nothing() {
    let env = decided();
    let event = env.root().join("event.json");
    fs::write(
        &event,
        r#"{"session_id":"s","last_assistant_message":"done"}"#,
    )
    .unwrap();
    let before = fs::read(env.project_state().join("journal.jsonl")).unwrap();
    let state = fs::read(env.project_state().join("pulse.json")).unwrap();
    let said = env
        .run(&["debug", "simulate", event.to_str().unwrap()])
        .ok();
    assert!(said.contains("pulse kept the agent going."), "{said}");
    assert!(said.contains("beat 3 of 9"), "{said}");
    assert!(
        said.contains("the host would be told: {\"decision\":\"block\""),
        "{said}"
    );
    let json = env
        .run(&["debug", "simulate", event.to_str().unwrap(), "--json"])
        .json();
    assert_eq!(json["answer"]["decision"], "block");
    assert_eq!(
        fs::read(env.project_state().join("journal.jsonl")).unwrap(),
        before
    );
    assert_eq!(
        fs::read(env.project_state().join("pulse.json")).unwrap(),
        state
    );
    fs::write(&event, "[1]").unwrap();
    assert!(
        env.run(&["debug", "simulate", event.to_str().unwrap()])
            .failed()
            .contains("not a JSON object")
    );
    fs::write(&event, r#"{"hook_event_name":"PreCompact"}"#).unwrap();
    assert!(
        env.run(&["debug", "simulate", event.to_str().unwrap()])
            .failed()
            .contains("no machine listens")
    );
}

#[test]
fn the_status_line_is_one_line_or_nothing() {
    let env = TestEnv::new();
    assert_eq!(env.run(&["status", "--line"]).ok(), "");
    env.run(&["stop"]).ok();
    assert_eq!(env.run(&["status", "--line"]).ok(), "stopped\n");
    assert!(env.run(&["status"]).ok().contains("everything is stopped"));
    env.run(&["resume"]).ok();
    env.run(&["pulse", "2"]).ok();
    assert_eq!(
        env.run(&["status", "--line"]).ok(),
        "pulse: 0 of 2 beats given\n"
    );
    env.run(&["stop"]).ok();
    assert_eq!(
        env.run(&["status", "--line"]).ok(),
        "pulse: 0 of 2 beats given (stopped)\n"
    );
    let json: Value = env.run(&["status", "--json"]).json();
    let machines = json["machines"].as_array().unwrap();
    let pulse = machines
        .iter()
        .find(|machine| machine["name"] == "pulse")
        .unwrap();
    assert_eq!(pulse["suspended"], "stopped");
}

#[test]
fn a_watched_status_follows() {
    let env = TestEnv::new();
    env.run(&["pulse", "2"]).ok();
    let mut watch = env
        .command()
        .args(["status", "--watch", "--line"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = watch.stdout.take().unwrap();
    let mut read = |length: usize| {
        let mut bytes = vec![0; length];
        out.read_exact(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    };
    assert_eq!(read(26), "pulse: 0 of 2 beats given\n");
    env.run(&["stop"]).ok();
    assert_eq!(read(36), "pulse: 0 of 2 beats given (stopped)\n");
    watch.kill().unwrap();
    watch.wait().unwrap();
}
