//! Whose loop it is that a person starts in a terminal, and what its agent is told.

use std::fs;

use serde_json::{Value, json};

use crate::env::{Ran, TestEnv, finish, payload};
use crate::loop_daily::{file_of, told};
use crate::security::shells::below;
use crate::sessions::{Client, held};

const SIGNALS: &str = "To end it say one of `<loop-done>COMPLETE</loop-done>`, \
                       `<loop-done>MAX_ITERATIONS</loop-done>`, `<loop-done>STUCK</loop-done>` on \
                       a line of its own, or run `mainspring loop abort`.";

/// An event of a run that nobody attends.
fn headless(env: &TestEnv, session: &str, event: &str, fields: Value) -> Ran {
    let mut event = payload(&env.project(), event, fields);
    event["session_id"] = session.into();
    let mut command = env.command();
    command.arg("hook").env("CLAUDE_CODE_SESSION_ATTENDED", "0");
    finish(&mut command, event.to_string().as_bytes())
}

/// An event of a client that an agent started.
fn helper(env: &TestEnv, session: &str, event: &str, fields: Value) -> Ran {
    let mut event = payload(&env.project(), event, fields);
    event["session_id"] = session.into();
    fs::write(env.root().join("event"), event.to_string()).unwrap();
    let script = format!("export CLAUDE_CODE_SESSION_ID={session}; \"$1\" hook < ../event");
    below(env, &["CLAUDECODE=1"], &script)
}

type Comes = fn(&TestEnv, &str, &str, Value) -> Ran;

#[test]
fn no_helper_and_no_headless_run_takes_a_persons_loop() {
    for (comes, what) in [(helper as Comes, "helper"), (headless as Comes, "headless")] {
        let env = TestEnv::new();
        let said = env.run(&["loop", "start", "--prompt", "Go."]).ok();
        assert!(
            said.starts_with("the loop keeps the next session that you attend here going"),
            "{said}"
        );
        let start = json!({ "source": "startup" });
        assert_eq!(
            told(comes(&env, "h", "SessionStart", start.clone())).0,
            "",
            "{what}"
        );
        let stop = json!({ "last_assistant_message": "Done." });
        assert_eq!(comes(&env, "h", "Stop", stop).let_go(), "", "{what}");
        let (agent, _) = told(env.hook("SessionStart", start));
        assert!(agent.contains("given to this session"), "{what}: {agent}");
        assert!(
            env.stop("x").held().starts_with("[ITERATION 1/10]"),
            "{what}"
        );
    }
}

#[test]
fn the_next_session_may_be_a_headless_run_if_that_was_said_but_no_helper() {
    let env = TestEnv::new();
    let client = Client::new();
    client.starts(&env, "live").ok();
    let said = env.run(&["loop", "start", "--session", "next"]).ok();
    assert!(
        said.starts_with("the loop keeps the next session that starts here going"),
        "{said}"
    );
    let status = env.run(&["loop", "status"]).ok();
    assert!(
        status.contains("for the next session that starts"),
        "{status}"
    );
    assert_eq!(client.stops(&env, "live", "x").let_go(), "");
    let start = json!({ "source": "startup" });
    let (agent, _) = told(helper(&env, "h", "SessionStart", start.clone()));
    assert_eq!(agent, "");
    let (agent, _) = told(headless(&env, "ci", "SessionStart", start));
    assert!(agent.contains("given to this session"), "{agent}");
    let reason = headless(&env, "ci", "Stop", json!({ "last_assistant_message": "x" })).held();
    assert!(reason.starts_with("[ITERATION 1/10]"), "{reason}");
}

#[test]
fn a_loop_from_a_terminal_is_at_once_that_of_the_one_session_that_is_live() {
    let env = TestEnv::new();
    let (one, two) = (Client::new(), Client::new());
    one.starts(&env, "one").ok();
    headless(&env, "ci", "SessionStart", json!({ "source": "startup" })).ok();
    let said = env.run(&["loop", "start", "--max", "5"]).ok();
    assert!(
        said.starts_with("the loop keeps session one going for up to 5 iterations"),
        "{said}"
    );
    // Whoever comes later, it stays where it is, also through `/clear`.
    assert_eq!(two.starts(&env, "two").ok(), "");
    assert_eq!(two.stops(&env, "two", "x").let_go(), "");
    one.hook(&env, "one", "SessionEnd", json!({ "reason": "clear" }))
        .ok();
    one.hook(&env, "next", "SessionStart", json!({ "source": "clear" }))
        .ok();
    let reason = held(one.stops(&env, "next", "x"));
    assert!(reason.starts_with("[ITERATION 1/5]"), "{reason}");
    assert!(file_of(&env, "next").exists());
}

#[test]
fn a_headless_run_that_is_live_gets_a_loop_only_by_its_name() {
    let env = TestEnv::new();
    headless(&env, "ci", "SessionStart", json!({ "source": "startup" })).ok();
    let said = env.run(&["loop", "start"]).ok();
    assert!(
        said.contains("the next session that you attend here"),
        "{said}"
    );
    let none = env.run(&["loop", "adopt"]).failed();
    assert!(none.contains("no session is live here"), "{none}");
    env.run(&["loop", "adopt", "--session", "ci"]).ok();
    headless(&env, "ci", "Stop", json!({ "last_assistant_message": "x" })).held();
}

#[test]
fn the_agent_reads_at_the_first_hold_how_its_loop_ends() {
    let env = TestEnv::new();
    let (one, two) = (Client::new(), Client::new());
    one.starts(&env, "one").ok();
    two.starts(&env, "two").ok();
    env.run(&["loop", "start", "--session", "one", "--prompt", "Go."])
        .ok();
    let first = held(one.stops(&env, "one", "x"));
    assert_eq!(
        first,
        format!(
            "[ITERATION 1/10] Continue working on the task. Check your progress and either \
             complete the task or keep iterating. {SIGNALS}\n\nGo."
        )
    );
    assert!(!held(one.stops(&env, "one", "y")).contains("loop-done"));
    env.run(&["loop", "adopt", "--session", "two"]).ok();
    let adopted = held(two.stops(&env, "two", "x"));
    assert!(adopted.starts_with("[ITERATION 3/10]"), "{adopted}");
    assert!(adopted.ends_with(&format!("{SIGNALS}\n\nGo.")), "{adopted}");
    assert!(!held(two.stops(&env, "two", "y")).contains("loop-done"));
}
