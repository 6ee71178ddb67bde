//! `/mainspring:stop` and its like, typed in the client, or the message `mainspring stop`: the
//! host's event says that a person typed it. The real clients are in `brake_client`,
//! `product_clients` and the test kit's journeys.

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
fn an_order_is_carried_out_whoever_started_the_hook() {
    let ways: [Way; 6] = [
        // A registration that goes through a shell or a wrapper.
        (&["claude", "sh"], &[]),
        (&["claude", "sh", "timeout"], &[]),
        (&["wrapper"], &[]),
        // A client in a shell of another agent, or of its own.
        (&["codex", "bash", "claude"], &[]),
        (&["claude", "bash", "claude"], &[("CLAUDECODE", "1")]),
        // A client that says that nobody attends it.
        (&["claude"], &[("CLAUDE_CODE_SESSION_ATTENDED", "0")]),
    ];
    for (clients, vars) in ways {
        let env = gated();
        let type_in = |name: &str| reason(below(&env, clients, vars, &typed(&env, name, "")));
        env.stop("one").held();
        let said = type_in("stop");
        assert!(said.starts_with("done: nothing here holds"), "{said}");
        env.stop("two").let_go();
        type_in("resume");
        env.stop("three").held();
        type_in("pause");
        env.stop("four").let_go();
    }
}

/// The client asks about the prompt first and then about the command. Only the second question is
/// about an order: no machine takes the first one for a prompt.
#[test]
fn the_prompt_of_a_typed_order_is_nobodys_prompt() {
    let env = gated();
    env.stop("one").held();
    for text in ["/mainspring:stop", "/mainspring:pause 1h gate"] {
        let said = env.hook("UserPromptSubmit", json!({ "prompt": text })).ok();
        assert_eq!(said, "", "{text}");
    }
    let log = env.run(&["log"]).ok();
    assert!(!log.contains(" prompt "), "{log}");
    env.stop("two").held();
}

#[test]
fn an_order_that_was_carried_out_does_not_look_refused() {
    let env = gated();
    let answer = |name: &str, args: &str| -> Value {
        below(&env, &["claude"], &[], &typed(&env, name, args)).json()
    };
    assert_eq!(
        answer("stop", ""),
        json!({
            "decision": "block",
            "reason": "done: nothing here holds the agent any more; `mainspring resume` undoes this",
            "hookSpecificOutput": {
                "hookEventName": "UserPromptExpansion", "suppressOriginalPrompt": true,
            },
        })
    );
    let wrong = answer("pause", "for ever");
    let said = wrong["reason"].as_str().unwrap();
    assert!(said.starts_with("not done: "), "{said}");
    // A message that is blocked would come back into the input.
    let said = env.hook("UserPromptSubmit", json!({ "prompt": "mainspring resume" }));
    assert_eq!(
        said.json(),
        json!({ "continue": false, "stopReason": "done: everything here is resumed" })
    );
}

/// A plugin that was loaded from a folder is not in the client's registry.
#[test]
fn no_task_list_is_looked_for_when_a_command_of_ours_is_typed() {
    let env = gated();
    for name in ["stop", "loop", "claim", "completion-checklist"] {
        let said = below(&env, &["claude"], &[], &typed(&env, name, "")).ok();
        assert!(!said.contains("task list"), "{name}: {said}");
    }
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
fn a_message_that_is_an_order_is_carried_out_whoever_started_the_hook() {
    let ways: [Way; 4] = [
        (&["codex", "sh"], &[]),
        (&["wrapper"], &[]),
        (&["claude", "bash", "codex"], &[]),
        (&["codex"], &[("CLAUDECODE", "1")]),
    ];
    for (clients, vars) in ways {
        let env = gated();
        env.stop("one").held();
        reason(below(
            &env,
            clients,
            vars,
            &message(&env, "mainspring stop"),
        ));
        env.stop("two").let_go();
    }
}

#[test]
fn a_program_that_we_started_gives_no_order() {
    let env = gated();
    let vars = [("MAINSPRING_DEPTH", "1")];
    let ran = below(&env, &["codex"], &vars, &message(&env, "mainspring stop"));
    assert_eq!(ran.ok(), "");
    env.stop("one").held();
}
