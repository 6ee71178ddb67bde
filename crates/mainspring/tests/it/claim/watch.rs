//! The watcher without a client: when it waits, when it exits, and with which message it wakes
//! the agent.

use std::io::Write;
use std::process::{Child, Stdio};

use mainspring_testkit::github::Check;
use mainspring_testkit::process::{PATIENCE, wait_until};
use serde_json::json;

use super::world::{World, context, world};

struct Watcher(Child);

impl Watcher {
    fn start(world: &World, vars: &[(&str, &str)]) -> Self {
        Self::of("s", world, vars)
    }

    fn of(session: &str, world: &World, vars: &[(&str, &str)]) -> Self {
        let mut command = world.env.command();
        command
            .args(["claim", "watch"])
            .env("MAINSPRING_CLAIM_WATCH", "1s")
            // The one host that wakes its agent names the session to its hooks.
            .env("CLAUDE_CODE_SESSION_ID", session)
            .envs(vars.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stop =
            json!({ "session_id": session, "cwd": world.env.project(), "hook_event_name": "Stop" });
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(stop.to_string().as_bytes()).unwrap();
        Self(child)
    }

    /// Its exit code, and its message to the agent.
    fn end(mut self) -> (Option<i32>, String) {
        wait_until("it has watched enough", || {
            self.0.try_wait().unwrap().is_some()
        });
        let output = self.0.wait_with_output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    }
}

#[test]
fn it_wakes_once_per_change_and_one_watches_a_claim() {
    let Some(world) = world() else { return };
    let head = world.with_pull_request();
    world.widgets().set_check(&head, Check::running("test"));
    let first = Watcher::start(&world, &[]);
    assert!(world.github.wait_for_request("ClaimPoll", PATIENCE));
    let second = Watcher::start(&world, &[]);
    assert_eq!(second.end(), (Some(0), String::new()), "one is enough");
    world
        .widgets()
        .set_check(&head, Check::completed("test", "FAILURE"));
    let (code, said) = first.end();
    assert_eq!(code, Some(2));
    assert!(
        said.starts_with("CI failed for PR #44: 1 of 1 checks FAILED: test."),
        "{said}"
    );
    assert_eq!(world.claim()["phase"], "checks_running");

    // The same failure does not wake the agent again, neither here nor at the next stop or idle
    // event.
    let third = Watcher::start(&world, &[]);
    world.github.take_requests();
    assert!(world.github.wait_for_request("ClaimPoll", PATIENCE));
    world.two_minutes_later();
    assert_eq!(world.idle().ok(), "");
    assert_eq!(world.stop("looked at it").let_go(), "");
    world.widgets().merge(44);
    let (code, said) = third.end();
    assert_eq!(code, Some(2));
    assert!(
        said.starts_with("PR #44 merged! Should I close issue #42?"),
        "{said}"
    );
    assert_eq!(world.claim()["phase"], "merged_detected");
    assert_eq!(
        Watcher::start(&world, &[]).end(),
        (Some(0), String::new()),
        "nothing to watch"
    );
}

#[test]
fn it_delivers_what_the_idle_hook_found_first() {
    let Some(world) = world() else { return };
    let head = world.with_pull_request();
    world
        .widgets()
        .set_check(&head, Check::completed("test", "SUCCESS"));
    assert!(
        world.idle().json()["terminalSequence"]
            .as_str()
            .unwrap()
            .contains("Checks passed.")
    );
    let (code, said) = Watcher::start(&world, &[]).end();
    assert_eq!(code, Some(2));
    assert!(said.starts_with("CI passed!"), "{said}");
    assert_eq!(world.prompt("and?").ok(), "", "read is read");
}

#[test]
fn it_leaves_where_nobody_attends_or_nothing_is_watched() {
    let Some(world) = world() else { return };
    assert_eq!(Watcher::start(&world, &[]).end().0, Some(0), "no claim");
    world.write("coding");
    assert_eq!(
        Watcher::start(&world, &[]).end().0,
        Some(0),
        "no pull request"
    );
    std::fs::remove_file(world.file()).unwrap();
    world.with_pull_request();
    let headless = [("CLAUDE_CODE_SESSION_ATTENDED", "0")];
    assert_eq!(Watcher::start(&world, &headless).end().0, Some(0));
    let gone = [("CLAUDE_PID", "999999999")];
    assert_eq!(
        Watcher::start(&world, &gone).end().0,
        Some(0),
        "the host is gone"
    );
    world.env.run(&["untrust"]).ok();
    assert_eq!(Watcher::start(&world, &[]).end().0, Some(0), "not trusted");
    assert_eq!(world.github.requests_of("ClaimPoll").len(), 0);
}

#[test]
fn news_wakes_the_owners_session_and_no_other_watcher_takes_it() {
    let Some(world) = world() else { return };
    let head = world.with_pull_request();
    world.widgets().set_check(&head, Check::running("test"));
    // The claim is session s's: it was told of the pull request.
    let owner = Watcher::of("s", &world, &[]);
    assert!(world.github.wait_for_request("ClaimPoll", PATIENCE));
    let stranger = Watcher::of("t", &world, &[]);
    assert_eq!(stranger.end(), (Some(0), String::new()), "not its claim");
    world
        .widgets()
        .set_check(&head, Check::completed("test", "FAILURE"));
    let (code, said) = owner.end();
    assert_eq!(code, Some(2));
    assert!(said.starts_with("CI failed for PR #44"), "{said}");

    // Another session hands over again: its watcher takes the place of the old one.
    world.widgets().set_check(&head, Check::running("test"));
    let old = Watcher::of("s", &world, &[]);
    world.github.take_requests();
    assert!(world.github.wait_for_request("ClaimPoll", PATIENCE));
    let handoff = ["handoff", "--summary", "Fix the race"];
    world.env.agent("t", &handoff).ok();
    assert!(
        world
            .env
            .stop_of("t", "handed over")
            .held()
            .contains("PR #44")
    );
    let new = Watcher::of("t", &world, &[]);
    assert_eq!(old.end(), (Some(0), String::new()));
    world
        .widgets()
        .set_check(&head, Check::completed("test", "SUCCESS"));
    let (code, said) = new.end();
    assert_eq!(code, Some(2));
    assert!(said.starts_with("CI passed!"), "{said}");
}

#[test]
fn it_takes_up_a_retry_that_is_due() {
    let Some(world) = world() else { return };
    world.work();
    world.write("ready_for_pr");
    let create = mainspring_testkit::github::on("POST /repos/{owner}/{repo}/pulls");
    world
        .github
        .fault(create, mainspring_testkit::github::Fault::Server(500));
    assert!(world.stop("ready").held().starts_with("Failed creating"));
    let watcher = Watcher::start(&world, &[]);
    let mut failure = world.claim()["failure"].clone();
    failure["retry_at"] = "2020-01-01T00:00:00Z".into();
    world.edit(json!({ "failure": failure }));
    let (code, said) = watcher.end();
    assert_eq!(code, Some(2));
    assert!(said.starts_with("PR #44 created"), "{said}");
}

/// The agent pushes a commit, and CI fails at once.
fn push_red(world: &World) {
    let head = world.work();
    let failed = Check::completed("test", "FAILURE");
    world.widgets().set_check(&head, failed);
}

#[test]
fn an_agent_that_answers_each_failure_with_a_push_is_told_once_a_minute() {
    let Some(world) = world() else { return };
    world.with_pull_request();
    push_red(&world);
    let (code, said) = Watcher::start(&world, &[]).end();
    assert_eq!(code, Some(2));
    assert!(said.starts_with("CI failed for PR #44"), "{said}");
    push_red(&world);
    let second = Watcher::start(&world, &[]);
    world.github.take_requests();
    assert!(world.github.wait_for_request("ClaimPoll", PATIENCE));
    for _ in 0..3 {
        assert_eq!(world.stop("I pushed a fix").let_go(), "");
    }
    world.widgets().merge(44);
    let (code, said) = second.end();
    assert_eq!(code, Some(2));
    assert!(said.starts_with("PR #44 merged!"), "{said}");
    assert!(!said.contains("CI failed"), "{said}");
}

#[test]
fn red_ci_waits_for_the_person_after_so_many_rounds() {
    let Some(world) = world() else { return };
    let config = world.env.home().join(".config/mainspring/config.toml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    std::fs::write(config, "[claim]\nmax_ci_rounds = 1\n").unwrap();
    world.with_pull_request();
    push_red(&world);
    assert_eq!(Watcher::start(&world, &[]).end().0, Some(2));
    push_red(&world);
    let second = Watcher::start(&world, &[]);
    let sentence = "CI of PR #44 failed again, and the agent was told of 1 failure since your last \
                    prompt. It waits for you";
    let status = || world.env.run(&["status"]).ok();
    wait_until("it has seen the second failure", || {
        status().contains(&format!("needs you: {sentence}"))
    });
    let note = world.stop("I pushed a fix").let_go();
    assert!(note.contains(sentence), "{note}");
    assert_eq!(world.stop("I wait").let_go(), "", "once");
    let why = world.env.run(&["why"]).ok();
    assert!(why.contains("by rule ci-limit"), "{why}");
    let told = context(world.prompt("go on"));
    assert!(told.starts_with("CI failed for PR #44"), "{told}");
    assert!(!status().contains("needs you"), "{}", status());
    world.widgets().merge(44);
    assert_eq!(second.end().0, Some(2));
}
