//! GitHub fails: nothing is done twice, nothing is lost, nothing is retried for ever.

use std::path::Path;

use mainspring_testkit::github::{Fault, IssueState, LOGIN, TOKEN, Token, on, on_any};
use serde_json::json;

use super::world::{BRANCH, World, world};

const CREATE: &str = "POST /repos/{owner}/{repo}/pulls";

#[test]
fn a_reply_that_is_lost_after_the_commit_leads_to_one_pull_request() {
    for fault in [Fault::DropAfterCommit, Fault::HalfReply] {
        let Some(world) = world() else { return };
        world.work();
        world.write("ready_for_pr");
        world.github.fault(on(CREATE), fault);
        let said = world.stop("ready").held();
        assert!(said.contains("PR #44 is there already"), "{said}");
        assert_eq!(world.claim()["phase"], "pr_created");
        assert_eq!(world.github.prs_created(), 1);
        assert_eq!(world.card().0, "In Review");
    }
}

#[test]
fn a_failure_waits_and_a_phase_set_by_hand_does_not() {
    let Some(world) = world() else { return };
    world.work();
    world.write("ready_for_pr");
    world.github.fault(on(CREATE), Fault::Server(500));
    let said = world.stop("ready").held();
    assert!(
        said.starts_with("Failed creating the pull request for issue #42"),
        "{said}"
    );
    assert_eq!(world.claim()["phase"], "failed");
    assert_eq!(world.claim()["failure"]["attempts"], 1);
    let (ran, runs) = world.gh_runs(|| world.stop("again"));
    assert_eq!(
        (ran.let_go().as_str(), runs),
        ("", 0),
        "not before two minutes are over"
    );
    let mut failure = world.claim()["failure"].clone();
    failure["retry_at"] = "2020-01-01T00:00:00Z".into();
    world.edit(json!({ "failure": failure }));
    world.github.fault(on(CREATE), Fault::Server(500));
    let note = world.stop("two minutes later").let_go();
    assert!(note.contains("after 8 minutes"), "{note}");
    world.edit(json!({ "phase": "ready_for_pr" }));
    assert!(world.stop("at once").held().contains("PR #44 created"));
    assert!(world.claim().get("failure").is_none());
}

#[test]
fn somebody_was_faster_is_success() {
    let Some(world) = world() else { return };
    world.work();
    world.write("ready_for_pr");
    // Their pull request appears after we looked and before our call.
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
            // At most a day, whatever a header says.
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
    world.let_close();
    world.github.fault(on("closeIssue"), Fault::DropAfterCommit);
    assert_eq!(
        world.done().ok(),
        "Issue #42 closed. Board → Done. Signal file cleaned up.\n"
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
    world.let_close();
    let said = world.done().ok();
    assert!(
        said.starts_with("Issue #42 closed. Signal file cleaned up.\n"),
        "{said}"
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

#[test]
fn a_hostile_branch_is_only_a_name() {
    let branch = "a$(touch${IFS}pwned)'\"`id`;b";
    let Some(world) = world() else { return };
    world.write("ready_for_pr");
    world.edit(json!({ "branch": branch }));
    world.git(&["switch", "--quiet", "-c", branch]);
    world.git(&["commit", "--quiet", "--allow-empty", "-m", "Work"]);
    world.git(&["push", "--quiet", "origin", branch]);
    assert!(world.stop("ready").held().contains("PR #44 created"));
    assert_eq!(world.widgets().pull(44).head, branch);
    assert!(!world.env.project().join("pwned").exists());
}

/// Puts the program wherever a repository can name one: settings, aliases, hooks, files with
/// the names of our programs, and our own configuration.
fn set_trap(world: &World, trap: &Path) {
    let project = world.env.project();
    let trap_path = trap.to_str().unwrap();
    for setting in [
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "diff.external",
        "gpg.program",
        "core.alternateRefsCommand",
    ] {
        world.git(&["config", setting, trap_path]);
    }
    for alias in [
        "config",
        "push",
        "rev-list",
        "ls-remote",
        "merge-base",
        "rev-parse",
    ] {
        world.git(&[
            "config",
            &format!("alias.{alias}"),
            &format!("!{trap_path}"),
        ]);
    }
    let hooks = project.join(".git/hooks");
    std::fs::create_dir_all(&hooks).unwrap();
    for hook in [
        "pre-push",
        "reference-transaction",
        "post-checkout",
        "pre-commit",
    ] {
        std::fs::copy(trap, hooks.join(hook)).unwrap();
    }
    // Programs in the project itself, which a PATH with `.` would find first.
    for program in ["gh", "git"] {
        std::fs::copy(trap, project.join(program)).unwrap();
    }
    std::fs::write(
        project.join("mainspring.toml"),
        format!("[claim]\ngh = \"{trap_path}\"\ngit = \"{trap_path}\"\n"),
    )
    .unwrap();
}

#[test]
fn a_hostile_repository_runs_nothing() {
    let Some(world) = world() else { return };
    world.work();
    let canary = world.env.root().join("canary");
    let trap = world.env.root().join("trap");
    std::fs::write(
        &trap,
        format!("#!/bin/sh\ntouch '{}'\nexit 0\n", canary.display()),
    )
    .unwrap();
    std::fs::set_permissions(&trap, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    set_trap(&world, &trap);
    world.env.trust();
    world.env.run(&["claim", "42", "--branch", BRANCH]).ok();
    let _ = std::fs::remove_file(&canary);
    world.edit(json!({ "phase": "ready_for_pr", "summary": "Fix" }));
    assert!(world.stop("ready").held().contains("PR #44 created"));
    world.two_minutes_later();
    drop(world.idle());
    world.let_close();
    assert!(world.done().ok().contains("closed"));
    assert!(!canary.exists(), "something of the repository's ran");
}

#[test]
fn a_github_that_hangs_is_left_in_time() {
    let Some(world) = world() else { return };
    world.with_pull_request();
    world.github.fault(on("ClaimPoll"), Fault::HangBeforeCommit);
    let answer = world.idle().json();
    let said = answer["systemMessage"].as_str().unwrap();
    let (_, limit) = said.split_once("took longer than ").expect(said);
    let (seconds, _) = limit.split_once(" s ").expect(said);
    assert!(
        seconds.parse::<u64>().expect(said) < 15,
        "the host's own limit for this event: {said}"
    );
    assert_eq!(world.claim()["phase"], "pr_created");
}
