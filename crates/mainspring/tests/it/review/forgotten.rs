//! What an agent forgets to say, tables as people write them, and several plans.

use std::fs;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{status, stop, trusted};
use crate::env::payload;
use crate::taskie::{TASKS, Taskie, write};

fn begin(taskie: &Taskie, session: &str) {
    let fields = json!({"session_id": session, "source": "startup"});
    let event = payload(&taskie.env.project(), "SessionStart", fields);
    let _ = taskie.run(&["hook"], event.to_string().as_bytes()).ok();
}

#[test]
fn a_row_that_turned_done_is_held_once_with_the_command() {
    let taskie = trusted(
        json!({"phase": "code-review", "next_phase": "complete-task",
        "current_task": "2"}),
    );
    assert_eq!(stop(&taskie, "s", "one").let_go(), "");
    taskie.file(
        "tasks.md",
        &TASKS.replace("| 3 | pending", "| 3 | done").replace(
            "| 3 | done | high | third | unit |\n",
            "| 3 | done | high | third | unit |\n| 4 | pending | low | fourth | unit |\n",
        ),
    );
    let held = stop(&taskie, "s", "two").held();
    let command = "`mainspring plan advance complete-task --task 3 --plan demo`";
    assert!(held.contains(command), "{held}");
    assert_eq!(stop(&taskie, "s", "three").let_go(), "", "held once");
    let _ = taskie
        .env
        .agent(
            "s",
            &[
                "plan",
                "advance",
                "complete-task",
                "--task",
                "3",
                "--plan",
                "demo",
            ],
        )
        .ok();
    let held = stop(&taskie, "s", "four").held();
    assert!(held.contains("task-3-review-1.md"), "{held}");
}

#[test]
fn an_answered_review_that_nobody_recorded_is_held_once_with_the_command() {
    let command = "`mainspring plan advance post-code-review --plan demo`";
    for obeys in [true, false] {
        let taskie = trusted(json!({"next_phase": "code-review"}));
        let _ = stop(&taskie, "s", "one").held();
        let said = stop(&taskie, "s", "two").let_go();
        assert!(said.contains("waits for its answer"), "{said}");
        taskie.file("task-1-post-review-1.md", "fixed");
        let held = stop(&taskie, "s", "three").held();
        assert!(held.contains(command), "{held}");
        assert_eq!(taskie.calls().len(), 1, "no reviewer yet");
        if obeys {
            let advance = ["plan", "advance", "post-code-review", "--plan", "demo"];
            let _ = taskie.env.agent("s", &advance).ok();
        }
        let held = stop(&taskie, "s", "four").held();
        assert!(held.contains("task-1-review-2.md"), "{held}");
        // The next one is another answer.
        taskie.file("task-1-post-review-2.md", "fixed");
        let held = stop(&taskie, "s", "five").held();
        assert!(held.contains(command), "{held}");
        assert_eq!(taskie.models(), ["opus", "sonnet"]);
    }
}

#[test]
fn a_plan_that_this_session_wrote_and_did_not_record_is_held_once_with_the_command() {
    let taskie = Taskie::new();
    taskie.file("notes.txt", "an old folder");
    begin(&taskie, "s");
    taskie.file("plan.md", "# Plan\n\n## Overview\n");
    let held = stop(&taskie, "s", "one").held();
    assert!(held.contains("`mainspring plan init demo`"), "{held}");
    let note = stop(&taskie, "s", "two").let_go();
    assert!(note.contains("still broken"), "{note}");
    let _ = taskie.env.agent("s", &["plan", "init", "demo"]).ok();
    let held = stop(&taskie, "s", "three").held();
    assert!(held.contains("plan-review-1.md"), "{held}");
}

#[test]
fn a_plan_from_before_this_session_is_nobodys_to_record() {
    let taskie = Taskie::planned();
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(3_600);
    let plan = fs::File::options()
        .append(true)
        .open(taskie.dir().join("plan.md"));
    plan.unwrap().set_modified(old).unwrap();
    begin(&taskie, "s");
    assert_eq!(stop(&taskie, "s", "one").let_go(), "");
}

#[test]
fn a_task_that_does_not_exist_is_refused_and_not_reviewed() {
    let taskie = trusted(json!({"next_phase": null}));
    let args = ["plan", "advance", "complete-task", "--task", "9"];
    let refused = taskie.env.agent("s", &args).failed();
    assert!(
        refused.contains("tasks.md of plan 'demo' has no task 9"),
        "{refused}"
    );
    assert!(refused.contains("its tasks are 1, 2, 3"), "{refused}");
    taskie.state(json!({"next_phase": "code-review", "current_task": "9"}));
    let note = stop(&taskie, "s", "one").let_go();
    assert!(note.contains("has no such task"), "{note}");
    assert_eq!(taskie.calls().len(), 0);
}

#[test]
fn a_cancelled_last_task_leads_to_the_final_review() {
    let taskie = trusted(
        json!({"phase": "code-review", "next_phase": "complete-task",
        "current_task": "2"}),
    );
    taskie.file(
        "tasks.md",
        &TASKS.replace("| 3 | pending", "| 3 | cancelled"),
    );
    let route = taskie.env.agent("s", &["plan", "route"]).ok();
    assert!(route.contains("No task is left"), "{route}");
    let note = stop(&taskie, "s", "one").let_go();
    assert!(note.contains("no task is left"), "{note}");
    assert_eq!(taskie.state_now()["next_phase"], "all-code-review");
    let held = stop(&taskie, "s", "two").held();
    assert!(held.contains("all-code-review-1.md"), "{held}");
}

#[test]
fn a_task_that_is_added_when_the_final_review_is_due_comes_first() {
    let taskie = trusted(
        json!({"phase": "code-review", "next_phase": "complete-task",
        "current_task": "2"}),
    );
    taskie.file(
        "tasks.md",
        &TASKS.replace("| 3 | pending", "| 3 | cancelled"),
    );
    let _ = stop(&taskie, "s", "one").let_go();
    let more = "| 4 | pending | low | fourth | unit |\n";
    taskie.file(
        "tasks.md",
        &(TASKS.replace("| 3 | pending", "| 3 | cancelled") + more),
    );
    let route = taskie.env.agent("s", &["plan", "route", "--json"]).json();
    assert_eq!(
        route["step"],
        json!({"do": "act", "action": "complete-task", "task": "4"})
    );
    let note = stop(&taskie, "s", "two").let_go();
    assert!(note.contains("task 4 was added"), "{note}");
    assert_eq!(
        taskie.fields(&["next_phase", "phase_iteration"]),
        json!({"next_phase": "complete-task", "phase_iteration": null})
    );
    assert_eq!(taskie.calls().len(), 0);
}

/// Tables as people and agents write them: the last task is done, so all code comes next.
#[test]
fn signs_columns_and_links_do_not_hide_that_a_task_is_done_or_open() {
    let tables = [
        (
            "| Id | Status |\n|--|--|\n| 1 | ✅ done |\n",
            "all-code-review",
        ),
        (
            "| Id | Status |\n|--|--|\n| 1 | **Done** ✔ |\n",
            "all-code-review",
        ),
        (
            "| Title | Id | Prio | Status |\n|--|--|--|--|\n| a | 1 | high | done |\n",
            "all-code-review",
        ),
        (
            "| Id | Status |\n|--|--|\n| [1](task-1.md) | done |\n",
            "all-code-review",
        ),
        (
            "| Id | Title | Status |\n|--|--|--|\n| [1](task-1.md) | a | done |\n| [2](task-2.md) | b | ⏳ pending |\n",
            "complete-task",
        ),
    ];
    for (table, next) in tables {
        let taskie = trusted(json!({"next_phase": "code-review"}));
        taskie.file("tasks.md", table);
        taskie.verdict("PASS");
        let _ = stop(&taskie, "s", "one").held();
        taskie.post_review();
        let _ = stop(&taskie, "s", "two").let_go();
        assert_eq!(taskie.state_now()["next_phase"], next, "{table}");
    }
}

#[test]
fn a_plan_is_recorded_without_a_plan_file_and_says_so() {
    let taskie = Taskie::new();
    let did = taskie.env.agent("s", &["plan", "init", "demo"]).ok();
    assert!(
        did.contains(".taskie/plans/demo/plan.md does not exist"),
        "{did}"
    );
}

#[test]
fn a_deleted_and_recreated_plan_is_a_new_one_with_its_own_spending() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    let _ = stop(&taskie, "s", "one").held();
    assert_eq!(status(&taskie)["spent"], 250_000);
    fs::remove_dir_all(taskie.dir()).unwrap();
    taskie.file("plan.md", "# Another plan\n\n## Overview\n");
    let _ = taskie.env.agent("s", &["plan", "init", "demo"]).ok();
    assert_eq!(status(&taskie)["spent"], 0);
    // Whoever only deletes the state has the same plan.
    let _ = stop(&taskie, "s", "two").held();
    fs::remove_file(taskie.dir().join("state.json")).unwrap();
    let _ = taskie.env.agent("s", &["plan", "init", "demo"]).ok();
    assert_eq!(status(&taskie)["spent"], 250_000);
}

#[test]
fn an_old_plan_of_nobody_never_hides_this_sessions_due_review() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    let _ = taskie.env.agent("s", &["plan", "adopt"]).ok();
    let old = taskie.env.project().join(".taskie/plans/old");
    write(&old.join("plan.md"), "# Old\n\n## Overview\n");
    let held = stop(&taskie, "s", "one").held();
    assert!(held.contains("plans/demo/plan-review-1.md"), "{held}");
    assert!(
        held.contains("--plan demo`"),
        "every command names its plan: {held}"
    );
    assert_eq!(taskie.state_now()["phase"], Value::from("plan-review"));
}
