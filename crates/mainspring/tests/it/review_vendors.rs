//! The real clients of other vendors as reviewers, with a scripted model.

use std::fs;

use mainspring_testkit::hosts::{Host, HostClient};
use mainspring_testkit::model::{Model, Script, Turn};
use serde_json::{Value, json};

use crate::env::MAINSPRING;

/// A trusted project with a plan whose review is due, reviewed by this client.
fn planned(host: Host, model: &Model) -> Option<HostClient> {
    let client = HostClient::new(host, model)?;
    let plan = client.project.join(".taskie/plans/demo");
    fs::create_dir_all(&plan).unwrap();
    fs::write(plan.join("plan.md"), "# Plan\n\nBuild it.\n").unwrap();
    let config = client.home.join(".config/mainspring");
    fs::create_dir_all(&config).unwrap();
    let name = host.name();
    let text = format!("[review]\nreviewers = [\"{name}\"]\nenv = [\"FAKE_KEY\"]\n");
    fs::write(config.join("config.toml"), text).unwrap();
    client.person(MAINSPRING, &["trust", "--yes"]);
    client.person(MAINSPRING, &["plan", "init", "demo"]);
    Some(client)
}

fn answer(host: Host, value: &Value) -> Turn {
    match host {
        Host::Qwen => Turn::call("structured_output", value.clone()),
        _ => Turn::say(value.to_string()),
    }
}

/// It reads, and answers in our schema; we write its review and count its verdict.
fn reviews(host: Host) {
    let verdict = json!({
        "verdict": "FAIL",
        "findings": [{
            "id": "F1", "severity": "major", "path": null, "line": null,
            "claim": "There is no test.", "evidence": "plan.md names none.",
        }],
        "earlier": [],
    });
    let script = Script::new([answer(host, &verdict)]).and_then_always(|_| Turn::say("Done."));
    let model = Model::play(script);
    let Some(client) = planned(host, &model) else {
        return;
    };
    let said = client.person(MAINSPRING, &["plan", "review", "--now"]);
    let file = client.project.join(".taskie/plans/demo/plan-review-1.md");
    let review = fs::read_to_string(&file);
    let name = host.name();
    let log = fs::read_to_string(file.with_file_name(".review-1.log"));
    let review = review.unwrap_or_else(|error| panic!("{name}: {error}: {said}\n{log:?}"));
    assert!(review.contains("There is no test."), "{name}: {review}");
    assert!(model.saw_text("You cannot write files"), "{name}");
    assert!(model.saw_text("ground-rules.md -----"), "{name}");
    let status = client.person(MAINSPRING, &["plan", "status", "--json"]);
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status["state"]["next_phase"], "post-plan-review", "{name}");
    assert_eq!(status["state"]["consecutive_clean"], 0, "{name}");
}

/// An answer in prose is no review, whatever it says.
fn prose_is_no_review(host: Host) {
    let script = Script::new([]).and_then_always(|_| Turn::say("PASS. All is well."));
    let model = Model::play(script);
    let Some(client) = planned(host, &model) else {
        return;
    };
    let run = client
        .command(MAINSPRING)
        .args(["plan", "review", "--now"])
        .output()
        .unwrap();
    let name = host.name();
    let said = String::from_utf8_lossy(&[run.stdout, run.stderr].concat()).into_owned();
    let file = client.project.join(".taskie/plans/demo/plan-review-1.md");
    assert!(!file.exists(), "{name}: {said}");
}

#[test]
fn codex_reviews() {
    reviews(Host::Codex);
}

#[test]
fn gemini_reviews() {
    reviews(Host::Gemini);
}

#[test]
fn qwen_reviews() {
    reviews(Host::Qwen);
}

#[test]
fn copilot_reviews() {
    reviews(Host::Copilot);
}

#[test]
fn codex_in_prose_reviews_nothing() {
    prose_is_no_review(Host::Codex);
}

#[test]
fn gemini_in_prose_reviews_nothing() {
    prose_is_no_review(Host::Gemini);
}
