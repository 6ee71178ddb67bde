//! Who typed a command: commands that are reserved for a person are refused to an agent of any
//! host, which is recognised by its variables or by its ancestors.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::json;

use crate::env::{MAINSPRING, Ran, TestEnv, finish, payload};

/// Commands that end or weaken something for a person.
const A_PERSONS: [&[&str]; 10] = [
    &["trust"],
    &["untrust"],
    &["stop"],
    &["pause", "1h"],
    &["resume"],
    &["observe"],
    &["gate", "off", "--project"],
    &["install", "--yes"],
    &["uninstall", "--yes"],
    &["debug", "state", "purge", "--yes"],
];

/// Every test in which a person types something depends on this, so it has a test and a message
/// of its own.
#[test]
fn the_tests_are_cut_off_from_whoever_runs_them() {
    let ran = TestEnv::new().run(&["stop"]);
    assert_eq!(
        ran.code,
        Some(0),
        "the tests run below a coding agent, and scripts/orphan, the runner in .cargo/config.toml, \
         did not separate them from it: is another runner set, or does the agent adopt orphans \
         (a subreaper)? {}",
        ran.stderr
    );
}

#[test]
fn an_agents_variable_is_enough_to_be_refused() {
    for variable in [
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDECODE",
        "CODEX_SESSION_ID",
        "GEMINI_CLI",
        "QWEN_CODE_SESSION_ID",
        "COPILOT_AGENT_SESSION_ID",
        "OPENCODE",
        "GROK_SESSION_ID",
    ] {
        let env = TestEnv::new().with(variable, "1");
        for args in A_PERSONS {
            let error = env.run(args).failed();
            // `uninstall` may find first that it has nothing to do.
            let refused = error.contains("an agent cannot") && error.contains(variable);
            assert!(
                refused || error.contains("no entry of ours"),
                "{args:?}: {error}"
            );
        }
    }
    let env = TestEnv::new().with("CODEX_HOME", "/home/dev/.codex");
    env.run(&["stop"]).ok();
}

/// Runs a command below a shell whose program has the name of a client.
fn below(client: &str, env: &TestEnv, args: &[&str]) -> Ran {
    let program = env.root().join(client);
    if fs::symlink_metadata(&program).is_err() {
        fs::copy("/bin/sh", &program).unwrap();
    }
    let plain = env.command();
    let mut command = Command::new(program);
    command
        .env_clear()
        .envs(
            plain
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .current_dir(env.project())
        // It is not the last command, because a shell may replace itself with that one.
        .args(["-c", "\"$@\"; exit $?", "agent", MAINSPRING])
        .args(args);
    finish(&mut command, b"")
}

#[test]
fn an_agent_without_a_variable_is_known_by_its_process() {
    for (client, name) in [
        ("claude", "Claude Code"),
        ("droid", "Factory Droid"),
        ("kimi", "Kimi Code"),
    ] {
        let env = TestEnv::new();
        for args in A_PERSONS {
            let error = below(client, &env, args).failed();
            let refused = error.contains("an agent cannot") && error.contains(name);
            assert!(
                refused || error.contains("no entry of ours"),
                "{args:?}: {error}"
            );
        }
        assert_eq!(env.stop("bye").let_go(), "", "nothing came of it");
    }
}

#[test]
fn a_shell_or_an_editor_above_is_no_agent() {
    for person in ["zsh", "code", "tmux"] {
        let env = TestEnv::new();
        below(person, &env, &["stop"]).ok();
    }
}

/// Only a program's own name counts, not that of a folder or a symlink on the way to it.
#[test]
fn a_folder_by_the_name_of_a_client_makes_nobody_an_agent() {
    let env = TestEnv::new();
    fs::create_dir(env.root().join("claude")).unwrap();
    symlink("/bin/sh", env.root().join("claude/shell")).unwrap();
    below("claude/shell", &env, &["stop"]).ok();
}

/// It has inherited the variables of the client above it.
#[test]
fn a_client_that_another_vendors_agent_started_belongs_to_its_own_project() {
    let env = TestEnv::new();
    env.run(&["gate", "on", "--project"]).ok();
    let elsewhere = env.root().join("elsewhere");
    std::fs::create_dir_all(elsewhere.join(".git")).unwrap();
    let send = |host: &str, event: &str| {
        let fields = json!({ "session_id": host, "last_assistant_message": "Done." });
        let event = payload(&elsewhere, event, fields);
        let mut command = env.command();
        command
            .args(["hook", "--host", host])
            .env("CLAUDE_PROJECT_DIR", env.project())
            .env("CLAUDE_CODE_SESSION_ATTENDED", "0");
        finish(&mut command, event.to_string().as_bytes())
    };
    send("claude", "Stop").held();
    send("codex", "SessionStart").ok();
    assert_eq!(send("codex", "Stop").let_go(), "");
    let all = env.run(&["sessions", "--json"]).json();
    let all = all["sessions"].as_array().unwrap();
    let about = |id: &str| {
        let session = all.iter().find(|one| one["session"] == id).unwrap();
        let project = session["project"].as_str().unwrap();
        let name = project.rsplit('/').next().unwrap().to_owned();
        (name, session["attendance"].as_str().unwrap().to_owned())
    };
    assert_eq!(about("claude"), ("project".into(), "headless".into()));
    assert_eq!(about("codex"), ("elsewhere".into(), "attended".into()));
}
