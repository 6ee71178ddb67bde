//! Suite 3: state transitions.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::Taskie;

const ALL: [&str; 8] = [
    "max_reviews",
    "current_task",
    "phase",
    "phase_iteration",
    "next_phase",
    "review_model",
    "consecutive_clean",
    "tdd",
];

/// The state after a stop with this verdict.
fn after(verdict: &str, fields: Value) -> Value {
    let taskie = Taskie::with_state(fields);
    taskie.verdict(verdict);
    taskie.stop();
    taskie.state_now()
}

#[test]
fn suite_3_01_code_review() {
    let state = after(
        "FAIL",
        json!({"phase": "next-task", "next_phase": "code-review"}),
    );
    assert_eq!(
        state,
        json!({
            "max_reviews": 8, "current_task": "1", "phase": "code-review", "phase_iteration": 1,
            "next_phase": "post-code-review", "review_model": "sonnet", "consecutive_clean": 0,
            "tdd": false,
        })
    );
}

#[test]
fn suite_3_02_plan_review() {
    let state = after(
        "FAIL",
        json!({"phase": "new-plan", "next_phase": "plan-review", "current_task": null}),
    );
    assert_eq!(
        state,
        json!({
            "max_reviews": 8, "current_task": null, "phase": "plan-review", "phase_iteration": 1,
            "next_phase": "post-plan-review", "review_model": "sonnet", "consecutive_clean": 0,
            "tdd": false,
        })
    );
}

#[test]
fn suite_3_03_tasks_review() {
    let state = after(
        "FAIL",
        json!({"phase": "create-tasks", "next_phase": "tasks-review"}),
    );
    assert_eq!(state["phase"], "tasks-review");
    assert_eq!(state["next_phase"], "post-tasks-review");
    assert_eq!(state["phase_iteration"], 1);
    assert_eq!(state["review_model"], "sonnet");
}

#[test]
fn suite_3_04_opus_to_sonnet() {
    let state = after(
        "FAIL",
        json!({"next_phase": "code-review", "review_model": "opus"}),
    );
    assert_eq!(
        (&state["review_model"], &state["phase_iteration"]),
        (&json!("sonnet"), &json!(1))
    );
}

#[test]
fn suite_3_05_sonnet_to_opus() {
    let state = after(
        "FAIL",
        json!({"next_phase": "code-review", "review_model": "sonnet", "phase_iteration": 1}),
    );
    assert_eq!(
        (&state["review_model"], &state["phase_iteration"]),
        (&json!("opus"), &json!(2))
    );
}

#[test]
fn suite_3_06_the_iteration_is_incremented() {
    let state = after(
        "FAIL",
        json!({"next_phase": "code-review", "phase_iteration": 4}),
    );
    assert_eq!(state["phase_iteration"], 5);
}

#[test]
fn suite_3_07_max_reviews_is_preserved() {
    let state = after(
        "FAIL",
        json!({"next_phase": "code-review", "max_reviews": 5}),
    );
    assert_eq!(state["max_reviews"], 5);
}

#[test]
fn suite_3_08_current_task_is_preserved() {
    let state = after(
        "FAIL",
        json!({"next_phase": "code-review", "current_task": "3"}),
    );
    assert_eq!(state["current_task"], "3");
}

#[test]
fn suite_3_09_clean_is_counted() {
    let state = after(
        "PASS",
        json!({"next_phase": "code-review", "consecutive_clean": 0}),
    );
    assert_eq!(state["consecutive_clean"], 1);
}

#[test]
fn suite_3_10_issues_reset_the_count() {
    let state = after(
        "FAIL",
        json!({"next_phase": "code-review", "consecutive_clean": 1}),
    );
    assert_eq!(state["consecutive_clean"], 0);
}

#[test]
fn suite_3_11_code_advances_to_complete_task() {
    for (tdd, target) in [(false, "complete-task"), (true, "complete-task-tdd")] {
        let state = after(
            "PASS",
            json!({"next_phase": "code-review", "consecutive_clean": 1, "tdd": tdd}),
        );
        assert_eq!(state["next_phase"], target);
    }
}

#[test]
fn suite_3_12_plan_advances_to_create_tasks() {
    let state = after(
        "PASS",
        json!({"next_phase": "plan-review", "consecutive_clean": 1}),
    );
    assert_eq!(state["next_phase"], "create-tasks");
}

#[test]
fn suite_3_13_tasks_advance_to_complete_task() {
    let state = after(
        "PASS",
        json!({"next_phase": "tasks-review", "consecutive_clean": 1}),
    );
    assert_eq!(state["next_phase"], "complete-task");
}

#[test]
fn suite_3_14_all_code_advances_to_complete() {
    let state = after(
        "PASS",
        json!({"next_phase": "all-code-review", "consecutive_clean": 1}),
    );
    assert_eq!(state["next_phase"], "complete");
}

#[test]
fn suite_3_15_an_advance_writes_every_field() {
    let state = after(
        "PASS",
        json!({"next_phase": "code-review", "consecutive_clean": 1, "phase_iteration": 3}),
    );
    assert_eq!(
        state,
        json!({
            "max_reviews": 8, "current_task": "1", "phase": "code-review", "phase_iteration": 4,
            "next_phase": "complete-task", "review_model": "sonnet", "consecutive_clean": 2,
            "tdd": false,
        })
    );
}

#[test]
fn suite_3_16_the_state_is_whole_after_a_review() {
    let taskie = Taskie::planned();
    taskie.file("state.json", r#"{"next_phase": "plan-review"}"#);
    taskie.stop().blocked(&[]);
    let state = taskie.state_now();
    for field in ALL {
        assert!(state.get(field).is_some(), "{field} is missing");
    }
}
