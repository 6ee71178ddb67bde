//! A secret in every text that people and agents write reaches no record's decision part, and
//! nothing that people are asked to send.

use std::fs;

use serde_json::{Value, json};

use crate::env::payload;
use crate::taskie::{Taskie, write};

/// How every planted secret begins; what follows says where it was planted.
const SECRET: &str = "SECRET-7f3a9c51";

const TOKEN: &str = "TASKMASTER_DONE::s";
const SIGNAL: &str = "<loop-done>COMPLETE</loop-done>";

fn secret(place: &str) -> String {
    format!("{SECRET}-{place}")
}

/// A project in which all machines have work, with a secret in every text.
fn planted() -> Taskie {
    let taskie = Taskie::with_state(json!({
        "next_phase": "plan-review", "note": secret("plan-field"),
    }));
    taskie.file("plan.md", &format!("# Plan\n\n{}\n", secret("plan")));
    claim(&taskie, "ready_for_pr", &secret("summary"));
    let good = json!([
        { "id": 1, "subject": secret("subject"), "description": secret("description"),
          "activeForm": secret("form"), "metadata": { "key": secret("metadata") } },
        { "id": 2, "subject": format!("Ship {}", secret("subject")), "blockedBy": [1] },
    ]);
    skill(&taskie, "good", &good);
    let bad = json!([
        { "id": 1, "subject": [secret("list")], "status": secret("status") },
        secret("no-task"),
        { "id": 2, "subject": "x", "blockedBy": [secret("blocker")] },
    ]);
    skill(&taskie, "bad", &bad);
    person(&taskie, &["gate", "on", "--project"]);
    for verb in ["start", "push"] {
        let prompt = format!("Do it with {}", secret(verb));
        agent(&taskie, &["loop", verb, "--prompt", &prompt]);
    }
    taskie
}

fn claim(taskie: &Taskie, phase: &str, summary: &str) {
    let claim = json!({
        "schema_version": 1, "item_id": "", "issue_number": 42, "branch": "claude/fix-42",
        "agent_id": "ada-1", "phase": phase, "summary": summary, "status": "In Progress",
        "pr_number": null, "last_check_poll": null, "last_synced_status": "In Progress",
        "extra": secret("extra"), "nested": { "field": [secret("nested")] },
    });
    let path = taskie.env.project().join(".agent-claim.json");
    write(&path, &claim.to_string());
}

fn skill(taskie: &Taskie, name: &str, list: &Value) {
    let folder = taskie.env.project().join(".claude/skills").join(name);
    write(&folder.join("fsm.json"), &list.to_string());
}

fn person(taskie: &Taskie, args: &[&str]) {
    taskie.run(args, b"").ok();
}

fn agent(taskie: &Taskie, args: &[&str]) {
    taskie.set("CLAUDE_CODE_SESSION_ID", "s");
    let ran = taskie.run(args, b"");
    taskie.unset("CLAUDE_CODE_SESSION_ID");
    ran.ok();
}

fn hook(taskie: &Taskie, event: &str, fields: Value) -> String {
    let input = payload(&taskie.env.project(), event, fields).to_string();
    taskie.run(&["hook"], input.as_bytes()).ok()
}

fn stop(taskie: &Taskie, words: &str) -> String {
    hook(taskie, "Stop", json!({ "last_assistant_message": words }))
}

/// What a record has besides the contents of files.
fn decision_part(line: &str) -> String {
    let mut record: Value = serde_json::from_str(line).unwrap();
    let fields = record.as_object_mut().unwrap();
    fields.remove("files");
    fields.remove("contents");
    record.to_string()
}

fn assert_clean(place: &str, text: &str) {
    let at = text.find(SECRET).map(|at| {
        let from = text[..at].char_indices().rev().nth(200);
        text[from.map_or(0, |(at, _)| at)..]
            .get(..400)
            .unwrap_or(text)
    });
    assert_eq!(at, None, "{place}");
}

/// Looks for the secret in the journal and in every view of it.
fn assert_nothing_shows(taskie: &Taskie, when: &str) {
    let path = taskie.env.project_state().join("journal.jsonl");
    let journal = fs::read_to_string(path).unwrap();
    assert!(journal.contains(SECRET), "{when}: recovery needs the files");
    for line in journal.lines() {
        assert_clean(when, &decision_part(line));
    }
    let event = json!({ "last_assistant_message": secret("simulated") }).to_string();
    for view in [
        &["log"][..],
        &["log", "--json"],
        &["log", "--json", "-n", "1"],
        &["why", "--event", "any", "-n", "100"],
        &["why", "--event", "any", "-n", "100", "--json"],
        &["doctor"],
        &["doctor", "--json"],
        &["status"],
        &["status", "--json"],
        &["debug", "replay"],
        &["debug", "replay", "--json"],
        &["debug", "simulate", "-"],
        &["debug", "simulate", "-", "--json"],
    ] {
        let ran = taskie.run(view, event.as_bytes());
        assert!(!ran.stdout.is_empty(), "{view:?}: {ran:?}");
        assert_clean(&format!("{when}: {view:?}"), &(ran.stdout + &ran.stderr));
    }
    let replay = taskie.run(&["debug", "replay", "--json"], b"").json();
    assert_eq!(replay["differs"], Value::Null, "{when}");
    assert_eq!(
        (&replay["reworded"], &replay["skipped"]),
        (&json!(0), &json!([]))
    );
    assert!(replay["same"].as_u64().unwrap() > 0, "{when}");
    // What people send is enough to repeat the decisions.
    let log = taskie.run(&["log", "--json", "-n", "1000"], b"").ok();
    let report = taskie.env.root().join("report.jsonl");
    write(&report, &log);
    let sent = taskie.run(
        &["debug", "replay", "--json", report.to_str().unwrap()],
        b"",
    );
    assert_eq!(sent.json(), replay, "{when}");
}

#[test]
fn a_planted_secret_is_in_no_decision_and_in_no_view() {
    let taskie = planted();
    hook(&taskie, "SessionStart", json!({ "source": "startup" }));
    hook(
        &taskie,
        "UserPromptSubmit",
        json!({ "prompt": secret("prompt") }),
    );
    let input = json!({ "tool_name": "Bash", "tool_input": { "command": secret("tool-input") } });
    hook(&taskie, "PreToolUse", input);
    for name in ["good", "bad"] {
        let told = hook(
            &taskie,
            "PostToolUse",
            json!({
                "tool_name": "Skill", "tool_input": { "skill": name, "args": secret("args") },
                "tool_response": { "success": true, "commandName": name, "text": secret("response") },
            }),
        );
        assert!(told.contains(SECRET), "the agent is told all of it: {told}");
    }
    let typed = json!({ "command_name": "good", "command_args": secret("command") });
    hook(&taskie, "UserPromptExpansion", typed);
    agent(&taskie, &["tasks", "add", &secret("added")]);
    agent(&taskie, &["tasks", "note", "1", &secret("note")]);
    agent(&taskie, &["tasks", "start", "1"]);

    let words = format!("The key is {}.", secret("message"));
    let told = stop(&taskie, &words);
    assert!(
        told.contains(&secret("push")),
        "the loop repeats its prompt: {told}"
    );
    // Through another registration of ours.
    taskie.set("CLAUDE_PLUGIN_ROOT", "/plugin");
    assert_eq!(stop(&taskie, &words), told, "the second delivery");
    taskie.unset("CLAUDE_PLUGIN_ROOT");
    stop(&taskie, &format!("{} {TOKEN} {SIGNAL}", secret("near")));
    assert_nothing_shows(&taskie, "held");

    let ending = format!("{}\n\n{TOKEN}\n\n{SIGNAL}\n", secret("final"));
    stop(&taskie, &ending);
    assert!(taskie.has("plan-review-1.md"), "a reviewer ran");
    assert_nothing_shows(&taskie, "reviewed");

    agent(&taskie, &["loop", "abort", &secret("abort")]);
    taskie.state(json!({ "next_phase": null }));
    stop(&taskie, &ending);
    assert_nothing_shows(&taskie, "let go");
}

/// What is wrong with a summary is decided from its text, and repeated without it.
#[test]
fn a_faulty_summary_is_replayed_without_its_text() {
    let hidden = secret("summary");
    let done = format!("{TOKEN}\n\n{SIGNAL}\n");
    for (summary, fault) in [
        ("  ".into(), "it is empty"),
        (format!("{hidden}\0"), "it has a NUL character"),
        (format!("\u{200b}\n{hidden}"), "nothing that can be seen"),
        (hidden.repeat(10_000), "it is longer than"),
        // This one is good; what is missing is the repository.
        (hidden, "there is no remote here"),
    ] {
        let taskie = planted();
        taskie.state(json!({ "next_phase": null }));
        claim(&taskie, "ready_for_pr", &summary);
        let told: String = (0..3).map(|_| stop(&taskie, &done)).collect();
        assert!(told.contains(fault), "{fault}: {told}");
        let log = taskie.run(&["log", "--json"], b"").ok();
        assert!(log.contains(fault), "{fault}: {log}");
        assert_nothing_shows(&taskie, fault);
    }
}
