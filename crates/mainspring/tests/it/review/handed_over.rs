//! A plan that an agent in one host began, adopted by an agent in another while its review runs.

use std::fs;
use std::io::Write as _;
use std::process::{Child, Stdio};

use mainspring_testkit::process::wait_until;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{status, trusted};
use crate::env::{Ran, finish, payload};
use crate::taskie::Taskie;

/// A stop of Claude Code's session, which is not waited for.
fn stopping(taskie: &Taskie) -> Child {
    let fields = json!({"session_id": "claude-1", "last_assistant_message": "written"});
    let event = payload(&taskie.env.project(), "Stop", fields);
    let mut command = taskie.command();
    let pipes = command.arg("hook").stdin(Stdio::piped());
    let pipes = pipes.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = pipes.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(event.to_string().as_bytes()).unwrap();
    child
}

/// A stop of Codex's session: Codex's events have the turn's id.
fn codex_stops(taskie: &Taskie, words: &str) -> Ran {
    let fields = json!({
        "session_id": "codex-1", "turn_id": "t1", "last_assistant_message": words,
    });
    let event = payload(&taskie.env.project(), "Stop", fields);
    taskie.run(&["hook"], event.to_string().as_bytes())
}

fn owner(taskie: &Taskie) -> Value {
    status(taskie)["owner"].clone()
}

/// Nobody starts a second reviewer beside the first. What that one says comes too late to count,
/// and Claude Code, whose stop waited for it, is let go and told so: the plan is no longer its own.
/// The review of Codex's stop is the first of the cycle, and holds Codex.
#[test]
fn a_plan_is_adopted_in_another_host_while_its_review_runs() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    let _ = taskie.env.agent("claude-1", &["plan", "adopt"]).ok();
    assert_eq!(owner(&taskie), "claude-1");
    let [begun, go] = ["begun", "go"].map(|name| taskie.env.root().join(name));
    let wait = format!(
        "touch {}; while [ ! -e {} ]; do sleep 0.02; done",
        begun.display(),
        go.display()
    );
    taskie.set("MOCK_CLAUDE_RUN", &wait);
    let hook = stopping(&taskie);
    wait_until("the reviewer is at work", || begun.exists());

    let mut adopt = taskie.command();
    let adopt = adopt
        .args(["plan", "adopt"])
        .env("CODEX_SESSION_ID", "codex-1");
    let said = finish(adopt, b"").ok();
    assert_eq!(owner(&taskie), "codex-1", "{said}");
    let meanwhile = codex_stops(&taskie, "mine now").let_go();
    assert!(meanwhile.contains("already at work"), "{meanwhile}");
    assert_eq!(taskie.calls().len(), 1, "a second reviewer was started");
    fs::write(&go, "").unwrap();
    let told = Ran::of(hook.wait_with_output().unwrap()).let_go();

    assert!(told.contains("belongs to session codex-1"), "{told}");
    let late = "plan-review-1.md came after the plan had moved on, so it does not count";
    assert!(told.contains(late), "{told}");
    assert_eq!(owner(&taskie), "codex-1");
    let reason = codex_stops(&taskie, "review it").held();
    assert!(reason.contains("plan review 1 of 8: FAIL"), "{reason}");
    assert!(reason.contains("plan-review-2.md"), "{reason}");
    assert_eq!(taskie.calls().len(), 2);
    let fields = json!({"session_id": "claude-1", "last_assistant_message": "again"});
    let again = taskie.env.hook("Stop", fields).let_go();
    assert!(!again.contains("does not count"), "told twice: {again}");
}
