//! `loop` in daily life: a loop per session, what is told when a session goes on, nested loops, and
//! what is left behind.

use std::fs;
use std::path::{Path, PathBuf};

use mainspring_testkit::files::sealed;
use serde_json::{Value, json};

use crate::env::{Ran, TestEnv, finish};
use crate::sessions::{Client, held};

const DONE: &str = "<loop-done>COMPLETE</loop-done>";
const ISSUE_DONE: &str = "<issue-complete>DONE</issue-complete>";

fn page(env: &TestEnv) -> PathBuf {
    env.project().join(".claude/idle-loop.local.md")
}

fn put_page(env: &TestEnv, text: &str) {
    fs::create_dir_all(page(env).parent().unwrap()).unwrap();
    fs::write(page(env), text).unwrap();
}

pub(crate) fn config(env: &TestEnv, text: &str) {
    let file = env.home().join(".config/mainspring/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

/// Where the loop of a session is in our own store.
pub(crate) fn file_of(env: &TestEnv, session: &str) -> PathBuf {
    env.project_state().join(format!("loop-of-{session}.json"))
}

/// Makes a loop look as if it had last moved years ago.
pub(crate) fn age(path: &Path) {
    let mut doc: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    doc["updated_at"] = "2024-12-21T10:30:00Z".into();
    fs::write(path, sealed(doc)).unwrap();
}

pub(crate) fn told(ran: Ran) -> (String, String) {
    let answer: Value = serde_json::from_str(&ran.ok()).unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (
        text(&answer["hookSpecificOutput"]["additionalContext"]),
        text(&answer["systemMessage"]),
    )
}

#[test]
fn two_sessions_in_one_project_have_two_loops() {
    let env = TestEnv::new();
    for (session, max) in [("a", "3"), ("b", "7")] {
        env.agent(session, &["loop", "start", "--max", max]).ok();
    }
    for (session, label) in [
        ("a", "[ITERATION 1/3]"),
        ("b", "[ITERATION 1/7]"),
        ("b", "[ITERATION 2/7]"),
        ("a", "[ITERATION 2/3]"),
    ] {
        let reason = env.stop_of(session, label).held();
        assert!(reason.starts_with(label), "{session}: {reason}");
    }
    assert!(file_of(&env, "a").exists() && file_of(&env, "b").exists());
    let again = env.agent("a", &["loop", "start"]).failed();
    assert!(again.contains("a loop runs here already"), "{again}");

    // An inner loop goes onto its own session's.
    env.agent("b", &["loop", "push", "--max", "2"]).ok();
    assert!(env.stop_of("a", "x").held().starts_with("[ITERATION 3/3]"));
    assert!(env.stop_of("b", "x").held().starts_with("[ITERATION 1/2]"));
    let other = env.agent("c", &["loop", "push"]).failed();
    assert!(other.contains("an agent cannot"), "{other}");

    assert_eq!(env.stop_of("a", DONE).let_go(), "");
    assert!(!file_of(&env, "a").exists() && file_of(&env, "b").exists());
}

#[test]
fn a_terminal_with_several_loops_is_asked_which_one_is_meant() {
    let env = TestEnv::new();
    for session in ["a", "b", "c"] {
        env.agent(session, &["loop", "start"]).ok();
    }
    for command in [&["abort"][..], &["push"], &["status"], &["list"]] {
        let refused = env.run(&[&["loop"], command].concat()).failed();
        assert!(refused.contains("several loops run here"), "{refused}");
        for hint in ["`--session a`", "`--session b`", "`--all`"] {
            assert!(refused.contains(hint), "{refused}");
        }
    }
    let status = env.run(&["loop", "status", "--session", "b"]).ok();
    assert!(
        status.starts_with("loop iteration 0 of 10, session b\n"),
        "{status}"
    );
    let all = env.run(&["loop", "status", "--all", "--json"]).json();
    assert_eq!(all["loops"].as_array().unwrap().len(), 3);
    let refused = env.run(&["loop", "abort", "--session", "d1"]).failed();
    assert!(refused.contains("d1"), "{refused}");

    env.run(&["loop", "abort", "--session", "b", "enough"]).ok();
    assert!(
        env.stop_of("b", "x")
            .let_go()
            .contains("aborted: by a person: enough")
    );
    env.stop_of("a", "x").held();
    env.run(&["loop", "abort", "--all"]).ok();
    for session in ["a", "c"] {
        assert!(
            env.stop_of(session, "y").let_go().contains("aborted"),
            "{session}"
        );
    }
    assert_eq!(
        env.run(&["loop", "abort", "--all"]).ok(),
        "nothing changed: no loop runs here\n"
    );
}

#[test]
fn the_page_holds_one_loop_and_a_second_sessions_goes_to_our_own_store() {
    let env = TestEnv::new();
    env.trust();
    env.agent("a", &["loop", "start", "--store", "markdown", "--max", "4"])
        .ok();
    let said = env.agent("b", &["loop", "start", "--max", "6"]).ok();
    assert!(
        said.contains(".claude/idle-loop.local.md holds the loop of session a, so this one is in Mainspring's own store"),
        "{said}"
    );
    assert!(file_of(&env, "b").exists());
    let refused = env
        .agent("c", &["loop", "start", "--store", "markdown"])
        .failed();
    assert!(
        refused.contains(".claude/idle-loop.local.md holds the loop of session a")
            && refused.contains("`--store own`"),
        "{refused}"
    );
    assert!(env.stop_of("a", "x").held().starts_with("[ITERATION 1/4]"));
    assert!(env.stop_of("b", "x").held().starts_with("[ITERATION 1/6]"));
    // The drop-in knows the page only.
    let event = json!({ "session_id": "b", "cwd": env.project(), "last_assistant_message": "x" });
    let compat = finish(
        env.command().args(["compat", "idle"]),
        event.to_string().as_bytes(),
    );
    assert_eq!(
        (compat.code, compat.stdout.as_str()),
        (Some(0), ""),
        "{compat:?}"
    );
}

#[test]
fn a_page_that_is_over_or_not_trusted_does_not_matter_to_a_new_loop() {
    let over = "---\nactive: false\nmode: loop\n---\n\nOld.\n";
    let foreign = "---\nactive: true\nmode: loop\niteration: 1\nmax_iterations: 99\n---\n\nMine.\n";
    for (text, trusted) in [(over, true), (over, false), (foreign, false)] {
        let env = TestEnv::new();
        put_page(&env, text);
        if trusted {
            env.trust();
        }
        env.agent("s", &["loop", "start", "--max", "3"]).ok();
        assert!(file_of(&env, "s").exists(), "{text}");
        assert_eq!(fs::read_to_string(page(&env)).unwrap(), text);
        let reason = env.stop("x").held();
        assert!(reason.starts_with("[ITERATION 1/3]"), "{reason}");
    }
}

#[test]
fn the_agent_is_told_its_loop_when_its_session_goes_on() {
    let start = ["loop", "start", "--max", "5", "--prompt", "Fix the tests."];
    for (source, session) in [("resume", "s"), ("compact", "s"), ("clear", "n")] {
        let env = TestEnv::new().with("CLAUDE_PID", "7");
        env.agent("s", &start).ok();
        env.stop("one").held();
        if source == "clear" {
            env.hook("SessionEnd", json!({ "reason": "clear" })).ok();
        }
        let fields = json!({ "session_id": session, "source": source });
        let (agent, person) = told(env.hook("SessionStart", fields));
        assert_eq!(
            agent,
            "This session is in a loop: iteration 1 of 5. To end it say one of \
             `<loop-done>COMPLETE</loop-done>`, `<loop-done>MAX_ITERATIONS</loop-done>`, \
             `<loop-done>STUCK</loop-done>` on a line of its own, or run `mainspring loop abort`.\
             \n\nFix the tests.",
            "{source}"
        );
        assert!(
            person.contains("the loop goes on in this session: iteration 1 of 5"),
            "{source}: {person}"
        );
        let reason = env.stop_of(session, "two").held();
        assert!(reason.starts_with("[ITERATION 2/5]"), "{source}: {reason}");
    }
    // A fork, and another session, hear nothing.
    let env = TestEnv::new().with("CLAUDE_PID", "7");
    env.agent("s", &start).ok();
    for source in ["fork", "startup"] {
        let fields = json!({ "session_id": "other", "source": source });
        assert_eq!(env.hook("SessionStart", fields).ok(), "", "{source}");
    }
}

/// Two clients, two loops: each follows its own `/clear`.
#[test]
fn each_loop_follows_its_own_client() {
    let env = TestEnv::new();
    let clients = [Client::new(), Client::new()];
    for (client, (session, max)) in clients.iter().zip([("a", "3"), ("b", "7")]) {
        client.starts(&env, session).ok();
        env.run(&["loop", "start", "--session", session, "--max", max])
            .ok();
        held(client.stops(&env, session, "x"));
    }
    for (client, (session, next)) in clients.iter().zip([("a", "a2"), ("b", "b2")]) {
        client
            .hook(&env, session, "SessionEnd", json!({ "reason": "clear" }))
            .ok();
        client
            .hook(&env, next, "SessionStart", json!({ "source": "clear" }))
            .ok();
    }
    for (client, (session, label)) in clients
        .iter()
        .zip([("a2", "[ITERATION 2/3]"), ("b2", "[ITERATION 2/7]")])
    {
        let reason = held(client.stops(&env, session, "y"));
        assert!(reason.starts_with(label), "{session}: {reason}");
        assert!(file_of(&env, session).exists(), "{session}");
    }
    assert!(!file_of(&env, "a").exists() && !file_of(&env, "b").exists());
}

fn grinding() -> TestEnv {
    let env = TestEnv::new();
    env.agent(
        "s",
        &[
            "loop",
            "start",
            "--mode",
            "grind",
            "--prompt",
            "All issues.",
        ],
    )
    .ok();
    env.agent(
        "s",
        &[
            "loop", "push", "--mode", "issue", "--max", "2", "--prompt", "Issue 7.",
        ],
    )
    .ok();
    env
}

#[test]
fn a_finished_inner_loop_continues_the_outer_one_at_once() {
    let env = grinding();
    assert!(env.stop("x").held().starts_with("[ITERATION 1/2]"));
    assert_eq!(
        env.stop(ISSUE_DONE).held(),
        "[ITERATION 1/100] The inner loop is over (DONE, after 1 iteration). Go on with the outer \
         one, a grind. To end it say one of `<grind-done>NO_MORE_ISSUES</grind-done>`, \
         `<grind-done>MAX_ISSUES</grind-done>` on a line of its own.\n\nAll issues."
    );
    let why = env.run(&["why"]).ok();
    assert!(why.contains("loop kept the agent going."), "{why}");
    assert!(why.contains("active → active, by rule signal"), "{why}");
    assert!(env.stop("y").held().starts_with("[ITERATION 2/100]"));
    assert_eq!(
        env.stop("<grind-done>NO_MORE_ISSUES</grind-done>").let_go(),
        ""
    );

    // The setting of before: the stop passes, and the outer loop holds the next one.
    let env = grinding();
    config(&env, "[loop]\nouter = \"next stop\"\n");
    assert_eq!(env.stop(ISSUE_DONE).let_go(), "");
    assert!(env.stop("y").held().starts_with("[ITERATION 1/100]"));
}

/// The gate still wants its token: the inner loop ends when it lets go, and not before.
#[test]
fn another_machine_holds_first_and_then_the_outer_loop_goes_on() {
    let env = grinding();
    env.agent("s", &["gate", "on"]).ok();
    let reason = env.stop(ISSUE_DONE).held();
    assert!(
        reason.starts_with("TASKMASTER (1)") && !reason.contains("ITERATION"),
        "{reason}"
    );
    let list = env.agent("s", &["loop", "list"]).ok();
    assert_eq!(list.lines().count(), 2, "{list}");
    let reason = env.stop("TASKMASTER_DONE::s").held();
    assert!(
        reason.starts_with("[ITERATION 1/100] The inner loop is over"),
        "{reason}"
    );
    let list = env.agent("s", &["loop", "list"]).ok();
    assert_eq!(list.lines().count(), 1, "{list}");
}

#[test]
fn an_inner_loop_that_is_used_up_ends_alone_and_the_person_reads_it() {
    let env = grinding();
    env.stop("a").held();
    env.stop("b").held();
    let answer = env.stop("c").json();
    let reason = answer["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("[ITERATION 1/100] The inner loop is over (MAX_ITERATIONS, after 2"),
        "{reason}"
    );
    let note = answer["systemMessage"].as_str().unwrap();
    assert!(
        note.contains("the inner loop is over without a signal: iteration 2 of 2 was the last"),
        "{note}"
    );
    assert!(env.stop("d").held().starts_with("[ITERATION 2/100]"));
}

#[test]
fn three_iterations_hold_three_times_and_a_signal_at_the_last_is_the_signal() {
    for last in ["e", DONE] {
        let env = TestEnv::new();
        env.agent("s", &["loop", "start", "--max", "3"]).ok();
        for (words, label) in [("a", "1/3"), ("b", "2/3"), ("c", "3/3")] {
            let reason = env.stop(words).held();
            assert!(
                reason.starts_with(&format!("[ITERATION {label}]")),
                "{reason}"
            );
        }
        let note = env.stop(last).let_go();
        assert_eq!(
            note.contains("iteration 3 of 3 was the last"),
            last != DONE,
            "{note}"
        );
        assert_eq!(env.stop("f").let_go(), "");
    }
}

#[test]
fn an_agent_that_only_repeats_itself_is_let_go_and_the_loop_stays() {
    let env = TestEnv::new().with("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "100");
    env.agent("s", &["loop", "start", "--max", "50"]).ok();
    let stop = |number: u32| {
        let fields = json!({ "stop_hook_active": number > 0, "last_assistant_message": "Done." });
        env.hook("Stop", fields)
    };
    for number in 0..4 {
        stop(number).held();
    }
    assert!(stop(4).let_go().contains("the same answer 5 times"));
    let status = env.run(&["loop", "status"]).ok();
    assert!(
        status.starts_with("loop iteration 4 of 50, session s"),
        "{status}"
    );
}

#[test]
fn whatever_moves_a_loop_makes_it_young_again() {
    let is_stale = |env: &TestEnv, session: &str| {
        let note = env.stop_of(session, "x").ok();
        note.contains("made no progress")
    };
    // Adopted.
    let env = TestEnv::new();
    env.stop_of("s", "hello").ok();
    env.agent("a", &["loop", "start"]).ok();
    age(&file_of(&env, "a"));
    env.run(&["loop", "adopt", "--session", "s"]).ok();
    assert!(!is_stale(&env, "s"));
    // An inner loop ended.
    let env = grinding();
    config(&env, "[loop]\nttl = \"100000d\"\nouter = \"next stop\"\n");
    age(&file_of(&env, "s"));
    assert_eq!(env.stop(ISSUE_DONE).let_go(), "");
    config(&env, "");
    assert!(!is_stale(&env, "s"));
    // A page that somebody edits.
    let env = TestEnv::new();
    put_page(
        &env,
        "---\nactive: true\nupdated_at: 2024-12-21T10:30:00Z\nsession: s\n---\n",
    );
    env.trust();
    assert!(!is_stale(&env, "s"));
    // Nothing moved it.
    let env = TestEnv::new();
    env.agent("s", &["loop", "start"]).ok();
    age(&file_of(&env, "s"));
    assert!(is_stale(&env, "s"));
}

#[test]
fn a_dead_owners_stale_loop_is_retired_by_whoever_comes() {
    let retired = "the loop of session gone is off: it made no progress";
    for event in ["Stop", "SessionStart"] {
        let env = TestEnv::new();
        let client = Client::new();
        client.starts(&env, "gone").ok();
        env.run(&["loop", "start", "--session", "gone"]).ok();
        age(&file_of(&env, "gone"));
        let come = |env: &TestEnv| {
            let fields =
                json!({ "session_id": "s", "source": "startup", "last_assistant_message": "x" });
            let text = env.hook(event, fields).ok();
            text.contains(retired)
        };
        assert!(!come(&env), "{event}: its client is there");
        drop(client);
        assert!(come(&env), "{event}");
        assert!(!file_of(&env, "gone").exists(), "{event}");
        assert!(!come(&env), "{event}: told once");
    }
    // A fresh one waits for its session to be resumed.
    let env = TestEnv::new();
    let client = Client::new();
    client.starts(&env, "gone").ok();
    env.run(&["loop", "start", "--session", "gone"]).ok();
    drop(client);
    assert_eq!(env.stop("x").let_go(), "");
    assert!(file_of(&env, "gone").exists());
}

#[test]
fn a_stale_page_of_a_dead_owner_makes_room() {
    let env = TestEnv::new();
    let old = "---\nactive: true\nupdated_at: 2024-12-21T10:30:00Z\nsession: gone\n---\n\nOld.\n";
    put_page(&env, old);
    env.trust();
    let years_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(9_000);
    let file = fs::File::options().write(true).open(page(&env)).unwrap();
    file.set_modified(years_ago).unwrap();
    let said = env
        .agent("s", &["loop", "start", "--store", "markdown", "--max", "3"])
        .ok();
    assert!(
        said.contains("The stale loop of session gone was put aside"),
        "{said}"
    );
    assert!(env.stop("x").held().starts_with("[ITERATION 1/3]"));
    let asides = fs::read_dir(page(&env).parent().unwrap()).unwrap();
    let kept: Vec<String> = asides
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().contains(".aside-"))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    assert_eq!(kept, [old]);
}

/// An earlier version kept one loop for the project, whoever owned it.
#[test]
fn a_loop_of_the_old_shape_goes_on_beside_new_ones() {
    let env = TestEnv::new();
    env.agent("s", &["gate", "on"]).ok();
    env.agent("s", &["gate", "off"]).ok();
    let old = json!({ "schema": 1, "event": "STATE", "run_id": "loop-1-1",
        "updated_at": "2099-01-01T00:00:00Z", "session": "s",
        "stack": [{ "id": "f", "mode": "loop", "iter": 2, "max": 5 }] });
    fs::write(env.project_state().join("loop.json"), sealed(old)).unwrap();
    env.agent("t", &["loop", "start", "--max", "9"]).ok();
    assert!(env.stop_of("t", "x").held().starts_with("[ITERATION 1/9]"));
    assert!(env.stop("x").held().starts_with("[ITERATION 3/5]"));
    let again = env.agent("s", &["loop", "start"]).failed();
    assert!(again.contains("a loop runs here already"), "{again}");
    assert_eq!(env.stop(DONE).let_go(), "");
    assert!(!env.project_state().join("loop.json").exists());
    env.agent("s", &["loop", "start"]).ok();
    assert!(file_of(&env, "s").exists());
}
