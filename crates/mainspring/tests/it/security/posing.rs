//! An agent that names another session than its own, in a variable or in an event.

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::claim::world::world;
use crate::env::{TestEnv, finish, payload, program};
use crate::sessions::{Client, held};

/// What is printed by a script that runs in the shell of the session `thief`: its client started it
/// and told us so. `$1` is Mainspring.
fn in_shell_of_thief(env: &TestEnv, script: &str) -> String {
    let client = env.root().join("claude");
    if !client.exists() {
        fs::copy("/bin/sh", &client).unwrap();
    }
    let event = |name: &str, event: &str, fields| {
        let event = payload(&env.project(), event, fields).to_string();
        fs::write(env.root().join(name), event).unwrap();
    };
    let thief = json!({ "session_id": "thief", "source": "startup" });
    event("starts", "SessionStart", thief);
    let victim = json!({ "session_id": "victim", "source": "resume" });
    event("resumes", "SessionStart", victim);
    let done = json!({
        "session_id": "victim",
        "last_assistant_message": "TASKMASTER_DONE::victim\n<loop-done>COMPLETE</loop-done>",
    });
    event("done", "Stop", done);
    let over = json!({ "session_id": "victim", "reason": "other" });
    event("over", "SessionEnd", over);
    let begin = "export CLAUDE_PID=$$ CLAUDE_CODE_SESSION_ID=thief; \"$1\" hook < ../starts";
    let plain = env.command();
    let vars = plain.get_envs();
    let mut command = Command::new(client);
    command
        .args(["-c", &format!("{begin}\n{script}\nexit 0"), "x"])
        .arg(program())
        .env_clear()
        .envs(vars.filter_map(|(name, value)| Some((name, value?))))
        .current_dir(env.project());
    let ran = finish(&mut command, b"");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran.stdout + &ran.stderr
}

/// A session with a gate and a loop that its agent began, whose client lives.
fn victim(env: &TestEnv) -> Client {
    let client = Client::new();
    client.starts(env, "victim").ok();
    env.agent("victim", &["gate", "on"]).ok();
    env.agent("victim", &["loop", "start", "--max", "9"]).ok();
    held(client.stops(env, "victim", "bye"));
    client
}

/// Both still hold.
fn assert_held(env: &TestEnv, client: &Client, words: &str) {
    let reason = held(client.stops(env, "victim", words));
    assert!(reason.contains("TASKMASTER"), "{reason}");
    assert!(reason.contains("[ITERATION"), "{reason}");
}

#[test]
fn an_agent_that_sets_another_sessions_variable_ends_nothing_of_it() {
    let env = TestEnv::new();
    let client = victim(&env);
    for command in ["loop abort", "loop push --max 1", "gate off"] {
        let script = format!("CLAUDE_CODE_SESSION_ID=victim \"$1\" {command}");
        let said = in_shell_of_thief(&env, &script);
        assert!(said.contains("an agent cannot "), "{command}: {said}");
    }
    assert_held(&env, &client, "after the commands");
    // The session's own agent may, whoever else is live.
    env.agent("victim", &["loop", "abort"]).ok();
}

#[test]
fn an_event_of_another_session_opens_nothing_whatever_the_variables_say() {
    let env = TestEnv::new();
    let client = victim(&env);
    let pid = client.pid();
    for vars in [
        "CLAUDE_CODE_SESSION_ID=".to_owned(),
        "CLAUDE_CODE_SESSION_ID=victim".to_owned(),
        format!("CLAUDE_CODE_SESSION_ID=victim CLAUDE_PID={pid}"),
    ] {
        // An event that would make the session the thief's first, then its stop and its end.
        for event in ["resumes", "done", "over"] {
            let said = in_shell_of_thief(&env, &format!("{vars} \"$1\" hook < ../{event}"));
            let told = said.contains("session thief sent a stop of session victim");
            assert_eq!(told, event == "done", "{vars}, {event}: {said}");
        }
        assert_held(&env, &client, &vars);
    }
    let live = env.run(&["sessions", "--json"]).json();
    let clients: Vec<_> = live["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["client"])
        .collect();
    assert!(clients.contains(&&json!(pid)), "{live}");
}

/// A second client goes on with a session that a first one has open, too.
#[test]
fn a_session_that_is_open_in_two_clients_is_held_in_both() {
    let env = TestEnv::new();
    let first = Client::new();
    first.starts(&env, "s").ok();
    env.run(&["gate", "on", "--project"]).ok();
    let second = Client::new();
    second
        .hook(&env, "s", "SessionStart", json!({ "source": "resume" }))
        .ok();
    held(first.stops(&env, "s", "one"));
    held(second.stops(&env, "s", "two"));
}

/// A plan that belongs to nobody who is there would never be reviewed.
#[test]
fn an_agent_that_makes_a_session_up_gives_its_plan_to_nobody() {
    let env = TestEnv::new();
    env.trust();
    let plan = "\"$1\" plan init w";
    for command in [
        "plan route",
        "plan adopt",
        "plan set tdd true",
        "plan review restart plan",
        "plan advance post-plan-review",
        "gate on",
        "loop start",
    ] {
        let script = format!("{plan}; CLAUDE_CODE_SESSION_ID=nobody \"$1\" {command}");
        let said = in_shell_of_thief(&env, &script);
        assert!(
            said.contains("this shell is session thief's"),
            "{command}: {said}"
        );
        let status = env.run(&["plan", "status", "--json"]).ok();
        assert!(!status.contains("nobody"), "{command}: {status}");
    }
}

/// What is refused has changed nothing, on GitHub or on the git server.
#[test]
fn an_agent_that_makes_a_session_up_gives_no_issue_back() {
    let Some(world) = world() else { return };
    world.env.agent("s", &["claim", "42"]).ok();
    let (card, assignees) = (world.card(), world.widgets().issue(42).assignees);
    let reference = "refs/mainspring/claims/42";
    let refused = |command: &str| {
        let script = format!("CLAUDE_CODE_SESSION_ID=nobody \"$1\" {command}");
        let said = in_shell_of_thief(&world.env, &script);
        assert!(said.contains("this shell is session thief's"), "{said}");
        assert_eq!(world.card(), card, "{command}");
        assert_eq!(world.widgets().issue(42).assignees, assignees, "{command}");
        assert!(world.bare.refs().contains_key(reference), "{command}");
    };
    refused("claim abort");
    std::fs::remove_file(world.file()).unwrap();
    refused("claim release 42");
}
