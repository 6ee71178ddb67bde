//! Suite 1: validation rules.

use serde_json::{Value, json};

use super::Taskie;

#[test]
fn suite_1_01_nothing_else_is_needed() {
    // The seed checks for jq. We need no other program, so an empty PATH is enough.
    let taskie = Taskie::planned();
    taskie.set("PATH", "");
    taskie.stop().validated();
}

#[test]
fn suite_1_02_invalid_json_is_exit_2() {
    let answer = Taskie::planned().answer_to(b"invalid json");
    assert_eq!(answer.code, Some(2));
    assert!(answer.stderr.contains("Invalid JSON"), "{answer:?}");
}

#[test]
fn suite_1_03_an_invalid_directory_is_exit_2() {
    let answer = Taskie::planned().answer_to(br#"{"cwd": "/nonexistent"}"#);
    assert_eq!(answer.code, Some(2));
    assert!(
        answer
            .stderr
            .contains("Cannot change to project directory: /nonexistent"),
        "{answer:?}"
    );
    // Hosts take exit code 2 as a block, so we never use it if the agent was already continued.
    let answer =
        Taskie::planned().answer_to(br#"{"cwd": "/nonexistent", "stop_hook_active": true}"#);
    assert_eq!(answer.code, Some(0));
}

#[test]
fn suite_1_04_stop_hook_active_alone_approves() {
    // DESIGN.md: a payload with only this field is approved; with a plan, the field is only
    // information.
    let answer = Taskie::planned().answer_to(br#"{"stop_hook_active": true}"#);
    answer.approved();
    assert_eq!(answer.json, json!({"suppressOutput": true}));
}

#[test]
fn suite_1_05_no_taskie_directory() {
    let answer = Taskie::new().stop();
    answer.approved();
    assert_eq!(answer.json, json!({"suppressOutput": true}));
}

#[test]
fn suite_1_06_a_valid_plan() {
    let answer = Taskie::planned().stop();
    answer.validated();
    assert_eq!(answer.json["suppressOutput"], true);
    assert_eq!(answer.stderr, "");
}

#[test]
fn suite_1_07_no_plan_and_an_invalid_filename() {
    let taskie = Taskie::new();
    taskie.file("invalid-file.md", "x");
    taskie.stop().blocked(&[
        "Plan 'demo': Missing required file: plan.md; Invalid filename: invalid-file.md",
    ]);
}

#[test]
fn suite_1_08_nested_directories() {
    let taskie = Taskie::planned();
    taskie.file("nested/extra.md", "x");
    taskie.stop().blocked(&["nested"]);
}

#[test]
fn suite_1_09_a_review_without_its_base() {
    let taskie = Taskie::planned();
    taskie.file("design-review-1.md", "x");
    taskie
        .stop()
        .blocked(&["design-review-1.md requires design.md"]);
}

#[test]
fn suite_1_10_a_post_review_without_its_review() {
    let taskie = Taskie::planned();
    taskie.file("plan-post-review-1.md", "x");
    taskie
        .stop()
        .blocked(&["plan-post-review-1.md requires plan-review-1.md"]);
}

#[test]
fn suite_1_11_task_files_without_a_table() {
    let taskie = Taskie::new();
    taskie.file("plan.md", "x");
    taskie.file("task-1.md", "x");
    taskie
        .stop()
        .blocked(&["Task files exist but tasks.md is missing"]);
}

#[test]
fn suite_1_12_prose_in_tasks_md() {
    let taskie = Taskie::planned();
    taskie.file("tasks.md", "These are the tasks.\n");
    taskie.stop().blocked(&["non-table"]);
}

#[test]
fn suite_1_13_an_empty_tasks_md() {
    let taskie = Taskie::planned();
    taskie.file("tasks.md", "");
    taskie.stop().blocked(&["no table rows"]);
}

#[test]
fn suite_1_14_state_json_is_no_invalid_filename() {
    Taskie::with_state(json!({})).stop().validated();
}

#[test]
fn suite_1_15_an_invalid_state_only_warns() {
    for text in ["not valid json", "\"not valid json\""] {
        let taskie = Taskie::planned();
        taskie.file("state.json", text);
        let answer = taskie.stop();
        answer.validated();
        assert!(
            answer
                .message()
                .contains("state.json contains invalid JSON")
        );
        assert!(answer.stderr.contains("state.json contains invalid JSON"));
        let kept = std::fs::read_to_string(taskie.dir().join("state.json")).unwrap();
        assert_eq!(kept, text, "it is never written over");
    }
}

#[test]
fn suite_1_16_missing_fields_only_warn() {
    let taskie = Taskie::planned();
    taskie.file("state.json", r#"{"phase": "new-plan"}"#);
    let answer = taskie.stop();
    answer.validated();
    assert!(
        answer.stderr.contains(
            "state.json missing required fields: next_phase, review_model, max_reviews, \
             consecutive_clean, tdd"
        ),
        "{answer:?}"
    );
}

#[test]
fn suite_1_17_a_valid_state_warns_of_nothing() {
    let answer = Taskie::with_state(json!({})).stop();
    answer.validated();
    assert_eq!(answer.stderr, "");
}

/// What users grep for in the output of the public hook: the spaces, and these words.
#[test]
fn the_output_is_spaced_and_worded_as_the_public_hooks() {
    let said = |taskie: &Taskie, input: &str| {
        let ran = taskie.run(&["compat", "taskie"], input.as_bytes());
        (ran.code, ran.stdout, ran.stderr)
    };
    let stop = |taskie: &Taskie| {
        let cwd = taskie.env.project();
        said(
            taskie,
            &json!({ "cwd": cwd, "stop_hook_active": false }).to_string(),
        )
    };
    let good = "{\"systemMessage\": \"Plan 'demo' structure validated successfully\", \
                \"suppressOutput\": true}\n";
    let quiet = "{\"suppressOutput\": true}\n";
    let out = |code, stdout: &str, stderr: &str| (Some(code), stdout.to_owned(), stderr.to_owned());
    assert_eq!(stop(&Taskie::new()), out(0, quiet, ""));
    assert_eq!(stop(&Taskie::planned()), out(0, good, ""));
    assert_eq!(
        said(&Taskie::planned(), "{}"),
        out(0, good, ""),
        "without a cwd it is the script's own"
    );
    assert_eq!(
        said(
            &Taskie::planned(),
            r#"{"cwd": ".", "stop_hook_active": true}"#
        ),
        out(0, good, "")
    );
    let taskie = Taskie::new();
    taskie.file("invalid-file.md", "x");
    let blocked = "{\"decision\": \"block\", \"reason\": \"Plan 'demo': Missing required file: \
                   plan.md; Invalid filename: invalid-file.md\"}\n";
    assert_eq!(stop(&taskie), out(0, blocked, ""));
    let taskie = Taskie::planned();
    taskie.file("state.json", "{");
    let (code, stdout, stderr) = stop(&taskie);
    assert_eq!(
        (code, stdout.contains("validated successfully")),
        (Some(0), true)
    );
    assert!(
        stderr.starts_with("Warning: state.json contains invalid JSON"),
        "{stderr}"
    );
    let (code, stdout, stderr) = said(&Taskie::planned(), "invalid json");
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    assert!(stderr.starts_with("Error: Invalid JSON input"), "{stderr}");
    assert_eq!(
        said(&Taskie::planned(), r#"{"cwd": "/nonexistent/directory"}"#),
        out(
            2,
            "",
            "Error: Cannot change to project directory: /nonexistent/directory\n"
        )
    );
}

/// The public suites look for these words on stdout.
#[test]
fn what_was_not_reviewed_is_said_in_the_public_hooks_words() {
    let due = |fields: Value| {
        let mut all = json!({ "phase": "next-task", "next_phase": "code-review" });
        let fields = fields.as_object().unwrap().clone();
        all.as_object_mut().unwrap().extend(fields);
        Taskie::with_state(all)
    };
    let spent = json!({ "phase_iteration": 3, "max_reviews": 3 });
    let no_tasks = json!({ "next_phase": "all-code-review" });
    for (taskie, words) in [
        (due(spent), "Max review limit (3) reached"),
        (due(json!({ "max_reviews": 0 })), "max_reviews=0"),
        (due(json!({ "current_task": null })), "Task file not found"),
        (due(no_tasks.clone()), "No task files found"),
        (due(json!({})), "Review failed"),
        (due(json!({})), "claude CLI not found"),
    ] {
        match words {
            "No task files found" => taskie.file("tasks.md", "| Id | Status |\n|----|----|\n"),
            "Review failed" => taskie.set("MOCK_CLAUDE_EXIT_CODE", "1"),
            "claude CLI not found" => taskie.set("PATH", "/nonexistent"),
            _ => {}
        }
        let answer = taskie.stop();
        answer.approved();
        assert!(answer.message().contains(words), "{words}: {answer:?}");
    }
}
