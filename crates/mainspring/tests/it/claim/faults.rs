//! GitHub in trouble: nothing twice, nothing lost, nothing retried for ever.

use mainspring_testkit::github::{Fault, IssueState, LOGIN, TOKEN, Token, on, on_any};
use serde_json::json;

use super::world::{BRANCH, world};

const CREATE: &str = "POST /repos/{owner}/{repo}/pulls";

#[test]
fn a_reply_that_is_lost_after_the_commit_leads_to_one_pull_request() {
    for fault in [Fault::DropAfterCommit, Fault::HalfReply] {
        let Some(world) = world() else { return };
        world.work();
        world.write("ready_for_pr");
        world.github.fault(on(CREATE), fault);
        let said = world.stop("ready").held();
        assert!(
            said.starts_with("Failed creating the pull request for issue #42"),
            "{said}"
        );
        assert_eq!(world.claim()["phase"], "failed");
        assert_eq!(world.claim()["failure"]["attempts"], 1);
        assert_eq!(
            world.stop("again").let_go(),
            "",
            "not before two minutes are over"
        );
        world.edit(json!({ "phase": "ready_for_pr" }));
        let said = world.stop("again").held();
        assert!(said.contains("PR #44 is there already"), "{said}");
        assert_eq!(world.github.prs_created(), 1);
        assert_eq!(world.card().0, "In Review");
        assert!(world.claim().get("failure").is_none());
    }
}

#[test]
fn somebody_was_faster_is_success() {
    let Some(world) = world() else { return };
    world.work();
    world.write("ready_for_pr");
    // Our own look comes before theirs, our call after it.
    let exists = Fault::PullRequestExists {
        owner: "acme".into(),
        branch: BRANCH.into(),
    };
    world.github.fault(on(CREATE), exists);
    let said = world.stop("ready").held();
    assert!(
        said.contains("already exists"),
        "nothing is there after all: {said}"
    );
    world.edit(json!({ "phase": "ready_for_pr" }));
    assert!(world.stop("ready").held().contains("PR #44 created"));
}

#[test]
fn every_refusal_is_a_failure_with_its_cause_and_its_time() {
    for (fault, part) in [
        (Fault::Server(502), "GitHub answered 502"),
        (Fault::Forbidden, "Resource not accessible"),
        (Fault::BadCredentials, "Bad credentials"),
        (
            Fault::RateLimited {
                reset: 4_000_000_000,
            },
            "GitHub answered 429",
        ),
        (
            Fault::SecondaryLimit { retry_after: 3_600 },
            "secondary rate limit",
        ),
        (
            Fault::Unprocessable("Validation Failed".into()),
            "Validation Failed",
        ),
        (Fault::DropBeforeCommit, "EOF"),
    ] {
        let Some(world) = world() else { return };
        world.work();
        world.write("ready_for_pr");
        world.github.fault(on(CREATE), fault.clone());
        let said = world.stop("ready").held();
        assert!(said.contains(part), "{fault:?}: {said}");
        let failure = &world.claim()["failure"];
        assert_eq!(failure["during"], "ready_for_pr");
        let waits = |hours: &str| said.contains(hours);
        match fault {
            // A day at the most, whatever a header says.
            Fault::RateLimited { .. } => assert!(waits("1440 minutes"), "{said}"),
            Fault::SecondaryLimit { .. } => assert!(waits("60 minutes"), "{said}"),
            _ => assert!(waits("2 minutes"), "{said}"),
        }
        assert_eq!(world.github.prs_created(), 0);
    }
}

#[test]
fn a_close_whose_reply_is_lost_is_one_close_with_one_comment() {
    let Some(world) = world() else { return };
    world.with_pull_request();
    world.edit(json!({ "phase": "done" }));
    world.github.fault(on("closeIssue"), Fault::DropAfterCommit);
    let said = world.stop("close it").held();
    assert!(said.starts_with("Failed closing the issue"), "{said}");
    world.edit(json!({ "phase": "done" }));
    let said = world.stop("close it").held();
    assert_eq!(
        said,
        "Issue #42 was closed already. Board → Done. Signal file cleaned up."
    );
    let issue = world.widgets().issue(42);
    assert!(matches!(issue.state, IssueState::Closed { .. }));
    assert_eq!((issue.closes, issue.comments.len()), (1, 1));
    assert_eq!(world.card(), ("Done".into(), String::new()));
    assert!(!world.file().exists());
}

#[test]
fn without_the_boards_scope_the_rest_goes_on_and_it_is_said_once() {
    let Some(world) = world() else { return };
    world
        .github
        .set_token(TOKEN, Token::classic(LOGIN, &["repo"]));
    let said = world.env.run(&["claim", "42"]).ok();
    assert!(
        said.contains("warning: the board was not updated"),
        "{said}"
    );
    world.work();
    world.env.run(&["handoff", "--summary", "Fix"]).ok();
    let answer = world.stop("ready").json();
    assert!(
        answer["reason"]
            .as_str()
            .unwrap()
            .contains("PR #44 created"),
        "{answer}"
    );
    assert!(
        answer["systemMessage"]
            .as_str()
            .unwrap()
            .contains("gh auth refresh -s project"),
        "{answer}"
    );
    let (ran, runs) = world.gh_runs(|| world.stop("and now"));
    assert_eq!(
        (ran.let_go().as_str(), runs),
        ("", 0),
        "said once, tried once"
    );
    world.edit(json!({ "phase": "done" }));
    let answer = world.stop("close").json();
    assert_eq!(
        answer["reason"],
        "Issue #42 closed. Signal file cleaned up."
    );
    assert_eq!(world.card().0, "Todo");
}

#[test]
fn an_option_that_the_board_lacks_is_said_once() {
    let Some(world) = world() else { return };
    world.write("coding");
    world.edit(json!({ "status": "Blocked" }));
    let note = world.stop("blocked").let_go();
    assert!(note.contains("`Status` has no option `Blocked`"), "{note}");
    let (ran, runs) = world.gh_runs(|| world.stop("blocked"));
    assert_eq!((ran.let_go().as_str(), runs), ("", 0));
}

#[test]
fn a_poll_that_fails_keeps_its_distance() {
    let Some(world) = world() else { return };
    world.with_pull_request();
    world.github.fault(on_any(), Fault::Server(503));
    let (ran, runs) = world.gh_runs(|| world.idle());
    let answer = ran.json();
    assert!(
        answer["systemMessage"].as_str().unwrap().contains("503"),
        "{answer}"
    );
    assert_eq!(runs, 1);
    let (ran, runs) = world.gh_runs(|| world.idle());
    assert_eq!((ran.ok().as_str(), runs), ("", 0));
}

#[test]
fn hostile_texts_arrive_byte_for_byte() {
    let texts = [
        "--title $(id) `id` ;|&<>",
        "quotes \" ' \\ and \\n",
        "no\u{2003}break\u{a0}spaces and emoji 🦀 \u{202e}rtl",
        "@file -F x=@/etc/passwd",
    ];
    for text in texts {
        let Some(world) = world() else { return };
        world.env.run(&["claim", "42"]).ok();
        world.work();
        let summary = format!("{text}\n\nBody: {text}\n{{\"json\": true}}");
        world.env.run(&["handoff", "--summary", &summary]).ok();
        assert!(world.stop("ready").held().contains("PR #44 created"));
        let pull = world.widgets().pull(44);
        assert_eq!(pull.title, text);
        assert!(
            pull.body
                .starts_with(&format!("Body: {text}\n{{\"json\": true}}\n\nRefs #42\n")),
            "{}",
            pull.body
        );
    }
}
