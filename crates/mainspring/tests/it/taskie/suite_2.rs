//! Suite 2: the auto-review logic.

use serde_json::{Value, json};

use super::{Answer, Taskie};

/// Stops in this state: the project, the answer, and how often the stand-in was called.
fn stop(fields: Value) -> (Taskie, Answer, usize) {
    let taskie = Taskie::with_state(fields);
    let answer = taskie.stop();
    let calls = taskie.calls().len();
    (taskie, answer, calls)
}

#[test]
fn suite_2_01_trigger_code_review() {
    let (_, answer, calls) = stop(json!({"phase": "next-task", "next_phase": "code-review"}));
    answer.blocked(&["task-1-review-1.md"]);
    assert_eq!(calls, 1);
}

#[test]
fn suite_2_02_trigger_plan_review() {
    let (_, answer, calls) =
        stop(json!({"phase": "new-plan", "next_phase": "plan-review", "current_task": null}));
    answer.blocked(&["plan-review-1.md"]);
    assert_eq!(calls, 1);
}

#[test]
fn suite_2_03_trigger_tasks_review() {
    let (_, answer, calls) =
        stop(json!({"phase": "create-tasks", "next_phase": "tasks-review", "current_task": null}));
    answer.blocked(&["tasks-review-1.md"]);
    assert_eq!(calls, 1);
}

#[test]
fn suite_2_04_next_phase_null_is_standalone() {
    let (_, answer, calls) = stop(json!({"phase": "next-task", "next_phase": null}));
    answer.validated();
    assert_eq!(calls, 0);
}

#[test]
fn suite_2_05_a_post_review_is_the_agents() {
    let (_, answer, calls) = stop(
        json!({"phase": "code-review", "next_phase": "post-code-review", "phase_iteration": 1}),
    );
    answer.validated();
    assert_eq!(calls, 0);
}

#[test]
fn suite_2_06_max_reviews_is_a_hard_stop() {
    let (taskie, answer, calls) = stop(
        json!({"phase": "post-code-review", "next_phase": "code-review", "phase_iteration": 8}),
    );
    answer.validated();
    assert!(answer.message().contains("8 of 8 code reviews are done"));
    assert_eq!(calls, 0);
    assert_eq!(
        taskie.fields(&["phase", "next_phase", "phase_iteration"]),
        json!({"phase": "post-code-review", "next_phase": "code-review", "phase_iteration": 8})
    );
}

#[test]
fn suite_2_07_max_reviews_with_a_custom_limit() {
    let (_, answer, calls) =
        stop(json!({"next_phase": "code-review", "phase_iteration": 3, "max_reviews": 3}));
    answer.approved();
    assert_eq!(calls, 0);
}

#[test]
fn suite_2_08_no_state() {
    let taskie = Taskie::planned();
    taskie.stop().validated();
    assert_eq!(taskie.calls().len(), 0);
}

#[test]
fn suite_2_09_a_malformed_state() {
    let taskie = Taskie::planned();
    taskie.file("state.json", "\"not json\"");
    let answer = taskie.stop();
    answer.validated();
    assert!(answer.stderr.contains("invalid JSON"), "{answer:?}");
    assert_eq!(taskie.calls().len(), 0);
}

#[test]
fn suite_2_10_complete_task_is_no_review() {
    let (_, answer, calls) =
        stop(json!({"phase": "post-code-review", "next_phase": "complete-task"}));
    answer.validated();
    assert_eq!(calls, 0);
}

#[test]
fn suite_2_11_create_tasks_is_no_review() {
    let (_, answer, calls) =
        stop(json!({"phase": "post-plan-review", "next_phase": "create-tasks"}));
    answer.validated();
    assert_eq!(calls, 0);
}

#[test]
fn suite_2_12_trigger_all_code_review() {
    let (_, answer, _) =
        stop(json!({"phase": "post-code-review", "next_phase": "all-code-review"}));
    answer.blocked(&["all-code-review-1.md"]);
}

#[test]
fn suite_2_13_one_clean_review_is_not_enough() {
    let taskie = Taskie::with_state(json!({"next_phase": "code-review"}));
    taskie.verdict("PASS");
    taskie.stop().blocked(&["post-code-review"]);
    assert_eq!(taskie.state_now()["consecutive_clean"], 1);
}

#[test]
fn suite_2_14_two_clean_reviews_advance() {
    let taskie = Taskie::with_state(json!({"next_phase": "code-review", "consecutive_clean": 1}));
    taskie.verdict("PASS");
    taskie.stop().approved();
    assert_eq!(
        taskie.fields(&["consecutive_clean", "next_phase"]),
        json!({"consecutive_clean": 2, "next_phase": "complete-task"})
    );
}

#[test]
fn suite_2_15_clean_then_dirty_resets() {
    let taskie = Taskie::with_state(json!({"next_phase": "code-review", "consecutive_clean": 1}));
    taskie.verdict("FAIL");
    taskie.stop().blocked(&["post-code-review"]);
    assert_eq!(taskie.state_now()["consecutive_clean"], 0);
}
