//! Suite 5: what the agent is told.

use serde_json::json;

use super::Taskie;

#[test]
fn suite_5_01_code_review() {
    let taskie = Taskie::with_state(
        json!({"next_phase": "code-review", "current_task": "2", "phase_iteration": 2}),
    );
    taskie.stop().blocked(&[
        "task-2-review-3.md",
        "task-2-post-review-3.md",
        "post-code-review",
        "state.json",
        "mainspring plan advance post-code-review",
        "(To stop the review loop, set next_phase to null in state.json.)",
    ]);
}

#[test]
fn suite_5_02_plan_review() {
    let taskie = Taskie::with_state(json!({"next_phase": "plan-review"}));
    taskie
        .stop()
        .blocked(&["plan-review-1.md", "post-plan-review", "plan.md"]);
}

#[test]
fn suite_5_03_tasks_review() {
    let taskie = Taskie::with_state(json!({"next_phase": "tasks-review", "phase_iteration": 1}));
    taskie
        .stop()
        .blocked(&["tasks-review-2.md", "post-tasks-review", "tasks.md"]);
}

#[test]
fn suite_5_04_all_code_review() {
    let taskie = Taskie::with_state(json!({"next_phase": "all-code-review"}));
    taskie
        .stop()
        .blocked(&["all-code-review-1.md", "post-all-code-review"]);
}

#[test]
fn suite_5_05_the_plans_own_directory() {
    let taskie = Taskie::with_state(json!({"next_phase": "plan-review"}));
    taskie.stop().blocked(&[".taskie/plans/demo/"]);
}

#[test]
fn suite_5_06_one_json_object() {
    let taskie = Taskie::with_state(json!({"next_phase": "plan-review"}));
    let payload = json!({ "cwd": taskie.env.project() }).to_string();
    let ran = taskie.run(&["compat", "taskie"], payload.as_bytes());
    let answer: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(answer["decision"], "block");
}
