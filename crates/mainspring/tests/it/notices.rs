//! A person who looks elsewhere is told, on the desktop or by a command of theirs: when the agent
//! needs them, a review ends, the checks of a pull request change, a cap lets go, a breaker lets
//! go.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use mainspring_testkit::github::Check;
use serde_json::json;

use crate::claim::world::world;
use crate::env::{Ran, TestEnv, payload};
use crate::taskie::Taskie;

/// A program that writes down its arguments, one line each time.
fn recorder(env: &TestEnv, program: &Path) {
    let script = format!("#!/bin/sh\necho \"$*\" >> {}/told\n", env.root().display());
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    fs::write(program, script).unwrap();
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The person's own command writes down what it is told.
fn listen(env: &TestEnv) {
    let tell = env.root().join("tell");
    recorder(env, &tell);
    let words = format!("{},news:", tell.display());
    env.run(&["config", "set", "notify.command", &words]).ok();
}

fn told() -> TestEnv {
    let env = TestEnv::new();
    listen(&env);
    env
}

fn heard(env: &TestEnv) -> String {
    fs::read_to_string(env.root().join("told")).unwrap_or_default()
}

#[test]
fn a_hold_is_no_news_and_what_lets_the_agent_go_is() {
    let env = told();
    env.run(&["pulse", "3"]).ok();
    env.stop("one").held();
    assert_eq!(heard(&env), "", "the agent goes on");
    fs::write(env.project_state().join("pulse.json"), "{").unwrap();
    env.stop("two").let_go();
    assert!(
        heard(&env).starts_with("news: ") && heard(&env).contains("pulse.json"),
        "{}",
        heard(&env)
    );
}

/// Stops until the host's own limit on holds lets the agent go.
fn to_the_cap(env: &TestEnv) {
    env.run(&["pulse", "20"]).ok();
    let again = |words: &str| {
        let fields = json!({ "last_assistant_message": words, "stop_hook_active": true });
        env.hook("Stop", fields)
    };
    for beat in 1..9 {
        again(&format!("beat {beat}")).held();
    }
    assert_eq!(heard(env), "");
    again("once more").let_go();
}

#[test]
fn a_cap_that_lets_go_is_news() {
    let env = told();
    to_the_cap(&env);
    let heard = heard(&env);
    assert!(heard.starts_with("news: let go after 8 blocks"), "{heard}");
    assert_eq!(heard.lines().count(), 1, "{heard}");
}

#[test]
fn a_notice_is_shown_on_the_desktop_if_that_is_wanted() {
    let env = TestEnv::new();
    let bin = env.root().join("bin");
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let env = env.with("PATH", &path);
    recorder(&env, &bin.join("notify-send"));
    to_the_cap(&env);
    assert_eq!(heard(&env), "", "it is off unless a person wants it");
    env.run(&["config", "set", "notify.desktop", "true"]).ok();
    env.hook("UserPromptSubmit", json!({ "prompt": "again" }))
        .ok();
    to_the_cap(&env);
    let heard = heard(&env);
    assert!(
        heard.starts_with("--app-name=Mainspring Mainspring let go after 8 blocks"),
        "{heard}"
    );
}

fn stop(taskie: &Taskie, words: &str) -> Ran {
    let event = payload(
        &taskie.env.project(),
        "Stop",
        json!({ "last_assistant_message": words }),
    );
    taskie.run(&["hook"], event.to_string().as_bytes())
}

#[test]
fn a_review_that_ends_is_news() {
    let taskie = Taskie::with_state(json!({"next_phase": "plan-review"}));
    listen(&taskie.env);
    taskie.verdict("FAIL");
    let _ = stop(&taskie, "written").held();
    let first = heard(&taskie.env);
    assert!(first.contains("opus: FAIL, "), "{first}");
    assert!(
        !first.contains("plan advance"),
        "no word for the agent: {first}"
    );
    taskie.verdict("PASS");
    for words in ["fixed", "fixed again"] {
        taskie.post_review();
        drop(stop(&taskie, words));
    }
    let last = heard(&taskie.env);
    let last = last.lines().last().unwrap();
    assert!(last.contains(": PASS, "), "{last}");
}

#[test]
fn a_breaker_that_lets_go_is_news() {
    let taskie = Taskie::with_state(json!({"next_phase": "plan-review"}));
    listen(&taskie.env);
    taskie.set("MOCK_CLAUDE_EXIT_CODE", "1");
    for n in 1..4 {
        let _ = stop(&taskie, &format!("written {n}")).let_go();
    }
    let heard = heard(&taskie.env);
    let last = heard.lines().last().unwrap();
    assert!(last.contains("parked"), "{heard}");
}

#[test]
fn news_of_a_pull_request_and_the_question_after_its_merge_are_news() {
    let Some(world) = world() else { return };
    listen(&world.env);
    let head = world.with_pull_request();
    world
        .widgets()
        .set_check(&head, Check::completed("test", "FAILURE"));
    world.two_minutes_later();
    world.idle().ok();
    let news = heard(&world.env);
    let lines: Vec<&str> = news.lines().collect();
    assert_eq!(lines.len(), 2, "{news}");
    assert!(lines[0].starts_with("news: PR #44 created"), "{news}");
    assert_eq!(lines[1], "news: PR #44: checks failed: test");
    // The agent waits for an answer.
    world.widgets().merge(44);
    world.two_minutes_later();
    world.idle().ok();
    let news = heard(&world.env);
    assert!(
        news.lines()
            .last()
            .unwrap()
            .contains("To close issue #42, answer your agent"),
        "{news}"
    );
}

#[test]
fn a_repository_cannot_name_the_command_and_one_that_is_missing_is_found_by_the_doctor() {
    let env = TestEnv::new();
    let error = env
        .run(&["config", "set", "notify.command", "evil", "--project"])
        .failed();
    assert!(error.contains("a project cannot set it"), "{error}");
    env.run(&["config", "set", "notify.command", "/nowhere/tell"])
        .ok();
    let doctor = env.run(&["doctor"]).stdout;
    assert!(
        doctor.contains("\"/nowhere/tell\" does not exist"),
        "{doctor}"
    );
    // It does no harm.
    env.run(&["pulse", "1"]).ok();
    env.stop("one").held();
    env.stop("two").let_go();
}
