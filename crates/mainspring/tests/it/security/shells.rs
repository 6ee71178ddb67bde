//! What an agent can do with commands in its own shell: it speaks for no user, and for no folder
//! but the one that its session began in.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::check::Checked;
use crate::env::{Ran, TestEnv, finish, payload, program};
use crate::sessions::{Client, held};
use crate::taskie::Taskie;

/// A script in a client, which is below shells of as many others as there are variables: a shell
/// stands for each client. `$1` is
/// Mainspring.
pub(crate) fn below(env: &TestEnv, clients: &[&str], script: &str) -> Ran {
    let client = env.root().join("claude");
    if !client.exists() {
        fs::copy("/bin/sh", &client).unwrap();
    }
    let plain = env.command();
    let vars = plain.get_envs();
    let mut command = Command::new(&client);
    for more in clients {
        // Not the last command, which a shell may put in its own place.
        let run = ["-c", "\"$@\"; exit $?", "x"];
        command.args(run).args(["env", more, "/bin/sh"]);
        command.args(run).arg(&client);
    }
    command
        .args(["-c", &format!("{script}\nexit 0"), "x"])
        .arg(program())
        .env_clear()
        .envs(vars.filter_map(|(name, value)| Some((name, value?))))
        .current_dir(env.project());
    finish(&mut command, b"")
}

/// A stop of the session `s` in a file.
fn stop_in(file: &Path, project: &Path, words: &str) {
    let fields = json!({ "session_id": "s", "last_assistant_message": words });
    fs::write(file, payload(project, "Stop", fields).to_string()).unwrap();
}

/// A client that was started in an agent's shell has its variables, and is a client.
#[test]
fn a_client_that_an_agent_started_is_asked_as_any_other() {
    let env = TestEnv::new();
    env.run(&["gate", "on", "--project"]).ok();
    let file = env.root().join("stop");
    stop_in(&file, &env.project(), "bye");
    let inherited = ["CLAUDE_CODE_EXECPATH=/x"];
    let script = "export CLAUDE_CODE_SESSION_ID=s; \"$1\" hook < ../stop";
    held(below(&env, &inherited, script));
}

#[test]
fn an_agent_gives_no_consent_through_a_client_that_it_started() {
    let taskie = Taskie::with_state(json!({"next_phase": "plan-review"}));
    taskie.env.trust();
    let line = json!({
        "type": "user", "promptId": "p", "timestamp": jiff::Timestamp::now().to_string(),
        "origin": {"kind": "human"}, "message": {"role": "user", "content": "good enough"},
    });
    let transcript = taskie.env.home().join(".claude/projects/p/helper.jsonl");
    fs::create_dir_all(transcript.parent().unwrap()).unwrap();
    fs::write(transcript, format!("{line}\n")).unwrap();
    let accept =
        "export CLAUDECODE=1 CLAUDE_CODE_SESSION_ID=helper; \"$1\" plan accept --plan demo";
    let said = below(&taskie.env, &["CLAUDECODE=1"], accept);
    assert!(
        said.stderr.contains("without its user's consent"),
        "{said:?}"
    );
    // The same message in a client of its own is the user's.
    let said = below(&taskie.env, &[], accept);
    assert!(said.stdout.contains("next create-tasks"), "{said:?}");
}

/// The checks of the project in which a session began hold it, wherever its agent goes first.
#[test]
fn a_command_in_another_folder_frees_no_session_from_the_checks_where_it_began() {
    let checked = Checked::new();
    let env = &checked.env;
    let client = Client::new();
    client.starts(env, "s").ok();
    let elsewhere = env.root().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let mut pulse = env.command();
    pulse
        .args(["pulse", "1"])
        .env("CLAUDE_CODE_SESSION_ID", "s")
        .current_dir(&elsewhere);
    let _ = finish(&mut pulse, b"");
    checked.write("good.txt", "no\n");
    let reasons = [
        held(client.stops(env, "s", "one")),
        held(client.stops(env, "s", "two")),
    ];
    let red = |reason: &String| reason.contains("good.txt says no");
    assert!(reasons.iter().any(red), "{reasons:?}");
}

#[test]
fn a_stop_typed_where_the_session_began_says_where_it_works() {
    let env = TestEnv::new();
    let client = Client::new();
    client.starts(&env, "s").ok();
    let sub = env.project().join("sub");
    fs::create_dir_all(sub.join(".git")).unwrap();
    let mut gate = env.command();
    gate.args(["gate", "on", "--project"])
        .env("CLAUDE_CODE_SESSION_ID", "s")
        .current_dir(&sub);
    finish(&mut gate, b"").ok();
    let prompt = ("UserPromptSubmit", json!({"prompt": "go"}));
    client.hook_in(&env, &sub, "s", prompt).ok();
    let said = env.run(&["stop"]).ok();
    assert!(
        said.contains("session s began here and works for"),
        "{said}"
    );
    assert!(
        said.contains("sub && mainspring stop` reaches it"),
        "{said}"
    );
}

/// The agent went there, and so did its user; the session is held by the project where it began.
#[test]
fn a_stop_typed_where_no_session_works_names_the_sessions_that_are_live() {
    let env = TestEnv::new();
    let client = Client::new();
    client.starts(&env, "s").ok();
    env.run(&["gate", "on", "--project"]).ok();
    held(client.stops(&env, "s", "one"));
    let elsewhere = env.root().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let mut stop = env.command();
    let said = finish(stop.arg("stop").current_dir(&elsewhere), b"").ok();
    assert!(said.contains("session s is live, and works for"), "{said}");
    assert!(
        said.contains("project && mainspring stop` reaches it"),
        "{said}"
    );
    held(client.stops(&env, "s", "two"));
    assert!(!env.run(&["stop"]).ok().contains("reaches it"));
}
