//! Suite 6: edge cases and integration.

use std::fs;
use std::time::{Duration, SystemTime};

use serde_json::json;

use super::{TASKS, Taskie, write};

#[test]
fn suite_6_01_several_plans() {
    let taskie = Taskie::with_state(json!({"next_phase": "plan-review"}));
    let other = taskie.env.project().join(".taskie/plans/older");
    write(&other.join("invalid.md"), "x");
    let yesterday = SystemTime::now() - Duration::from_secs(86_400);
    let file = fs::File::options()
        .append(true)
        .open(other.join("invalid.md"));
    file.unwrap().set_modified(yesterday).unwrap();
    taskie
        .stop()
        .blocked(&[".taskie/plans/demo/plan-review-1.md"]);
}

#[test]
fn suite_6_02_unknown_fields() {
    let taskie = Taskie::with_state(json!({"next_phase": "code-review", "custom_field": 42}));
    taskie.stop().blocked(&["task-1-review-1.md"]);
    assert_eq!(taskie.state_now()["custom_field"], 42);
}

#[test]
fn suite_6_03_a_null_iteration_is_standalone() {
    let taskie = Taskie::with_state(json!({"phase_iteration": null, "next_phase": null}));
    taskie.stop().validated();
    assert_eq!(taskie.calls().len(), 0);
}

#[test]
fn suite_6_04_an_unexpected_model() {
    let taskie = Taskie::with_state(json!({"next_phase": "code-review", "review_model": "haiku"}));
    taskie.stop().blocked(&[]);
    assert_eq!(taskie.models(), ["haiku"]);
    assert_eq!(taskie.state_now()["review_model"], "opus");
}

#[test]
fn suite_6_05_a_state_before_its_plan() {
    let taskie = Taskie::new();
    taskie.state(json!({}));
    taskie.stop().blocked(&["Missing required file: plan.md"]);
}

#[test]
fn suite_6_06_a_review_comes_before_validation() {
    let taskie = Taskie::with_state(json!({"next_phase": "code-review"}));
    taskie.file("nested/extra.md", "x");
    taskie.stop().blocked(&["task-1-review-1.md"]);
    taskie.stop().blocked(&["nested"]);
}

#[test]
fn suite_6_07_no_plan_in_the_directory() {
    let taskie = Taskie::new();
    fs::create_dir_all(taskie.dir().parent().unwrap()).unwrap();
    let answer = taskie.stop();
    answer.approved();
    assert_eq!(answer.json, json!({"suppressOutput": true}));
    fs::create_dir(taskie.dir()).unwrap();
    taskie.stop().approved();
}

#[test]
fn suite_6_08_max_reviews_0() {
    let taskie = Taskie::with_state(json!({"max_reviews": 0, "next_phase": "code-review"}));
    taskie.stop().approved();
    assert_eq!(
        taskie.fields(&["phase", "next_phase", "phase_iteration"]),
        json!({"phase": "code-review", "next_phase": "complete-task", "phase_iteration": 0})
    );
    assert_eq!(taskie.calls().len(), 0);
}

#[test]
fn suite_6_09_no_state_and_a_valid_plan() {
    let taskie = Taskie::planned();
    taskie.stop().validated();
    assert_eq!(taskie.calls().len(), 0);
    assert!(!taskie.has("state.json"), "none is made up");
}

#[test]
fn suite_6_10_models_alternate_over_four_reviews() {
    let taskie = Taskie::with_state(json!({"next_phase": "code-review"}));
    let mut next = vec![];
    for _ in 0..4 {
        taskie.stop().blocked(&[]);
        next.push(taskie.state_now()["review_model"].clone());
        taskie.post_review();
    }
    assert_eq!(taskie.models(), ["opus", "sonnet", "opus", "sonnet"]);
    assert_eq!(next, ["sonnet", "opus", "sonnet", "opus"]);
}

#[test]
fn suite_6_11_two_clean_reviews_advance() {
    let taskie = Taskie::with_state(json!({"next_phase": "plan-review"}));
    taskie.verdict("PASS");
    taskie.stop().blocked(&["plan-review-1.md"]);
    taskie.post_review();
    taskie.stop().approved();
    assert_eq!(taskie.state_now()["next_phase"], "create-tasks");
}

#[test]
fn suite_6_12_no_temporary_file_is_left() {
    let taskie = Taskie::with_state(json!({"next_phase": "code-review"}));
    taskie.stop().blocked(&[]);
    let mut names: Vec<String> = fs::read_dir(taskie.dir())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        ["plan.md", "state.json", "task-1-review-1.md", "tasks.md"]
    );
    assert_eq!(
        fs::read_to_string(taskie.dir().join("tasks.md")).unwrap(),
        TASKS
    );
}
