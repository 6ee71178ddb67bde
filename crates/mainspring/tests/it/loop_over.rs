//! A loop that is over: stale at whatever event, or ended by a command. It holds nobody, and the
//! person hears it once.

use serde_json::json;

use crate::env::{TestEnv, finish};
use crate::loop_daily::{age, file_of, told};
use crate::sessions::Client;

const OFF: &str = "is off: it made no progress for";

fn stale_own() -> TestEnv {
    let env = TestEnv::new();
    env.agent("s", &["loop", "start", "--max", "5"]).ok();
    env.stop("one").held();
    age(&file_of(&env, "s"));
    env
}

fn stale_of_nobody() -> TestEnv {
    let env = TestEnv::new();
    env.run(&["loop", "start", "--max", "5"]).ok();
    age(&env.project_state().join("loop.json"));
    env
}

#[test]
fn a_loop_of_ten_hours_ago_is_over_at_whatever_comes_and_is_told_once() {
    let events = [
        ("Stop", json!({ "last_assistant_message": "x" })),
        ("SessionStart", json!({ "source": "startup" })),
        ("SessionStart", json!({ "source": "resume" })),
        ("SessionStart", json!({ "source": "compact" })),
        ("UserPromptSubmit", json!({ "prompt": "go on" })),
    ];
    for (make, whose) in [
        (stale_own as fn() -> TestEnv, "the loop is off"),
        (stale_of_nobody, "the loop without an owner is off"),
    ] {
        for (event, fields) in &events {
            let env = make();
            let (agent, person) = told(env.hook(event, fields.clone()));
            assert!(
                person.contains(whose) && person.contains(OFF),
                "{event} {fields}: {person}"
            );
            assert_eq!(agent, "", "{event} {fields}");
            assert!(!person.contains("goes on"), "{event} {fields}: {person}");
            assert_eq!(env.stop("y").let_go(), "", "{event} {fields}: told once");
            assert_eq!(env.run(&["loop", "status"]).ok(), "no loop\n");
        }
    }
}

#[test]
fn what_is_over_is_told_once_although_another_machine_holds() {
    let spent = || {
        let env = TestEnv::new();
        env.agent("s", &["loop", "start", "--max", "1"]).ok();
        env.stop("one").held();
        env
    };
    let aborted = || {
        let env = TestEnv::new();
        env.agent("s", &["loop", "start"]).ok();
        env.stop("one").held();
        env.run(&["loop", "abort", "enough"]).ok();
        env
    };
    let broken = || {
        let env = TestEnv::new();
        env.agent("s", &["loop", "start"]).ok();
        std::fs::write(file_of(&env, "s"), "{\"schema\":1,\"stack\":7}").unwrap();
        env
    };
    for (env, words) in [
        (stale_own(), OFF),
        (spent(), "iteration 1 of 1 was the last"),
        (aborted(), "the loop was aborted: by a person: enough"),
        (broken(), "its state cannot be read"),
    ] {
        env.agent("s", &["gate", "on"]).ok();
        for (number, times) in [("a", 1), ("b", 0), ("c", 0)] {
            let answer = env.stop(number).json();
            assert_eq!(answer["decision"], "block", "{words}: {answer}");
            let person = answer["systemMessage"].as_str().unwrap_or_default();
            assert_eq!(person.matches(words).count(), times, "{number}: {person}");
        }
    }
}

/// The agent gave the same answer again and again, so it was let go; its person comes back the next
/// morning.
#[test]
fn a_loop_that_waits_for_the_person_is_renewed_by_their_prompt() {
    for (same, renewed) in [(true, true), (false, false)] {
        let env = TestEnv::new();
        env.agent("s", &["loop", "start", "--max", "50"]).ok();
        for number in 0..4 {
            let words = if same {
                "Done.".into()
            } else {
                format!("{number}")
            };
            let fields = json!({ "stop_hook_active": number > 0, "last_assistant_message": words });
            env.hook("Stop", fields).held();
        }
        if same {
            let fields = json!({ "stop_hook_active": true, "last_assistant_message": "Done." });
            let note = env.hook("Stop", fields).let_go();
            assert!(note.contains("the same answer 5 times"), "{note}");
        }
        age(&file_of(&env, "s"));
        let (_, person) = told(env.hook("UserPromptSubmit", json!({ "prompt": "go on" })));
        assert_eq!(person.contains(OFF), !renewed, "{person}");
        if renewed {
            let reason = env.stop("on it").held();
            assert!(reason.starts_with("[ITERATION 5/50]"), "{reason}");
        } else {
            assert_eq!(env.stop("on it").let_go(), "");
        }
    }
}

#[test]
fn a_stale_loop_makes_room_for_a_new_one_and_is_called_over() {
    for (env, whose) in [
        (stale_own(), "The stale loop of session s was put aside"),
        (
            stale_of_nobody(),
            "The stale loop that was nobody's was put aside",
        ),
    ] {
        let status = env.run(&["loop", "status"]).ok();
        assert!(status.contains("it is over and holds nobody"), "{status}");
        let said = env.agent("s", &["loop", "start", "--max", "3"]).ok();
        assert!(said.contains(whose), "{said}");
        let reason = env.stop("x").held();
        assert!(reason.starts_with("[ITERATION 1/3]"), "{reason}");
        assert_eq!(env.run(&["loop", "abort", "--all"]).ok().lines().count(), 1);
    }
}

#[test]
fn after_an_abort_no_loop_runs() {
    let env = TestEnv::new();
    for session in ["a", "b", "c"] {
        env.agent(session, &["loop", "start"]).ok();
    }
    env.run(&["loop", "abort", "--session", "b"]).ok();
    let several = env.run(&["loop", "status"]).failed();
    assert!(!several.contains("`--session b`"), "{several}");
    env.run(&["loop", "abort", "--session", "c"]).ok();
    let status = env.run(&["loop", "status"]).ok();
    assert!(
        status.starts_with("loop iteration 0 of 10, session a\n"),
        "{status}"
    );
    env.run(&["loop", "abort", "--all", "enough"]).ok();
    let status = env.run(&["loop", "status"]).ok();
    assert!(
        status.starts_with("ended early: it was aborted by a person"),
        "{status}"
    );
    // Each session's person hears of it at a stop; where the session ends first, nobody is left.
    assert!(env.stop_of("a", "x").let_go().contains("aborted"));
    for session in ["b", "c"] {
        env.hook(
            "SessionEnd",
            json!({ "session_id": session, "reason": "other" }),
        )
        .ok();
    }
    assert_eq!(env.run(&["loop", "status"]).ok(), "no loop\n");
}

#[test]
fn what_a_person_aborts_for_nobody_or_for_a_session_that_is_gone_is_over_at_once() {
    let env = TestEnv::new();
    env.run(&["loop", "start"]).ok();
    env.run(&["loop", "abort"]).ok();
    assert_eq!(env.run(&["loop", "status"]).ok(), "no loop\n");
    assert_eq!(env.stop("x").let_go(), "");

    let env = TestEnv::new();
    let client = Client::new();
    client.starts(&env, "gone").ok();
    env.run(&["loop", "start", "--session", "gone"]).ok();
    drop(client);
    env.run(&["loop", "abort"]).ok();
    assert_eq!(env.run(&["loop", "status"]).ok(), "no loop\n");
}

#[test]
fn a_store_that_would_hold_nobody_is_refused_with_what_to_type() {
    let env = TestEnv::new();
    let page = env.project().join(".claude/idle-loop.local.md");
    for store in ["markdown", "jwz"] {
        let refused = env
            .agent("s", &["loop", "start", "--store", store])
            .failed();
        assert!(refused.contains("this project is not trusted"), "{refused}");
        for hint in ["`mainspring trust`", "--store own`"] {
            assert!(refused.contains(hint), "{refused}");
        }
        assert!(!page.exists());
    }
    env.agent("s", &["loop", "start", "--store", "own"]).ok();
    env.stop("x").held();
    // Nor is a page that the repository brings given to anybody.
    let env = TestEnv::new();
    std::fs::create_dir_all(env.project().join(".claude")).unwrap();
    let page = env.project().join(".claude/idle-loop.local.md");
    std::fs::write(page, "---\nactive: true\n---\n").unwrap();
    let client = Client::new();
    client.starts(&env, "s").ok();
    let refused = env.run(&["loop", "adopt"]).failed();
    assert!(refused.contains("this project is not trusted"), "{refused}");
    env.trust();
    env.run(&["loop", "adopt"]).ok();
    env.stop("x").held();
    let mut stop = env.command();
    let said = finish(stop.args(["loop", "status"]), b"").ok();
    assert!(said.contains("session s"), "{said}");
}
