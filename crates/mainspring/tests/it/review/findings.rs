//! Findings with a memory: what a reviewer reports, the agent answers and the person decides; and
//! what a clean review is about.

use std::fs;
use std::process::Command;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{config, status, stop, trusted};
use crate::taskie::Taskie;

pub(crate) const LEAK: &str = r#"[{"id":"F1","severity":"major","path":"src/a.rs","line":3,"claim":"It leaks.","evidence":"Line 3 never closes."}]"#;

/// What the next reviewer answers.
pub(crate) fn reviewer(taskie: &Taskie, verdict: &str, findings: &str, earlier: &str) {
    taskie.verdict(verdict);
    taskie.set("MOCK_CLAUDE_FINDINGS", findings);
    taskie.set("MOCK_CLAUDE_EARLIER", earlier);
}

/// What the reviewer says of F1.
pub(crate) fn of_f1(status: &str) -> String {
    json!([{"id": "F1", "status": status}]).to_string()
}

/// A stop at which a review runs: what the agent is told, and what the person.
fn reviewed(taskie: &Taskie, words: &str) -> (String, String) {
    let answer = stop(taskie, "s", words).json();
    let text = |name: &str| answer[name].as_str().unwrap_or_default().to_owned();
    (text("reason"), text("systemMessage"))
}

fn last_prompt(taskie: &Taskie) -> String {
    let call = taskie.calls().pop().unwrap();
    let at = call
        .iter()
        .position(|arg| arg.starts_with("Read the ground rules"));
    call[at.unwrap()..].join("\n")
}

#[test]
fn a_finding_is_listed_answered_checked_and_settled() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    reviewer(&taskie, "FAIL", LEAK, "[]");
    let (held, note) = reviewed(&taskie, "one");
    assert!(held.contains("The plan review 1 of 8: FAIL."), "{held}");
    assert!(
        held.contains("- F1 (major, src/a.rs:3), new: It leaks."),
        "{held}"
    );
    assert!(held.contains("plan-post-review-1.md"), "{held}");
    assert!(
        note.contains("opus: FAIL, 1 finding (1 new), 0 s, $0.25"),
        "{note}"
    );
    let wrong = taskie
        .env
        .agent("s", &["plan", "answer", "F9", "fixed", "x"])
        .failed();
    assert!(wrong.contains("no open finding F9"), "{wrong}");
    assert!(wrong.contains("open are F1"), "{wrong}");
    let args = [
        "plan",
        "answer",
        "F1",
        "fixed",
        "closed it",
        "--plan",
        "demo",
    ];
    let _ = taskie.env.agent("s", &args).ok();
    assert_eq!(
        status(&taskie)["findings"][0]["answer"],
        json!(["fixed", "closed it"])
    );
    taskie.post_review();
    reviewer(&taskie, "PASS", "[]", &of_f1("fixed"));
    let (held, note) = reviewed(&taskie, "two");
    assert!(held.contains("is clean: PASS, nothing to fix"), "{held}");
    assert!(!held.contains("F1"), "{held}");
    assert!(note.contains("sonnet: PASS, 0 s, $0.25"), "{note}");
    let asked = last_prompt(&taskie);
    assert!(
        asked.contains("- F1 (major, src/a.rs:3): It leaks."),
        "{asked}"
    );
    assert!(asked.contains("(the agent: fixed, closed it)"), "{asked}");
    assert_eq!(status(&taskie)["findings"], json!([]));
    taskie.post_review();
    reviewer(&taskie, "PASS", "[]", "[]");
    let (held, note) = reviewed(&taskie, "three");
    assert_eq!(held, "");
    assert!(note.contains("two clean reviews in a row"), "{note}");
}

#[test]
fn an_incomplete_answer_is_no_verdict() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    reviewer(&taskie, "FAIL", LEAK, "[]");
    let _ = reviewed(&taskie, "one");
    taskie.post_review();
    // It says nothing of F1; it finds something and passes; it has no findings at all.
    let fixed = of_f1("fixed");
    let answers = [
        ("PASS", "[]", "[]"),
        ("PASS", LEAK, fixed.as_str()),
        ("PASS", "null", fixed.as_str()),
    ];
    for (number, (verdict, findings, earlier)) in answers.into_iter().enumerate() {
        reviewer(&taskie, verdict, findings, earlier);
        let (held, note) = reviewed(&taskie, &format!("again {number}"));
        assert!(held.contains("no verdict"), "{held}");
        assert!(note.contains("no verdict, so not clean"), "{note}");
        assert_eq!(taskie.state_now()["consecutive_clean"], 0);
        assert_eq!(status(&taskie)["findings"][0]["id"], "F1", "still open");
        taskie.post_review();
    }
}

#[test]
fn answers_in_the_post_review_file_are_read() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    reviewer(&taskie, "FAIL", LEAK, "[]");
    let _ = reviewed(&taskie, "one");
    taskie.file(
        "plan-post-review-1.md",
        "# Answers\n\n- **F1**: disputed: it is closed in line 9\n",
    );
    taskie.post_review();
    reviewer(&taskie, "PASS", "[]", &of_f1("withdrawn"));
    let (held, _) = reviewed(&taskie, "two");
    assert!(held.contains("is clean"), "{held}");
    let asked = last_prompt(&taskie);
    assert!(
        asked.contains("(the agent: disputed, it is closed in line 9)"),
        "{asked}"
    );
    assert_eq!(status(&taskie)["findings"], json!([]));
}

#[test]
fn what_is_not_fixed_twice_goes_to_the_person_who_decides() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    reviewer(&taskie, "FAIL", LEAK, "[]");
    let _ = reviewed(&taskie, "one");
    taskie.post_review();
    reviewer(&taskie, "FAIL", "[]", &of_f1("not_fixed"));
    let (held, _) = reviewed(&taskie, "two");
    assert!(held.contains("F1 (major, src/a.rs:3), not fixed"), "{held}");
    taskie.post_review();
    let (held, note) = reviewed(&taskie, "three");
    assert_eq!(held, "", "not round nine");
    assert!(note.contains("do not agree about F1"), "{note}");
    taskie.post_review();
    let (held, note) = reviewed(&taskie, "four");
    assert_eq!(held, "");
    assert!(note.contains("do not agree about F1"), "{note}");
    assert_eq!(taskie.calls().len(), 3, "no reviewer starts");
    let route = taskie.env.agent("s", &["plan", "route"]).ok();
    assert!(route.contains("do not agree about F1"), "{route}");
    // The agent does not decide this.
    let disputed = ["plan", "answer", "F1", "disputed", "not needed"];
    let _ = taskie.env.agent("s", &disputed).ok();
    let (_, note) = reviewed(&taskie, "five");
    assert!(note.contains("do not agree about F1"), "{note}");
    taskie.run(&disputed, b"").ok();
    reviewer(&taskie, "PASS", "[]", "[]");
    let (held, _) = reviewed(&taskie, "six");
    assert!(held.contains("is clean"), "{held}");
    let asked = last_prompt(&taskie);
    assert!(
        asked.contains("The user decided that the following are no findings"),
        "{asked}"
    );
}

#[test]
fn what_is_disputed_twice_goes_to_the_person_before_another_reviewer_is_paid() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    reviewer(&taskie, "FAIL", LEAK, "[]");
    let _ = reviewed(&taskie, "one");
    taskie.file("plan-post-review-1.md", "F1: disputed, it does not\n");
    taskie.post_review();
    reviewer(&taskie, "FAIL", "[]", &of_f1("not_fixed"));
    let (held, _) = reviewed(&taskie, "two");
    assert!(held.contains("F1"), "{held}");
    taskie.file(
        "plan-post-review-2.md",
        "F1: disputed, it really does not\n",
    );
    let (held, note) = reviewed(&taskie, "three");
    assert_eq!(held, "");
    assert!(note.contains("do not agree about F1"), "{note}");
    assert_eq!(taskie.calls().len(), 2);
}

#[test]
fn a_review_without_a_text_is_written_from_its_findings() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    taskie.set("MOCK_CLAUDE_NO_FILE", "1");
    reviewer(&taskie, "FAIL", LEAK, "[]");
    let (held, _) = reviewed(&taskie, "one");
    assert!(held.contains("plan-review-1.md"), "{held}");
    let text = fs::read_to_string(taskie.dir().join("plan-review-1.md")).unwrap();
    assert!(text.contains("## F1 (major, src/a.rs:3)"), "{text}");
    assert!(text.contains("Line 3 never closes."), "{text}");
}

fn git(taskie: &Taskie, args: &[&str]) {
    let me = ["-c", "user.name=t", "-c", "user.email=t@t"];
    let ran = Command::new("git")
        .args(me)
        .args(args)
        .current_dir(taskie.env.project())
        .output()
        .unwrap();
    assert!(ran.status.success(), "{ran:?}");
}

fn source(taskie: &Taskie, text: &str) {
    crate::taskie::write(&taskie.env.project().join("src/a.rs"), text);
}

fn streak(taskie: &Taskie) -> Value {
    taskie.state_now()["consecutive_clean"].clone()
}

#[test]
fn two_clean_reviews_are_two_only_over_the_same_files() {
    let taskie = trusted(json!({"next_phase": "code-review"}));
    git(&taskie, &["init", "-q"]);
    source(&taskie, "fn a() {}\n");
    taskie.verdict("PASS");
    let _ = stop(&taskie, "s", "one").held();
    assert_eq!(streak(&taskie), 1);
    taskie.post_review();
    source(&taskie, "fn a() { todo() }\n");
    let (held, _) = reviewed(&taskie, "two");
    assert!(held.contains("is clean"), "another subject: {held}");
    assert_eq!(streak(&taskie), 1);
    taskie.post_review();
    // Committing changes nothing, and neither do the plan's own files.
    git(&taskie, &["add", "."]);
    git(&taskie, &["commit", "-qm", "Build it"]);
    taskie.file("task-1-post-review-2.md", "Nothing to do.");
    let note = stop(&taskie, "s", "three").let_go();
    assert!(note.contains("two clean reviews in a row"), "{note}");
}

#[test]
fn a_setting_counts_any_two_clean_reviews() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    config(&taskie, "[review]\nstreak = \"any\"\n");
    taskie.verdict("PASS");
    let _ = stop(&taskie, "s", "one").held();
    taskie.post_review();
    taskie.file("plan.md", "# Another plan\n\n## Overview\n");
    let note = stop(&taskie, "s", "two").let_go();
    assert!(note.contains("two clean reviews in a row"), "{note}");
}

#[test]
fn a_clean_review_under_which_the_subject_moved_adds_nothing_and_names_the_file() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    taskie.verdict("PASS");
    taskie.set("MOCK_CLAUDE_RUN", "echo more >> .taskie/plans/demo/plan.md");
    let (held, note) = reviewed(&taskie, "one");
    assert!(!held.is_empty());
    assert!(
        note.contains("plan.md changed: its PASS adds nothing"),
        "{note}"
    );
    assert_eq!(streak(&taskie), 0);
    taskie.post_review();
    reviewer(&taskie, "FAIL", LEAK, "[]");
    let (held, note) = reviewed(&taskie, "two");
    assert!(held.contains("F1"), "its findings stand: {held}");
    assert!(note.contains("plan.md changed"), "{note}");
}

#[test]
fn a_reviewer_that_touches_the_state_or_the_refs_is_named() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    git(&taskie, &["init", "-q"]);
    git(&taskie, &["commit", "-q", "--allow-empty", "-m", "Begin"]);
    taskie.set(
        "MOCK_CLAUDE_RUN",
        "git branch sneaky; sed -i s/opus/haiku/ .taskie/plans/demo/state.json",
    );
    let (_, note) = reviewed(&taskie, "one");
    assert!(
        note.contains("state.json, refs/heads/sneaky changed"),
        "{note}"
    );
    assert!(note.contains("not for a reviewer to change"), "{note}");
}

#[test]
fn three_failing_reviewers_in_a_row_open_a_breaker_that_is_said_once() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    taskie.set("MOCK_CLAUDE_EXIT_CODE", "3");
    for words in ["one", "two"] {
        let note = stop(&taskie, "s", words).let_go();
        assert!(note.contains("it is tried at the next stop"), "{note}");
    }
    let note = stop(&taskie, "s", "three").let_go();
    assert!(
        note.contains("the third failure in a row, so it is parked"),
        "{note}"
    );
    assert_eq!(stop(&taskie, "s", "four").let_go(), "", "said once");
    assert_eq!(taskie.calls().len(), 3);
    let route = taskie.env.agent("s", &["plan", "route"]).ok();
    assert!(
        route.contains("parked after 3 failures in a row"),
        "{route}"
    );
    taskie.set("MOCK_CLAUDE_EXIT_CODE", "0");
    let told = taskie.run(&["plan", "review", "--now"], b"").ok();
    assert!(told.contains("plan-review-1.md"), "{told}");
}

/// Each morning another session takes the plan over, and the reviewer's program is not there.
#[test]
fn failures_are_counted_across_the_sessions_that_take_a_plan_over() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    taskie.set("MOCK_CLAUDE_EXIT_CODE", "3");
    let mut notes = Vec::new();
    for session in ["monday", "tuesday", "wednesday", "thursday"] {
        taskie.env.agent(session, &["plan", "adopt"]).ok();
        notes.push(stop(&taskie, session, session).let_go());
    }
    assert!(notes[2].contains("the third failure in a row"), "{notes:?}");
    assert!(!notes[3].contains("did not happen"), "{notes:?}");
    assert_eq!(taskie.calls().len(), 3);
}

#[test]
fn what_a_reviewer_printed_to_stderr_is_kept_with_its_run() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    taskie.set("MOCK_CLAUDE_RUN", "echo thinking >&2");
    let _ = stop(&taskie, "s", "one").held();
    let runs = taskie.env.project_state().join("reviews");
    let run = fs::read_dir(runs).unwrap().next().unwrap().unwrap().path();
    let kept = fs::read_to_string(run.join("stderr.log")).unwrap();
    assert_eq!(kept, "thinking\n");
    assert!(!taskie.has(".review-1.log"));
}

#[test]
fn a_run_that_timed_out_counts_with_an_estimated_cost() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    config(&taskie, "[review]\ndeadline = \"1s\"\n");
    taskie.set("MOCK_CLAUDE_DELAY", "300");
    let note = stop(&taskie, "s", "one").let_go();
    assert!(note.contains("did not finish within 1 s"), "{note}");
    let spent = status(&taskie)["spent"].as_u64().unwrap();
    assert!(spent > 0, "{spent}");
}
