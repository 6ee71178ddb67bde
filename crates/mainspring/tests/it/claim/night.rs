//! Time passes while nobody looks: merges overnight, headless runs, a GitHub out of reach.

use mainspring_testkit::github::{Check, Fault, Merging, Review, on, on_any};
use serde_json::json;

use super::world::{World, context, world};

#[test]
fn a_merge_overnight_is_seen_when_a_session_starts_and_closed_on_one_message() {
    let Some(world) = world() else { return };
    world.with_pull_request();
    drop(world.env.hook("SessionEnd", json!({ "reason": "other" })));
    world.widgets().merge(44);
    let (ran, runs) = world.gh_runs(|| world.start("s", "resume"));
    let said = context(ran);
    assert!(
        said.contains("PR #44 merged! Should I close issue #42?"),
        "{said}"
    );
    assert_eq!(runs, 1, "one look");
    assert_eq!(world.claim()["phase"], "merged_detected");
    let (_, runs) = world.gh_runs(|| world.start("s", "resume"));
    assert_eq!(runs, 0, "it is known");
    drop(world.prompt("It is merged, close it."));
    let (ran, runs) = world.gh_runs(|| world.done());
    assert!(ran.ok().starts_with("Issue #42 closed."));
    assert_eq!(runs, 2, "one query, one mutation");
}

#[test]
fn a_start_with_a_board_costs_one_look_more_and_is_throttled() {
    let Some(world) = world() else { return };
    let head = world.with_pull_request();
    world.widgets().set_check(&head, Check::running("test"));
    let (ran, runs) = world.gh_runs(|| world.start("s", "startup"));
    let said = context(ran);
    assert!(
        said.contains("Project board") && said.contains("1 still running"),
        "{said}"
    );
    assert_eq!(runs, 2, "the board, and one look");
    let (_, runs) = world.gh_runs(|| world.start("s", "startup"));
    assert_eq!(runs, 1, "looked less than two minutes ago");
}

#[test]
fn claim_done_looks_for_itself_and_closes_at_once() {
    let Some(world) = world() else { return };
    world.with_pull_request();
    world.widgets().merge(44);
    drop(world.prompt("close #42"));
    let (ran, runs) = world.gh_runs(|| world.done());
    assert!(ran.ok().starts_with("Issue #42 closed."));
    assert_eq!(runs, 3, "one look, one query, one mutation");
    assert!(!world.file().exists());
}

#[test]
fn a_stop_where_nobody_attends_looks_and_tells_at_once() {
    let Some(mut world) = world() else { return };
    world.with_pull_request();
    world.env = world.env.with("CLAUDE_CODE_SESSION_ATTENDED", "0");
    let (ran, runs) = world.gh_runs(|| world.stop("working"));
    assert_eq!((ran.let_go().as_str(), runs), ("", 1));
    let (ran, runs) = world.gh_runs(|| world.stop("working"));
    assert_eq!((ran.let_go().as_str(), runs), ("", 0), "throttled");
    world.two_minutes_later();
    world.widgets().merge(44);
    let said = world.stop("working").held();
    assert!(
        said.starts_with("PR #44 merged! Should I close issue #42?"),
        "{said}"
    );
}

#[test]
fn a_merge_is_seen_before_the_two_minutes_are_over() {
    let Some(world) = world() else { return };
    let head = world.with_pull_request();
    world.widgets().set_check(&head, Check::running("test"));
    assert_eq!(world.idle().ok(), "");
    world.widgets().merge(44);
    let notice = world.idle().json()["terminalSequence"].to_string();
    assert!(notice.contains("PR #44 is merged."), "{notice}");
}

/// What a person sees of a GitHub that cannot be asked.
fn troubled(world: &World, part: &str) {
    let told = world.prompt("how is it?").json();
    let told = told["systemMessage"].as_str().unwrap_or_default();
    assert!(told.contains(part), "{told}");
    assert_eq!(world.prompt("and now?").ok(), "", "told once");
    for view in [&["status"][..], &["claim", "status"]] {
        let seen = world.env.run(view).ok();
        assert!(seen.contains(part), "{seen}");
    }
    world.two_minutes_later();
    drop(world.idle());
    let seen = world.env.run(&["claim", "status"]).ok();
    assert!(!seen.contains("trouble"), "it works again: {seen}");
}

#[test]
fn a_github_that_cannot_be_asked_is_said_where_people_look_once() {
    let Some(world) = world() else { return };
    world.with_pull_request();
    for (fault, part) in [
        (Fault::Server(503), "GitHub cannot be reached"),
        (Fault::Server(401), "gh is not signed in"),
        (
            Fault::SecondaryLimit { retry_after: 0 },
            "GitHub limits requests",
        ),
    ] {
        world.two_minutes_later();
        world.github.fault(on_any(), fault);
        drop(world.idle());
        troubled(&world, part);
    }
}

#[test]
fn a_due_retry_is_taken_up_while_the_agent_is_idle() {
    let Some(world) = world() else { return };
    world.work();
    world.write("ready_for_pr");
    let create = on("POST /repos/{owner}/{repo}/pulls");
    world.github.fault(create, Fault::Server(500));
    assert!(world.stop("ready").held().starts_with("Failed creating"));
    assert_eq!(world.idle().ok(), "", "not yet");
    let mut failure = world.claim()["failure"].clone();
    failure["retry_at"] = "2020-01-01T00:00:00Z".into();
    world.edit(json!({ "failure": failure }));
    let notice = world.idle().json()["terminalSequence"].to_string();
    assert!(notice.contains("PR #44 created"), "{notice}");
    assert_eq!(world.claim()["phase"], "pr_created");
    let told = context(world.prompt("so?"));
    assert!(told.contains("PR #44 created"), "{told}");
}

#[test]
fn a_failed_check_comes_with_its_link_and_the_end_of_its_log() {
    let Some(world) = world() else { return };
    let head = world.with_pull_request();
    world
        .widgets()
        .set_check(&head, Check::completed("test", "FAILURE"));
    world.widgets().set_log(
        1,
        "2026-01-05T08:00:00.0000000Z running 2 tests\n\
         2026-01-05T08:00:01.0000000Z ##[error]assertion failed\n\
         2026-01-05T08:00:02.0000000Z Cleaning up orphan processes\n",
    );
    let (ran, runs) = world.gh_runs(|| world.idle());
    let notice = ran.json()["terminalSequence"].to_string();
    assert!(notice.contains("PR #44: checks failed: test"), "{notice}");
    assert_eq!(runs, 2, "one look, one log");
    let told = context(world.prompt("and?"));
    assert!(
        told.ends_with(
            "test: https://github.com/acme/widgets/actions/runs/1/job/1\n\
             The end of the log:\n| running 2 tests\n| ##[error]assertion failed"
        ),
        "{told}"
    );
    world.two_minutes_later();
    let (_, runs) = world.gh_runs(|| world.idle());
    assert_eq!(runs, 1, "the same log is not read again");
    // No record keeps a log.
    let journal = world.env.project_state().join("journal.jsonl");
    let text = std::fs::read_to_string(journal).unwrap();
    let decisions = text
        .lines()
        .filter_map(|line| line.split("\"files\":").next());
    assert!(
        decisions
            .into_iter()
            .all(|part| !part.contains("assertion failed"))
    );
}

#[test]
fn ready_to_merge_is_said_only_if_it_is() {
    let Some(world) = world() else { return };
    let head = world.with_pull_request();
    let green = Check::completed("test", "SUCCESS");
    world.widgets().set_check(&head, green);
    let seen = || world.env.run(&["claim", "status", "--now"]).ok();
    assert!(seen().contains("PR #44 is ready to merge."), "{}", seen());
    world.widgets().set_draft(44, true);
    assert!(seen().contains("PR #44 is a draft"), "{}", seen());
    world.widgets().set_draft(44, false);
    world.widgets().set_review(44, Review::Required);
    assert!(seen().contains("PR #44 waits for a review."), "{}", seen());
    world.widgets().set_review(44, Review::Approved);
    let merging = |change: fn(&mut Merging)| {
        let mut merging = Merging::default();
        change(&mut merging);
        world.widgets().set_merging(44, merging);
        seen()
    };
    let queued = merging(|merging| merging.queued = true);
    assert!(queued.contains("PR #44 is in the merge queue."), "{queued}");
    let automatic = merging(|merging| merging.auto_merge = true);
    assert!(automatic.contains("auto-merge is on"), "{automatic}");
    let conflict = merging(|merging| merging.conflict = true);
    assert!(
        conflict.contains("it has conflicts with its base branch"),
        "{conflict}"
    );
    let forced = merging(|merging| merging.forced_to = Some("fedcba9876543210".into()));
    assert!(
        forced.contains("was force-pushed and is now at fedcba98765"),
        "{forced}"
    );
}
