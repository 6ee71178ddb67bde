//! Suite 4: how the reviewer is called.

use serde_json::{Value, json};

use super::Taskie;

/// The arguments after a stop in this state.
fn args(fields: Value) -> Vec<String> {
    let taskie = Taskie::with_state(fields);
    taskie.stop();
    let mut calls = taskie.calls();
    assert_eq!(calls.len(), 1);
    calls.remove(0)
}

fn has_pair(args: &[String], flag: &str, value: &str) -> bool {
    args.windows(2)
        .any(|pair| pair[0] == flag && pair[1] == value)
}

fn code() -> Value {
    json!({"next_phase": "code-review"})
}

#[test]
fn suite_4_01_model_opus() {
    let args = args(json!({"next_phase": "code-review", "review_model": "opus"}));
    assert!(has_pair(&args, "--model", "opus"), "{args:?}");
}

#[test]
fn suite_4_02_model_sonnet() {
    let args = args(json!({"next_phase": "code-review", "review_model": "sonnet"}));
    assert!(has_pair(&args, "--model", "sonnet"), "{args:?}");
}

#[test]
fn suite_4_03_permissions_are_skipped() {
    // In `hook`, they are scoped for root: see the test of the argument list there.
    assert!(args(code()).contains(&"--dangerously-skip-permissions".into()));
}

#[test]
fn suite_4_04_print() {
    assert!(args(code()).contains(&"--print".into()));
}

/// The prompt, which is the last argument.
fn prompt(fields: Value) -> String {
    args(fields).pop().unwrap()
}

#[test]
fn suite_4_05_code_review_prompt() {
    let prompt = prompt(json!({"next_phase": "code-review", "current_task": "3"}));
    for piece in [
        "demo/plan.md",
        "task-3.md",
        "task-3-review-1.md",
        "code-review.md",
        "ground-rules.md",
    ] {
        assert!(prompt.contains(piece), "{piece}: {prompt}");
    }
}

#[test]
fn suite_4_06_plan_review_prompt() {
    let prompt = prompt(json!({"next_phase": "plan-review"}));
    for piece in ["plan.md", "plan-review-1.md", "actions/plan-review.md"] {
        assert!(prompt.contains(piece), "{piece}: {prompt}");
    }
}

#[test]
fn suite_4_07_tasks_review_prompt() {
    let prompt = prompt(json!({"next_phase": "tasks-review"}));
    for piece in [
        "tasks.md",
        "tasks-review-1.md",
        "task-1.md",
        "task-2.md",
        "task-3.md",
    ] {
        assert!(prompt.contains(piece), "{piece}: {prompt}");
    }
}

#[test]
fn suite_4_08_all_code_review_prompt() {
    let prompt = prompt(json!({"next_phase": "all-code-review"}));
    for piece in [
        "all-code-review.md",
        "all-code-review-1.md",
        "tasks.md",
        "task-3.md",
    ] {
        assert!(prompt.contains(piece), "{piece}: {prompt}");
    }
}

#[test]
fn suite_4_09_the_review_is_where_it_belongs() {
    let taskie = Taskie::with_state(
        json!({"next_phase": "code-review", "current_task": "2", "phase_iteration": 2}),
    );
    taskie.stop().blocked(&[]);
    assert!(taskie.has("task-2-review-3.md"));
    assert!(!taskie.has(".review-3.log"), "the log goes with success");
}

/// The stop was approved after validation, and the state is unchanged.
fn assert_let_through(taskie: &Taskie, cause: &str) {
    let before = taskie.state_now();
    let answer = taskie.stop();
    answer.validated();
    assert!(answer.stderr.contains(cause), "{answer:?}");
    assert_eq!(taskie.state_now(), before, "nothing is consumed");
}

#[test]
fn suite_4_10_no_reviewer_on_the_path() {
    let taskie = Taskie::with_state(code());
    taskie.set("PATH", "/usr/bin:/bin");
    assert_let_through(&taskie, "`claude` was not found");
}

#[test]
fn suite_4_11_the_reviewer_fails() {
    let taskie = Taskie::with_state(code());
    taskie.set("MOCK_CLAUDE_EXIT_CODE", "1");
    taskie.set("MOCK_CLAUDE_NO_FILE", "1");
    assert_let_through(&taskie, "ended with exit code 1: mock: something broke");
    let log = std::fs::read_to_string(taskie.dir().join(".review-1.log")).unwrap();
    assert!(
        log.contains("mock: something broke"),
        "the log is kept: {log}"
    );
}

#[test]
fn suite_4_12_the_reviewer_writes_nothing() {
    let taskie = Taskie::with_state(code());
    taskie.set("MOCK_CLAUDE_NO_FILE", "1");
    assert_let_through(&taskie, "did not write task-1-review-1.md");
}

#[test]
fn suite_4_13_the_reviewer_takes_too_long() {
    let taskie = Taskie::with_state(code());
    taskie.set("MOCK_CLAUDE_DELAY", "3600");
    let config = taskie.env.home().join(".config/mainspring/config.toml");
    super::write(&config, "[review]\ndeadline = \"1s\"\n");
    assert_let_through(&taskie, "did not finish within 1 s");
}

#[test]
fn suite_4_14_structured_output_is_asked_for() {
    let args = args(code());
    assert!(has_pair(&args, "--output-format", "json"), "{args:?}");
    assert!(args.contains(&"--json-schema".into()));
}
