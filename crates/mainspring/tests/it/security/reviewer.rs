//! What a reviewer sees of the person's environment, and what is left after it ended.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Child, Stdio};

use mainspring_testkit::process::wait_until;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::runs;
use crate::env::{Ran, payload};
use crate::taskie::{Taskie, write};

fn trusted() -> Taskie {
    let taskie = Taskie::with_state(json!({"next_phase": "plan-review"}));
    let _ = taskie.run(&["trust", "--yes"], b"").ok();
    taskie
}

fn event(taskie: &Taskie) -> Value {
    let words = json!({"last_assistant_message": "done"});
    payload(&taskie.env.project(), "Stop", words)
}

fn stop(taskie: &Taskie) -> Ran {
    taskie.run(&["hook"], event(taskie).to_string().as_bytes())
}

/// Makes the reviewer run this shell script.
fn reviewer(taskie: &Taskie, script: &str) {
    let text = format!("#!/bin/sh\n{script}\n");
    write(&taskie.env.root().join("bin/claude"), &text);
}

fn configure(taskie: &Taskie, text: &str) {
    let file = taskie.env.home().join(".config/mainspring/config.toml");
    write(&file, text);
}

/// Which of these variables a reviewer saw; the value of each is unique.
fn seen(taskie: &Taskie, set: &[&str]) -> BTreeMap<String, String> {
    let seen = taskie.env.root().join("seen");
    reviewer(taskie, &format!("env > {}; exit 1", seen.display()));
    for name in set {
        taskie.set(name, &format!("value-of-{name}"));
    }
    if set.contains(&"CLAUDE_CODE_SESSION_ID") {
        // An event of another session than the host's would count for nothing.
        let event = event(taskie);
        let session = event["session_id"].as_str().unwrap();
        taskie.set("CLAUDE_CODE_SESSION_ID", session);
    }
    let _ = stop(taskie).let_go();
    let text = fs::read_to_string(seen).unwrap();
    let lines = text.lines().filter_map(|line| line.split_once('='));
    lines
        // The shell itself adds these.
        .filter(|(name, _)| !matches!(*name, "PWD" | "OLDPWD" | "SHLVL" | "_"))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn names(seen: &BTreeMap<String, String>) -> Vec<&str> {
    seen.keys().map(String::as_str).collect()
}

/// Variables of the session, tokens of all kinds, and a variable that nobody thought of.
const SECRETS: [&str; 24] = [
    "CLAUDECODE",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_PID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AZURE_CLIENT_SECRET",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "CLOUDSDK_AUTH_ACCESS_TOKEN",
    "ANTHROPIC_ADMIN_KEY",
    "ANTHROPIC_FOUNDRY_API_KEY",
    "GH_TOKEN",
    "GITHUB_TOKEN",
    "GITHUB_PAT",
    "NPM_TOKEN",
    "OPENAI_API_KEY",
    "DATABASE_URL",
    "SSH_AUTH_SOCK",
    "KUBECONFIG",
    "NODE_OPTIONS",
    "LD_PRELOAD_OF_MINE",
    "GIT_SSH_COMMAND",
    "SOMETHING_NEW",
];

#[test]
fn a_reviewer_sees_what_it_needs_and_nothing_else() {
    let taskie = trusted();
    let needed = [
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_DEFAULT_OPUS_MODEL",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "HTTPS_PROXY",
        "LANG",
        "LC_ALL",
        "NODE_EXTRA_CA_CERTS",
        "SSL_CERT_FILE",
        "TZ",
        "USER",
        "XDG_CACHE_HOME",
        "no_proxy",
    ];
    let seen = seen(&taskie, &[&SECRETS[..], &needed].concat());
    let mut expected = needed.to_vec();
    expected.extend(["HOME", "MAINSPRING_DEPTH", "PATH", "TMPDIR"]);
    expected.sort_unstable();
    assert_eq!(names(&seen), expected);
    assert_eq!(seen["ANTHROPIC_API_KEY"], "value-of-ANTHROPIC_API_KEY");
    assert_eq!(seen["MAINSPRING_DEPTH"], "1");
}

#[test]
fn a_providers_credentials_reach_a_reviewer_that_is_told_to_use_it() {
    let providers = [
        ("CLAUDE_CODE_USE_BEDROCK", "AWS_SECRET_ACCESS_KEY"),
        ("CLAUDE_CODE_USE_VERTEX", "GOOGLE_APPLICATION_CREDENTIALS"),
        ("CLAUDE_CODE_USE_FOUNDRY", "ANTHROPIC_FOUNDRY_API_KEY"),
    ];
    for (switch, secret) in providers {
        let taskie = trusted();
        let secrets = providers.map(|(_, secret)| secret);
        let seen = seen(&taskie, &[&[switch], &secrets[..]].concat());
        let through: Vec<&str> = secrets
            .into_iter()
            .filter(|secret| seen.contains_key(*secret))
            .collect();
        assert_eq!(through, [secret], "with {switch}");
    }
}

#[test]
fn the_user_may_pass_on_more_and_a_repository_may_not() {
    let taskie = trusted();
    configure(&taskie, "[review]\nenv = [\"CARGO_HOME\", \"UNSET\"]\n");
    let seen_by_user = seen(&taskie, &["CARGO_HOME", "NPM_TOKEN"]);
    assert_eq!(seen_by_user["CARGO_HOME"], "value-of-CARGO_HOME");
    assert!(!seen_by_user.contains_key("NPM_TOKEN"));

    let taskie = trusted();
    let file = taskie.env.project().join("mainspring.toml");
    write(&file, "[review]\nenv = [\"NPM_TOKEN\"]\n");
    let seen_by_repository = seen(&taskie, &["NPM_TOKEN"]);
    assert!(!seen_by_repository.contains_key("NPM_TOKEN"));
}

#[test]
fn a_drop_in_keeps_to_the_stricter_permissions_that_the_user_chose() {
    for (chosen, skips) in [("", true), ("[review]\npermissions = \"scoped\"\n", false)] {
        let taskie = trusted();
        configure(&taskie, chosen);
        let event = event(&taskie).to_string();
        let _ = taskie.run(&["compat", "taskie"], event.as_bytes());
        let call = taskie.calls().remove(0);
        let skipped = call.iter().any(|word| word.contains("skip-permissions"));
        assert_eq!(skipped, skips, "{chosen:?}: {call:?}");
    }
}

#[test]
fn a_relative_folder_of_the_path_does_not_reach_a_reviewer() {
    let taskie = trusted();
    let bin = taskie.env.root().join("bin");
    taskie.set("PATH", &format!(".:bin:{}:/usr/bin:/bin", bin.display()));
    let path = seen(&taskie, &[]).remove("PATH").unwrap();
    assert_eq!(path, format!("{}:/usr/bin:/bin", bin.display()));
}

/// Makes the reviewer start a process in a session of its own, record its id in a file, and run
/// `then`.
fn leaves_behind(taskie: &Taskie, then: &str) {
    let file = taskie.env.root().join("left-behind");
    let script = format!(
        "setsid sh -c 'echo $$ > {file}.new; mv {file}.new {file}; exec sleep 600' &\n\
         while [ ! -e {file} ]; do sleep 0.01; done\n{then}",
        file = file.display()
    );
    reviewer(taskie, &script);
}

fn left_behind(taskie: &Taskie) -> Option<String> {
    let text = fs::read_to_string(taskie.env.root().join("left-behind")).ok()?;
    Some(text.trim().to_owned())
}

#[test]
fn what_a_reviewer_started_in_its_own_session_ends_with_the_reviewer() {
    for then in ["exit 0", "exit 3", "kill -9 $$"] {
        let taskie = trusted();
        leaves_behind(&taskie, then);
        let _ = stop(&taskie).let_go();
        let pid = left_behind(&taskie).unwrap();
        assert!(!runs(&pid), "{then}");
    }
}

#[test]
fn what_a_reviewer_started_in_its_own_session_ends_at_the_deadline() {
    // On a busy machine the reviewer may not even have begun at the first deadline.
    for deadline in [2, 8, 32, 128] {
        let taskie = trusted();
        configure(&taskie, &format!("[review]\ndeadline = \"{deadline}s\"\n"));
        leaves_behind(&taskie, "sleep 600");
        let said = stop(&taskie).let_go();
        assert!(said.contains("did not"), "{said}");
        if let Some(pid) = left_behind(&taskie) {
            assert!(!runs(&pid), "{said}");
            return;
        }
    }
    panic!("the reviewer never began");
}

#[test]
fn what_a_reviewer_started_in_its_own_session_ends_with_a_hook_that_is_killed() {
    let taskie = trusted();
    leaves_behind(&taskie, "sleep 600");
    let mut hook = start(&taskie);
    wait_until("the reviewer has started it", || {
        left_behind(&taskie).is_some()
    });
    hook.kill().unwrap();
    hook.wait().unwrap();
    let pid = left_behind(&taskie).unwrap();
    wait_until("it ends", || !runs(&pid));
}

/// Starts a stop and does not wait for it.
fn start(taskie: &Taskie) -> Child {
    let mut command = taskie.command();
    command.arg("hook").stdin(Stdio::piped());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let input = event(taskie).to_string();
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, input.as_bytes()).unwrap();
    child
}
