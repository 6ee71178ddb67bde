//! An issue is closed on its user's word, and on nothing that an agent can write.

use mainspring_testkit::github::IssueState;
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
    world.edit(json!({ "phase": "merged_detected" }));
    world.env.agent("s", &["claim", "done"]).ok();
    assert!(world.stop("closing").held().contains("Issue #42 closed."));
    assert!(!is_open(&world));
}

#[test]
fn a_prompt_that_the_transcript_does_not_have_is_no_consent() {
    let Some(world) = asked() else { return };
    drop(world.piped_prompt("yes"));
    let refused = world.env.agent("s", &["claim", "done"]).failed();
    assert!(refused.contains("the user has not said yes"), "{refused}");
    drop(world.prompt("yes, but run the tests first"));
    let refused = world.env.agent("s", &["claim", "done"]).failed();
    assert!(
        refused.contains("`yes`, `close it` or `close #N`"),
        "{refused}"
    );
    // The transcript of another session is not this one's.
    let refused = world.env.agent("t", &["claim", "done"]).failed();
    assert!(refused.contains("the user has not said yes"), "{refused}");
    drop(world.prompt("yes"));
    world.env.agent("s", &["claim", "done"]).ok();
    assert!(is_open(&world), "it is closed at the stop");
}
