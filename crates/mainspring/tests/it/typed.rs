//! `/mainspring:stop` and its like, typed in the client, or the message `mainspring stop` where a
//! client has no such commands: who typed it is shown by who ran the hook. The real clients are in
//! `product_clients` and in the test kit's journeys.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::env::{MAINSPRING, Ran, TestEnv, finish, payload};

/// The event that the client sends for a typed command.
fn typed(env: &TestEnv, name: &str, args: &str) -> String {
    let fields = json!({
        "command_name": format!("mainspring:{name}"), "command_args": args,
        "command_source": "plugin", "expansion_type": "slash_command",
        "prompt": format!("/mainspring:{name} {args}"),
    });
    payload(&env.project(), "UserPromptExpansion", fields).to_string()
}

/// The hook as a child of these programs, the outermost first. A shell stands for each.
fn below(env: &TestEnv, clients: &[&str], vars: &[(&str, &str)], event: &str) -> Ran {
    let programs: Vec<_> = clients.iter().map(|name| env.root().join(name)).collect();
    for program in &programs {
        if !program.exists() {
            fs::copy("/bin/sh", program).unwrap();
        }
    }
    let plain = env.command();
    let mut command = Command::new(&programs[0]);
    // Not the last command, which a shell may put in its own place.
    let run = "\"$@\"; exit $?";
    command.args(["-c", run, "x"]);
    for program in &programs[1..] {
        command.arg(program).args(["-c", run, "x"]);
    }
    command
        .args([MAINSPRING, "hook"])
        .env_clear()
        .envs(
            plain
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .envs(vars.iter().copied())
        .current_dir(env.project());
    finish(&mut command, event.as_bytes())
}

fn gated() -> TestEnv {
    let env = TestEnv::new();
    env.run(&["gate", "on", "--project"]).ok();
    env
}

fn reason(ran: Ran) -> String {
    let answer: Value = ran.json();
    assert_eq!(answer["decision"], "block", "it does not reach the model");
    answer["reason"].as_str().unwrap().to_owned()
}

#[test]
fn what_the_user_types_in_the_client_is_carried_out_by_the_hook() {
    let env = gated();
    let type_in =
        |name: &str, args: &str| reason(below(&env, &["claude"], &[], &typed(&env, name, args)));
    env.stop("one").held();
    let said = type_in("stop", "");
    assert!(
        said.contains("nothing here holds the agent any more"),
        "{said}"
    );
    assert!(env.stop("two").let_go().contains("mainspring resume"));
    type_in("resume", "");
    env.stop("three").held();
    let said = type_in("pause", "");
    assert!(said.contains("until"), "{said}");
    env.stop("four").let_go();
    type_in("resume", "gate");
    env.stop("five").held();
    type_in("pause", "1h gate");
    env.stop("six").let_go();
    let said = type_in("pause", "for ever");
    assert!(
        said.contains("for ever") || said.contains("error"),
        "{said}"
    );
    let log = env.run(&["log"]).ok();
    assert!(
        log.contains("mainspring stop") && log.contains("mainspring pause"),
        "{log}"
    );
}

/// The programs above the hook, and variables that it sees.
type Way = (
    &'static [&'static str],
    &'static [(&'static str, &'static str)],
);

#[test]
fn an_event_that_an_agent_pipes_into_the_hook_gives_and_lifts_no_order() {
    let env = gated();
    let ways: [Way; 5] = [
        // From a shell of the agent's, or from anywhere else.
        (&["claude", "bash"], &[]),
        (&["bash"], &[]),
        // From a shell of the agent's that gave its place to the hook.
        (&["claude"], &[("CLAUDE_CODE_EXECPATH", "/bin/claude")]),
        // From a client that an agent started.
        (&["claude", "bash", "claude"], &[]),
        // From a client that nobody attends.
        (&["claude"], &[("CLAUDE_CODE_SESSION_ATTENDED", "0")]),
    ];
    for (clients, vars) in ways {
        let ran = below(&env, clients, vars, &typed(&env, "stop", ""));
        assert!(!ran.ok().contains("decision"), "{clients:?} {vars:?}");
    }
    env.stop("one").held();
    env.run(&["stop"]).ok();
    for (clients, vars) in ways {
        let ran = below(&env, clients, vars, &typed(&env, "resume", ""));
        assert!(!ran.ok().contains("decision"), "{clients:?} {vars:?}");
    }
    env.stop("two").let_go();
}

#[test]
fn no_other_command_of_ours_is_carried_out_for_being_typed() {
    let env = gated();
    for name in ["trust", "gate", "uninstall", "claim", "stop2"] {
        let ran = below(&env, &["claude"], &[], &typed(&env, name, "off --project"));
        assert!(!ran.ok().contains("decision"), "{name}");
    }
    env.stop("one").held();
}

/// The event that Codex sends for a message.
fn message(env: &TestEnv, words: &str) -> String {
    message_in(&env.project(), words)
}

fn message_in(folder: &Path, words: &str) -> String {
    let fields = json!({
        "prompt": words, "turn_id": "t", "model": "m", "permission_mode": "default",
    });
    payload(folder, "UserPromptSubmit", fields).to_string()
}

#[test]
fn an_order_is_about_the_sessions_project_wherever_the_agent_went() {
    let env = gated();
    env.stop("one").held();
    let elsewhere = env.root().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let said = below(
        &env,
        &["codex"],
        &[],
        &message_in(&elsewhere, "mainspring stop"),
    );
    assert!(reason(said).contains("nothing here holds"));
    assert!(env.stop("two").let_go().contains("you stopped"));
}

#[test]
fn a_message_that_is_an_order_is_carried_out_where_there_are_no_commands() {
    let env = gated();
    let say = |words: &str| below(&env, &["codex"], &[], &message(&env, words));
    env.stop("one").held();
    let said = reason(say(" mainspring stop\n"));
    assert!(
        said.contains("nothing here holds the agent any more"),
        "{said}"
    );
    env.stop("two").let_go();
    reason(say("mainspring resume"));
    env.stop("three").held();
    reason(say("mainspring pause 1h gate"));
    env.stop("four").let_go();
    reason(say("mainspring resume gate"));
    env.stop("five").held();
    reason(say("mainspring pause"));
    env.stop("six").let_go();
}

#[test]
fn a_message_that_is_more_than_an_order_is_for_the_agent() {
    let env = gated();
    for words in [
        "mainspring stop holding me up",
        "mainspring stop\nand then go on",
        "please run mainspring stop",
        "`mainspring stop`",
        "mainspring trust",
        "mainspring gate off --project",
        "mainspring",
        "Mainspring stop",
    ] {
        let ran = below(&env, &["codex"], &[], &message(&env, words));
        assert!(!ran.ok().contains("decision"), "{words:?}");
    }
    env.stop("one").held();
}

#[test]
fn a_message_that_an_agent_sends_gives_no_order() {
    let env = gated();
    let ways: [Way; 7] = [
        (&["codex", "bash"], &[]),
        (&["bash"], &[]),
        (&["codex"], &[("CODEX_SESSION_ID", "s")]),
        (&["codex", "bash", "codex"], &[]),
        // From a client that another host's agent started.
        (&["claude", "bash", "codex"], &[]),
        (&["codex"], &[("CLAUDECODE", "1")]),
        (&["codex"], &[("MAINSPRING_DEPTH", "1")]),
    ];
    for (clients, vars) in ways {
        let ran = below(&env, clients, vars, &message(&env, "mainspring stop"));
        assert!(!ran.ok().contains("decision"), "{clients:?} {vars:?}");
    }
    env.stop("one").held();
}
