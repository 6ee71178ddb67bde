//! An issue is closed on its user's word, and on nothing that an agent can write.

use mainspring_testkit::github::{Fault, IssueState, on};
use serde_json::json;

use super::world::{World, context, world};

fn is_open(world: &World) -> bool {
    matches!(world.widgets().issue(42).state, IssueState::Open)
}

/// As far as the question whether to close.
fn asked() -> Option<World> {
    let world = world()?;
    world.with_pull_request();
    world.widgets().merge(44);
    world.two_minutes_later();
    drop(world.idle());
    let said = context(world.prompt("what is new?"));
    assert!(said.contains("Should I close issue #42?"), "{said}");
    Some(world)
}

#[test]
fn done_in_the_claims_file_closes_no_issue() {
    let Some(world) = asked() else { return };
    world.edit(json!({ "phase": "done" }));
    let said = world.stop("closing").held();
    assert!(said.contains("issue #42 is not closed"), "{said}");
    let note = world.stop("closing again").let_go();
    assert!(note.contains("issue #42 is not closed"), "{note}");
    assert!(is_open(&world));

    drop(world.prompt("close #42"));
    assert!(world.done().ok().contains("Issue #42 closed."));
    assert!(!is_open(&world));
}

#[test]
fn a_prompt_that_the_transcript_does_not_have_is_no_consent() {
    let Some(world) = asked() else { return };
    drop(world.piped_prompt("close #42"));
    let refused = world.done().failed();
    assert!(
        refused.contains("the user has not agreed to close #42 yet"),
        "{refused}"
    );
    // The transcript of another session is not this one's.
    drop(world.prompt("close #42"));
    let refused = world.env.agent("t", &["claim", "done"]).failed();
    assert!(
        refused.contains("the user has not agreed to close #42 yet"),
        "{refused}"
    );
    assert!(is_open(&world));
}

#[test]
fn only_a_whole_message_from_the_list_lets_the_issue_be_closed() {
    let Some(world) = asked() else { return };
    for no in [
        "no, leave it open",
        "later",
        "yes, but run the tests first",
        "yes",
        "close #43",
    ] {
        drop(world.prompt(no));
        let refused = world.done().failed();
        assert!(
            refused.contains("`yes` (right after your question), `close #42` or `close it`"),
            "{no}: {refused}"
        );
        assert!(refused.contains("mainspring claim done --yes"), "{refused}");
    }
    world.agent_says("Should I close issue #42?");
    drop(world.prompt("Yes!"));
    drop(world.prompt("no, wait"));
    let _ = world.done().failed();
    assert!(is_open(&world), "the last word counts");
    world.agent_says("Should I close issue #42?");
    drop(world.prompt("Yes!"));
    assert!(world.done().ok().contains("Issue #42 closed."));
}

#[test]
fn a_clear_does_not_turn_an_old_message_into_consent() {
    let Some(world) = asked() else { return };
    drop(world.prompt("close #42"));
    let end = json!({ "session_id": "s", "reason": "clear" });
    drop(world.env.hook("SessionEnd", end));
    drop(world.start("fresh", "clear"));
    let refused = world.env.agent("fresh", &["claim", "done"]).failed();
    assert!(
        refused.contains("the user has not agreed to close #42 yet"),
        "{refused}"
    );
    assert!(is_open(&world));
    world.typed("fresh", "it is merged, close it");
    let said = world.env.agent("fresh", &["claim", "done"]).ok();
    assert!(said.contains("Issue #42 closed."), "{said}");
}

#[test]
fn what_was_said_before_the_merge_lets_nothing_be_closed() {
    let Some(world) = world() else { return };
    world.with_pull_request();
    drop(world.prompt("close #42"));
    let refused = world.done().failed();
    assert!(
        refused.contains("pull request #44 is not merged"),
        "{refused}"
    );
    // GitHub's clock has whole seconds.
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    world.widgets().merge(44);
    let refused = world.done().failed();
    assert!(
        refused.contains("the user has not agreed to close #42 yet"),
        "{refused}"
    );
    assert_eq!(
        world.claim()["phase"],
        "merged_detected",
        "what was seen is recorded"
    );
    drop(world.prompt("close #42"));
    assert!(world.done().ok().contains("Issue #42 closed."));
}

#[test]
fn the_user_may_say_it_in_their_own_language() {
    let Some(world) = world() else { return };
    let config = world.env.home().join(".config/mainspring");
    std::fs::create_dir_all(&config).unwrap();
    let text = "[claim]\nconsent = [\"ja\", \"schließe #N\"]\n";
    std::fs::write(config.join("config.toml"), text).unwrap();
    world.with_pull_request();
    world.widgets().merge(44);
    drop(world.idle());
    let said = context(world.prompt("und?"));
    assert!(said.contains("`ja`, `schließe #42`"), "{said}");
    drop(world.prompt("Schließe #42!"));
    assert!(world.done().ok().contains("Issue #42 closed."));
}

/// An issue is closed as at a stop, but no agent stops.
#[test]
fn a_close_by_command_is_recorded_as_a_command_and_not_as_an_agent_that_was_held() {
    let Some(world) = world() else { return };
    world.with_pull_request();
    world.let_close();
    let ledger = |world: &World| {
        let path = world.env.project_state().join("sessions/s.json");
        std::fs::read_to_string(path).unwrap_or_default()
    };
    let before = ledger(&world);
    assert!(world.done().ok().contains("Issue #42 closed."));
    assert_eq!(ledger(&world), before, "no hold was counted");
    let log = world.env.run(&["log", "--last", "1"]).ok();
    assert!(log.contains(" command       told  claim:"), "{log}");
    assert!(log.contains("(closed)") && !log.contains("held"), "{log}");
    let why = world.env.run(&["why", "--event", "command"]).ok();
    let sentence = "No agent stopped: a command ran this, and claim answered it.";
    assert!(why.contains(sentence), "{why}");
    let why = world.env.run(&["why"]).ok();
    assert!(!why.contains("(closed)"), "{why}");
    let page = crate::view::view(&world.env).get("").body;
    assert!(!page.contains("kept going"), "{page}");
}

#[test]
fn a_close_that_fails_is_no_success() {
    let Some(world) = world() else { return };
    world.with_pull_request();
    world.let_close();
    for _ in 0..4 {
        world.github.fault(on("closeIssue"), Fault::Server(500));
    }
    let error = world.done().failed();
    assert!(
        error.starts_with("error: Failed closing the issue for issue #42"),
        "{error}"
    );
    assert!(error.contains("`mainspring claim retry`"), "{error}");
    assert!(is_open(&world));
}
