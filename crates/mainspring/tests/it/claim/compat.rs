//! The drop-in for the public script: its arguments, its stdin, and its message to the agent.

use serde_json::{Value, json};

use super::world::{BRANCH, World, untrusted};
use crate::env::{Ran, finish};

fn sync(world: &World, event: &str) -> Ran {
    let mut command = world.env.command();
    command
        .args(["compat", "agent-sync", event])
        .env("CLAUDE_PROJECT_DIR", ".");
    finish(&mut command, b"{}")
}

fn context(ran: &Ran) -> String {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    answer["additionalContext"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

#[test]
fn the_documented_manual_test_works_phase_by_phase() {
    let Some(world) = untrusted() else { return };
    world.env.trust();
    let said = context(&sync(&world, "session-start"));
    assert!(said.contains("Project board Board 1: Todo 2"), "{said}");
    assert_eq!(
        context(&sync(&world, "on-stop")),
        "",
        "no claim file, no words"
    );

    world.work();
    std::fs::write(
        world.file(),
        json!({
            "schema_version": 1, "item_id": "TEST", "issue_number": 42, "branch": BRANCH,
            "agent_id": "test", "phase": "ready_for_pr", "summary": "Test PR", "status": "In Review",
            "pr_number": null, "last_check_poll": null, "last_synced_status": null,
        })
        .to_string(),
    )
    .unwrap();
    let ran = sync(&world, "on-stop");
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(context(&ran).starts_with("PR #44 created: https://github.com/acme/widgets/pull/44"));
    assert_eq!(
        answer["hookSpecificOutput"]["hookEventName"], "Stop",
        "where the host looks"
    );
    assert_eq!(world.widgets().pull(44).title, "Test PR");

    world.edit(json!({ "phase": "done" }));
    let said = context(&sync(&world, "on-stop"));
    assert!(said.contains("pull request #44 is not merged"), "{said}");
    assert_eq!(world.github.closes(), 0);
    world.edit(json!({ "phase": "pr_created" }));

    world.widgets().merge(44);
    let said = context(&sync(&world, "on-idle"));
    assert!(
        said.starts_with("PR #44 merged! Should I close issue #42?"),
        "{said}"
    );

    world.edit(json!({ "phase": "done" }));
    let said = context(&sync(&world, "on-stop"));
    assert!(
        said.ends_with("Issue #42 closed. Board → Done. Signal file cleaned up."),
        "{said}"
    );
    assert!(!world.file().exists());
}

#[test]
fn what_is_wrong_never_stops_the_agent() {
    let Some(world) = untrusted() else { return };
    std::fs::write(world.file(), "{").unwrap();
    let ran = sync(&world, "on-stop");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains(".agent-claim.json"), "{}", ran.stderr);
    let shown: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(shown["systemMessage"], ran.stderr.trim_end());
    let usage = sync(&world, "on-fire");
    assert_eq!(usage.code, Some(1));
    assert!(usage.stderr.starts_with("Usage:"), "{}", usage.stderr);
}

/// A host shows nobody the stderr of a hook that succeeded.
#[test]
fn what_keeps_it_from_working_is_told_where_a_person_reads_it() {
    let Some(world) = untrusted() else { return };
    world.work();
    world.write("ready_for_pr");
    let ran = sync(&world, "on-stop");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let shown: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(shown["systemMessage"], ran.stderr.trim_end());
    assert!(ran.stderr.contains("mainspring trust"), "{ran:?}");
    world.env.trust();
    let mut command = world.env.command();
    command
        .args(["compat", "agent-sync", "on-stop"])
        .env("CLAUDE_PROJECT_DIR", ".")
        .env("PATH", "/nonexistent");
    let said = context(&finish(&mut command, b"{}"));
    assert!(said.contains("is not installed"), "{said}");
}
