//! The seed's whole sequence in the real client: real `claude` in a terminal, real `gh`, real
//! `git`, and the plugin as it is shipped.

use std::path::Path;

use mainspring_testkit::claude::Claude;
use mainspring_testkit::github::{Check, IssueState};
use mainspring_testkit::model::{Model, Turn};
use serde_json::json;

use super::world::{BRANCH, ORIGIN, World, git, world};
use crate::env::{MAINSPRING, finish};

/// The client in a checkout of `acme/widgets`, with the plugin.
fn client(world: &World, model: &Model) -> Option<Claude> {
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/mainspring");
    let bin = Path::new(MAINSPRING).parent().unwrap();
    let mut claude = Claude::new(model)?
        .plugin_dir(plugin)
        .path_first(bin)
        .env("USER", "ada")
        .env("MOLTNET_PROJECT_NUMBER", "1")
        .env("MAINSPRING_CLAIM_WATCH", "1s");
    for (name, value) in world.github.env() {
        claude = claude.env(name, value);
    }
    world.bare.clone_as(ORIGIN, claude.project());
    let trusted = finish(claude.command(MAINSPRING).args(["trust", "--yes"]), b"");
    assert_eq!(trusted.code, Some(0), "{trusted:?}");
    Some(claude)
}

fn bash(command: &str) -> Turn {
    Turn::call("Bash", json!({ "command": command, "description": "work" }))
}

/// CI reports a check of the commit that the agent has pushed last.
fn report_check(world: &World, claude: &Claude, check: Check) {
    let head = git(claude.project(), &["rev-parse", "HEAD"]);
    world.widgets().set_check(&head, check);
}

#[test]
fn the_whole_sequence_from_claim_to_the_removed_file() {
    let Some(world) = world() else { return };
    let work = "git commit -q --allow-empty -m Fix && \
                mainspring handoff --summary 'Fix race condition' --push";
    let model = Model::play([
        bash("mainspring claim 42"),
        Turn::say("I have claimed it and begin."),
        bash(work),
        Turn::say("Handed over."),
        Turn::say("The pull request is open."),
        bash("git commit -q --allow-empty -m 'Fix CI' && git push -q"),
        Turn::say("I pushed a fix for CI."),
        Turn::say("CI is green now."),
        Turn::say("Shall I close issue 42?"),
        bash("mainspring claim done"),
        Turn::say("It is closed; that was all."),
    ]);
    let Some(claude) = client(&world, &model) else {
        return;
    };
    let file = claude.project().join(".agent-claim.json");
    let terminal = claude.interactive();

    terminal.enter("/mainspring:claim 42");
    terminal.wait_for("I have claimed it and begin.");
    assert!(file.exists());
    assert_eq!(world.card().0, "In Progress");

    terminal.enter("/mainspring:handoff");
    terminal.wait_for("The pull request is open.");
    assert!(model.saw_text("PR #44 created: https://github.com/acme/widgets/pull/44"));
    assert_eq!(world.widgets().pull(44).title, "Fix race condition");
    assert_eq!(world.card().0, "In Review");

    // The agent has stopped. CI fails, which wakes the agent.
    // While one check runs, a look in between is no news.
    report_check(&world, &claude, Check::running("test"));
    report_check(&world, &claude, Check::completed("lint", "SUCCESS"));
    report_check(&world, &claude, Check::completed("test", "FAILURE"));
    model.wait_for_text("CI failed for PR #44: 1 of 2 checks FAILED: test.");
    terminal.wait_for("I pushed a fix for CI.");

    report_check(&world, &claude, Check::completed("test", "SUCCESS"));
    model.wait_for_text("CI passed! All 1 check green. PR #44 is ready to merge.");
    terminal.wait_for("CI is green now.");

    world.widgets().merge(44);
    model.wait_for_text("PR #44 merged! Should I close issue #42?");
    terminal.wait_for("Shall I close issue 42?");
    assert!(file.exists(), "nothing is closed without the person");

    terminal.enter("yes");
    terminal.wait_for("It is closed; that was all.");
    assert!(model.saw_text("Issue #42 closed. Board → Done. Signal file cleaned up."));
    assert!(matches!(
        world.widgets().issue(42).state,
        IssueState::Closed { .. }
    ));
    assert_eq!(world.card(), ("Done".into(), String::new()));
    assert!(!file.exists());
    assert!(!world.bare.refs().contains_key("refs/mainspring/claims/42"));
    assert_eq!((world.github.prs_created(), world.github.closes()), (1, 1));
    model.assert_played_out();
}

#[test]
fn a_headless_run_gets_its_pull_request_and_is_not_kept_waiting() {
    let Some(world) = world() else { return };
    let model = Model::play([
        bash(CLAIM_AND_HAND_OVER),
        Turn::say("Handed over."),
        Turn::say("The pull request is open."),
    ]);
    let Some(claude) = client(&world, &model) else {
        return;
    };
    let run = claude.run("do issue 42").expect_success();
    assert_eq!(run.answer(), "The pull request is open.");
    assert!(model.saw_text("PR #44 created"));
    assert_eq!(
        world.github.requests_of("ClaimPoll").len(),
        1,
        "nobody watches; the last stop looks"
    );
}

const CLAIM_AND_HAND_OVER: &str = "mainspring claim 42 && git commit -q --allow-empty -m Fix && \
     mainspring handoff --summary Fix --push";

/// Claim, hand off, quit; it is merged overnight; start again, and close with one message.
#[test]
fn a_night_passes_between_the_hand_over_and_the_close() {
    let Some(world) = world() else { return };
    let model = Model::play([
        bash(CLAIM_AND_HAND_OVER),
        Turn::say("Handed over."),
        Turn::say("The pull request is open. Good night."),
        bash("mainspring claim done"),
        Turn::say("It is closed."),
    ]);
    let Some(claude) = client(&world, &model) else {
        return;
    };
    claude.run("do issue 42").expect_success();
    let file = claude.project().join(".agent-claim.json");
    world.widgets().merge(44);
    // The night: the last look was long ago.
    let text = std::fs::read_to_string(&file).unwrap();
    let mut claim: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(claim["phase"], "checks_running");
    claim["last_check_poll"] = json!("2026-01-01T00:00:00Z");
    std::fs::write(&file, claim.to_string()).unwrap();

    let run = claude.run("It is merged, close it.").expect_success();
    assert_eq!(run.answer(), "It is closed.");
    assert!(
        model.saw_text("PR #44 merged! Should I close issue #42?"),
        "told at the start"
    );
    assert!(model.saw_text("Issue #42 closed. Board → Done. Signal file cleaned up."));
    assert!(matches!(
        world.widgets().issue(42).state,
        IssueState::Closed { .. }
    ));
    assert!(!file.exists());
    assert!(!world.bare.refs().contains_key("refs/mainspring/claims/42"));
    assert_eq!((world.github.prs_created(), world.github.closes()), (1, 1));
    model.assert_played_out();
}

#[test]
fn what_happened_while_nobody_was_there_is_told_at_the_next_prompt() {
    let Some(world) = world() else { return };
    let model = Model::play([Turn::say("I see: CI failed.")]);
    let Some(claude) = client(&world, &model) else {
        return;
    };
    let head = world.bare.commit(BRANCH, "Work");
    let file = claude.project().join(".agent-claim.json");
    std::fs::write(
        &file,
        json!({
            "schema_version": 1, "item_id": "", "issue_number": 42, "branch": BRANCH,
            "agent_id": "a", "phase": "ready_for_pr", "summary": "Fix", "status": "In Progress",
        })
        .to_string(),
    )
    .unwrap();
    let hook = |event: &str, fields: serde_json::Value| {
        let payload = crate::env::payload(claude.project(), event, fields);
        finish(
            claude.command(MAINSPRING).arg("hook"),
            payload.to_string().as_bytes(),
        )
    };
    assert!(
        hook("Stop", json!({ "session_id": "old" }))
            .held()
            .contains("PR #44")
    );
    drop(hook(
        "SessionEnd",
        json!({ "session_id": "old", "reason": "other" }),
    ));
    world
        .widgets()
        .set_check(&head, Check::completed("test", "FAILURE"));
    let idle = json!({ "session_id": "old", "notification_type": "idle_prompt" });
    assert!(hook("Notification", idle).json()["terminalSequence"].is_string());
    claude.run("how is it going?").expect_success();
    model.wait_for_text("1 of 1 checks FAILED: test");
    assert!(model.saw_text("Issue #42 is claimed here"));
}
