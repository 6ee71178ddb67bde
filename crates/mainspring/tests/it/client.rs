//! The real client runs the real binary.

use mainspring_testkit::claude::{Claude, Hook};
use mainspring_testkit::model::{Model, Turn};
use mainspring_testkit::recorder::Outcome;
use serde_json::{Value, json};

use crate::env::MAINSPRING;

const EVENTS: [&str; 4] = ["SessionStart", "Stop", "PostToolUse", "UserPromptExpansion"];

/// The client with our hook for the events that the machines listen to.
fn hooked(model: &Model) -> Option<Claude> {
    let hook = Hook::exec(MAINSPRING, ["hook"]);
    Some(
        Claude::new(model)?
            .in_repository()
            .hooks(EVENTS, &hook)
            .recording(),
    )
}

/// Mainspring's commands in the client's project and home.
fn mainspring(claude: &Claude, args: &[&str]) -> String {
    let output = std::process::Command::new(MAINSPRING)
        .args(args)
        .env_clear()
        .env("HOME", claude.home())
        .current_dir(claude.project())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_hold_reaches_the_agent_and_continues_it() {
    let model = Model::play([
        Turn::say("Hello."),
        Turn::say("I read beat one."),
        Turn::say("I read beat two."),
    ]);
    let Some(claude) = hooked(&model) else { return };
    mainspring(&claude, &["trust", "--yes"]);
    mainspring(&claude, &["pulse", "2"]);
    let run = claude.run("say hello").expect_success();
    assert_eq!(run.answer(), "I read beat two.");
    assert!(model.saw_text("Mainspring is connected (beat 1 of 2)"));
    assert!(model.saw_text("A child process said: mainspring"));
    let log = mainspring(&claude, &["log"]);
    assert_eq!(
        log.lines().filter(|line| line.contains(" held  ")).count(),
        2,
        "{log}"
    );
}

#[test]
fn every_event_we_listen_to_arrives_and_decodes() {
    let model = Model::play([
        Turn::call(
            "Bash",
            json!({ "command": "echo hi", "description": "say hi" }),
        ),
        Turn::say("Done."),
    ]);
    let Some(claude) = hooked(&model) else { return };
    let commands = claude.project().join(".claude/commands");
    std::fs::create_dir_all(&commands).unwrap();
    std::fs::write(commands.join("greet.md"), "Say hi with bash.\n").unwrap();
    claude.run("/greet").expect_success();
    let calls = claude.hook_calls();
    for event in EVENTS {
        let call = calls.iter().find(|call| call.event() == event);
        let call = call.unwrap_or_else(|| panic!("{event} did not arrive: {calls:?}"));
        let Outcome::Ended { code, stdout, .. } = &call.outcome else {
            panic!("{event} never ended")
        };
        assert_eq!((*code, stdout.as_str()), (0, ""), "{event}");
        assert_ne!(call.input["session_id"], Value::Null);
    }
}

/// A reviewer is a `claude -p` that a hook of ours starts. Its own hooks see our depth variable
/// and do nothing, even if its settings do not switch them off.
#[test]
fn a_nested_client_does_not_recurse_into_us() {
    let model = Model::play([Turn::say("Nested, and done.")]);
    let Some(claude) = hooked(&model) else { return };
    mainspring(&claude, &["pulse", "3"]);
    let nested = claude.env("MAINSPRING_DEPTH", "1");
    let run = nested.run("review it").expect_success();
    assert_eq!(run.answer(), "Nested, and done.");
    let stops = nested.hook_calls();
    assert!(stops.iter().any(|call| call.event() == "Stop"));
    let log = mainspring(&nested, &["log"]);
    assert_eq!(
        log.lines().count(),
        1,
        "only the command is in the journal: {log}"
    );
}
