//! The board's own names, and files that cannot be read.

use std::fs;

use serde_json::json;

use super::world::{World, context, world};
use crate::env::finish;

#[test]
fn a_broken_claim_file_is_told_once_and_mended_from_the_journal() {
    let Some(world) = world() else { return };
    world.env.agent("s", &["claim", "42"]).ok();
    let whole = fs::read_to_string(world.file()).unwrap();
    fs::write(world.file(), "{ \"issue_number\": 42,, }").unwrap();
    let note = world.stop("working").let_go();
    assert!(
        note.contains("`mainspring claim repair` mends it"),
        "{note}"
    );
    assert_eq!(world.stop("working").let_go(), "", "told once");
    let found = world.env.run(&["doctor"]);
    assert!(
        found.stdout.contains("mainspring claim repair"),
        "{found:?}"
    );

    let said = world.env.agent("s", &["claim", "repair"]).ok();
    assert!(
        said.starts_with("the claim file is as the journal has it"),
        "{said}"
    );
    assert_eq!(fs::read_to_string(world.file()).unwrap(), whole);
    let kept = said.lines().nth(1).unwrap().rsplit(' ').next().unwrap();
    assert_eq!(
        fs::read_to_string(kept).unwrap(),
        "{ \"issue_number\": 42,, }"
    );
    let again = world.env.agent("s", &["claim", "repair"]).ok();
    assert!(
        again.contains("can be read: issue #42, phase coding"),
        "{again}"
    );
}

#[test]
fn a_file_that_the_journal_does_not_know_is_put_aside() {
    let Some(world) = world() else { return };
    fs::write(world.file(), "{").unwrap();
    let said = world.env.run(&["claim", "repair"]).ok();
    assert!(said.contains("the broken one was put aside"), "{said}");
    assert!(!world.file().exists());
    world.env.run(&["claim", "42"]).ok();
    let none = world.env.run(&["claim", "abort"]).ok();
    assert!(none.contains("no longer claimed"), "{none}");
}

#[test]
fn the_boards_columns_have_the_names_that_the_person_gave_them() {
    let Some(world) = world() else { return };
    let config = world.env.home().join(".config/mainspring");
    fs::create_dir_all(&config).unwrap();
    let set = |columns: &str| {
        let text = format!("[claim]\ncolumns = {columns}\n");
        fs::write(config.join("config.toml"), text).unwrap();
    };
    set("[\"TODO\", \"in progress\", \"IN REVIEW\", \"done\"]");
    world.env.run(&["claim", "42"]).ok();
    assert_eq!(world.card().0, "In Progress", "case does not count");
    world.env.run(&["claim", "abort"]).ok();
    set("[\"Todo\", \"In Review\", \"In Review\", \"Done\"]");
    world.env.run(&["claim", "42"]).ok();
    assert_eq!(world.card().0, "In Review");
    assert_eq!(
        world.claim()["status"],
        "In Progress",
        "the file has the documented word"
    );
    world.env.run(&["claim", "abort"]).ok();
    set("[\"Todo\", \"Doing\", \"Review\", \"Done\"]");
    let said = world.env.run(&["claim", "42"]).ok();
    assert!(
        said.contains("has no option `Doing`, only Todo, In Progress"),
        "{said}"
    );
    assert!(said.contains("`claim.columns` names the columns"), "{said}");
    world.env.run(&["claim", "abort"]).ok();
    set("[\"Todo\"]");
    let refused = world.env.run(&["claim", "42"]).failed();
    assert!(
        refused.contains("claim.columns has 1 names; it needs four"),
        "{refused}"
    );
}

#[test]
fn a_board_without_the_agent_field_is_said_once_and_the_card_moves() {
    let Some(world) = world() else { return };
    world.board().remove_field("Agent");
    let said = world.env.run(&["claim", "42"]).ok();
    assert!(
        said.contains("warning: the card was moved, but the board has no text field `Agent`"),
        "{said}"
    );
    assert!(!said.contains("not updated"), "{said}");
    assert_eq!(world.card().0, "In Progress");
    world.work();
    world.env.run(&["handoff", "--summary", "Fix"]).ok();
    let answer = world.stop("ready").json();
    let told = answer["systemMessage"].as_str().unwrap_or_default();
    assert!(told.contains("the card was moved, but"), "{answer}");
    assert_eq!(world.card().0, "In Review");
    world.let_close();
    let said = world.done().ok();
    assert!(
        said.starts_with("Issue #42 closed. Board → Done."),
        "{said}"
    );
    assert!(!said.contains("Agent"), "said once: {said}");
}

fn sync(world: &World, event: &str) -> String {
    let mut command = world.env.command();
    command
        .args(["compat", "agent-sync", event])
        .env("CLAUDE_PROJECT_DIR", ".");
    finish(&mut command, b"{}").ok()
}

#[test]
fn an_unknown_phase_moves_the_card_in_the_drop_in_and_is_told_by_the_hook() {
    let Some(world) = world() else { return };
    world.write("coding");
    world.edit(json!({ "phase": "blocked", "status": "In Review" }));
    let note = world.stop("hm").let_go();
    assert!(note.contains("phase \"blocked\" is not one of"), "{note}");
    assert_eq!(world.card().0, "Todo");
    drop(sync(&world, "on-stop"));
    assert_eq!(world.card().0, "In Review");
    assert_eq!(world.claim()["phase"], "blocked", "the word stays");
    assert_eq!(world.claim()["last_synced_status"], "In Review");
}

#[test]
fn the_drop_in_tells_that_checks_still_run() {
    let Some(world) = world() else { return };
    let head = world.with_pull_request();
    let running = mainspring_testkit::github::Check::running("test");
    world.widgets().set_check(&head, running);
    for _ in 0..2 {
        let said = sync(&world, "on-idle");
        assert!(said.contains("0/1 passed, 1 still running"), "{said}");
        world.two_minutes_later();
    }
}

#[test]
fn what_failed_and_what_is_not_done_have_verbs() {
    let Some(world) = world() else { return };
    world.work();
    world.write("ready_for_pr");
    let create = mainspring_testkit::github::on("POST /repos/{owner}/{repo}/pulls");
    world
        .github
        .fault(create, mainspring_testkit::github::Fault::Server(500));
    let said = world.stop("ready").held();
    assert!(
        said.contains("`mainspring claim retry`") && !said.contains(".."),
        "{said}"
    );
    world.env.agent("s", &["claim", "retry"]).ok();
    assert!(world.stop("at once").held().contains("PR #44 created"));
    world.widgets().merge(44);
    drop(world.idle());
    assert!(context(world.prompt("so?")).contains("merged"));
    world.env.agent("s", &["claim", "rework"]).ok();
    assert_eq!(world.claim()["phase"], "coding");
    assert_eq!(world.claim()["pr_number"], json!(null));
    world.git(&["commit", "--quiet", "--allow-empty", "-m", "More"]);
    let handoff = ["handoff", "--summary", "More", "--push"];
    world.env.agent("s", &handoff).ok();
    assert!(world.stop("more").held().contains("PR #45 created"));
}
