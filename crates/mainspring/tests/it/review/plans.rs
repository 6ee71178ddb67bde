//! Which session a plan belongs to, and what advances it.

use std::fs;

use pretty_assertions::assert_eq;
use serde_json::json;

use super::{stop, trusted};
use crate::env::finish;
use crate::taskie::{Taskie, write};

#[test]
fn another_sessions_stop_leaves_the_plan_alone_and_hears_of_it_once() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    let _ = stop(&taskie, "owner", "one").held();
    taskie.post_review();
    let said = stop(&taskie, "guest", "one").let_go();
    assert!(said.contains("belongs to session owner"), "{said}");
    assert_eq!(stop(&taskie, "guest", "two").let_go(), "");
    assert_eq!(taskie.calls().len(), 1);
    assert!(
        stop(&taskie, "owner", "two")
            .held()
            .contains("plan-review-2.md")
    );
    taskie.post_review();
    let _ = taskie.env.agent("guest", &["plan", "adopt"]).ok();
    assert!(
        stop(&taskie, "guest", "three")
            .held()
            .contains("plan-review-3.md")
    );
}

#[test]
fn two_plans_of_two_sessions_do_not_meet() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    let _ = taskie.env.agent("one", &["plan", "adopt"]).ok();
    let other = taskie.env.project().join(".taskie/plans/other");
    write(&other.join("plan.md"), "# Plan\n\n## Overview\n");
    let _ = taskie.env.agent("two", &["plan", "init", "other"]).ok();
    assert!(
        stop(&taskie, "one", "x")
            .held()
            .contains("plans/demo/plan-review-1.md")
    );
    assert!(
        stop(&taskie, "two", "x")
            .held()
            .contains("plans/other/plan-review-1.md")
    );
}

#[test]
fn an_unknown_phase_is_reported_and_kept() {
    let taskie = trusted(json!({"next_phase": "polish"}));
    let before = fs::read_to_string(taskie.dir().join("state.json")).unwrap();
    let said = stop(&taskie, "s", "one").held();
    assert!(said.contains("\"polish\""), "{said}");
    assert!(
        said.contains("`mainspring plan repair --plan demo`"),
        "{said}"
    );
    assert_eq!(
        fs::read_to_string(taskie.dir().join("state.json")).unwrap(),
        before
    );
    assert_eq!(taskie.calls().len(), 0);
}

#[test]
fn an_unknown_phase_with_a_known_next_phase_gets_its_due_review() {
    let taskie = trusted(json!({"phase": "polish", "next_phase": "code-review"}));
    let held = stop(&taskie, "s", "one").held();
    assert!(held.contains("task-1-review-1.md"), "{held}");
}

#[test]
fn the_verbs_move_a_plan_as_the_actions_say() {
    let taskie = Taskie::new();
    let agent = |args: &[&str]| {
        let mut command = taskie.command();
        finish(command.args(args).env("CLAUDE_CODE_SESSION_ID", "s"), b"")
    };
    let _ = agent(&["plan", "init", "demo"]).ok();
    taskie.file("plan.md", "# Plan\n\n## Overview\n");
    assert_eq!(
        taskie.state_now(),
        json!({
            "max_reviews": 8, "current_task": null, "phase": "new-plan", "phase_iteration": 0,
            "next_phase": "plan-review", "review_model": "opus", "consecutive_clean": 0,
            "tdd": false,
        })
    );
    let again = agent(&["plan", "init", "demo"]).failed();
    assert!(again.contains("exists already"), "{again}");
    let around = agent(&["plan", "advance", "complete"]).failed();
    assert!(
        around.contains("the plan review of plan 'demo' is not over"),
        "{around}"
    );
    let wrong = agent(&["plan", "advance", "finish"]).failed();
    assert!(
        wrong.contains("the phases are new-plan, plan-review"),
        "{wrong}"
    );
    let route = agent(&["plan", "route"]).ok();
    assert!(
        route.contains("The plan review starts when you stop"),
        "{route}"
    );
    let route = agent(&["plan", "route", "--json"]).json();
    assert_eq!(route["step"]["do"], "stop");
    assert_eq!(route["by"], "state");
    let person = |args: &[&str]| finish(taskie.command().args(args), b"");
    let _ = taskie.env.in_terminal(&["plan", "accept"]).ok();
    let _ = person(&["plan", "set", "max_reviews", "3"]).ok();
    let _ = agent(&["plan", "advance", "complete-task-tdd", "--task", "4"]).ok();
    assert_eq!(
        taskie.fields(&["phase", "next_phase", "current_task", "tdd", "max_reviews"]),
        json!({
            "phase": "complete-task-tdd", "next_phase": "code-review", "current_task": "4",
            "tdd": true, "max_reviews": 3,
        })
    );
    let listed = agent(&["plan", "list", "--json"]).json()["plans"].clone();
    assert_eq!(listed[0]["plan"], "demo");
    assert_eq!(listed[0]["stage"], "Implementation");
    assert_eq!(listed[0]["owner"], "s");
}

#[test]
fn a_plan_without_a_state_is_routed_by_its_files_and_history() {
    let taskie = Taskie::planned();
    for args in [
        vec!["init", "-q"],
        vec!["add", "."],
        vec![
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@t",
            "commit",
            "-qm",
            "Plan the work",
        ],
    ] {
        let git = std::process::Command::new("git")
            .args(&args)
            .current_dir(taskie.env.project())
            .output()
            .unwrap();
        assert!(git.status.success(), "{git:?}");
    }
    let route = taskie.run(&["plan", "route", "--json"], b"").json();
    assert_eq!(route["by"], "history");
    assert_eq!(
        route["step"],
        json!({"do": "act", "action": "next-task", "task": "3"})
    );
    assert!(
        route["history"][0]
            .as_str()
            .unwrap()
            .ends_with("Plan the work")
    );
}
