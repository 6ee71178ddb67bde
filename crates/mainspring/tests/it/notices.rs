//! A person who looks elsewhere is told: by a command of theirs.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::env::TestEnv;

/// A command that writes down what it is told.
fn told() -> TestEnv {
    let env = TestEnv::new();
    let tell = env.root().join("tell");
    let script = format!(
        "#!/bin/sh\necho \"$1: $2\" >> {}/told\n",
        env.root().display()
    );
    fs::write(&tell, script).unwrap();
    fs::set_permissions(&tell, fs::Permissions::from_mode(0o755)).unwrap();
    let words = format!("{},news", tell.display());
    env.run(&["config", "set", "notify.command", &words]).ok();
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

#[test]
fn the_hosts_own_limit_is_news() {
    let env = told();
    env.run(&["pulse", "20"]).ok();
    let again = |words: &str| {
        let fields = json!({ "last_assistant_message": words, "stop_hook_active": true });
        env.hook("Stop", fields)
    };
    for beat in 1..9 {
        again(&format!("beat {beat}")).held();
    }
    assert_eq!(heard(&env), "");
    again("once more").let_go();
    assert_eq!(
        heard(&env)
            .lines()
            .filter(|line| line.starts_with("news: "))
            .count(),
        1,
        "{}",
        heard(&env)
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
