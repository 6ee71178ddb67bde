//! Every command of an agent's and every event of a host's, in a project where each machine has
//! something to start.

use std::collections::BTreeSet;

use mainspring_kernel::authority;
use serde_json::{Value, json};

use super::{Place, checked, due_review, gate, held, jwz_loop, mail, told};
use crate::env::Ran;

/// The orders that cover every machine.
const ORDERS: [&[&str]; 4] = [
    &["stop"],
    &["pause", "1h"],
    &["observe"],
    &[".mainspring-off"],
];

/// What the stand-ins are called.
const PROGRAMS: [&str; 4] = ["claude", "gh", "git", "jwz"];

fn busy() -> Place {
    let place = Place::new();
    checked(&place);
    gate(&place);
    jwz_loop(&place);
    refill(&place);
    place.started();
    place
}

/// An earlier command may have ended something.
fn refill(place: &Place) {
    due_review(place);
    mail(place);
    let stop = place.event("Stop", json!({ "last_assistant_message": "done" }));
    place.file("event.json", &stop.to_string());
}

/// How a command is typed. `None`: it is tested elsewhere, or plays in a project of its own.
fn words(command: &'static str) -> Option<Vec<&'static str>> {
    let more: &[&str] = match command {
        // Events are below, and the watcher is in `beyond`. `view` serves until it is ended, and
        // shows what the other views show. `demo` plays in projects of its own.
        "hook" | "compat" | "claim watch" | "view" | "demo" => return None,
        "install" | "uninstall" => &["--dry-run"],
        "debug state purge" | "check init" => &["--yes"],
        "pause" => &["1h"],
        "gate check" => &["--session", "s"],
        "check prove" | "check log" => &["tests"],
        "plan init" => &["other"],
        "plan advance" => &["plan-review"],
        "plan set" => &["tdd", "true"],
        "plan set max_reviews" => &["3"],
        "plan answer" => &["f1", "fixed", "it is done"],
        "claim" | "claim release" => &["42"],
        "plan review" | "claim status" => &["--now"],
        "handoff" => &["--summary", "Fix it", "--push"],
        "tasks start" | "tasks done" => &["1"],
        "tasks note" => &["1", "seen"],
        "tasks add" => &["Set up"],
        "tasks validate" | "tasks preview" => &["fsm.json"],
        "config get" | "config unset" => &["pulse.beats"],
        "config set" => &["pulse.beats", "3"],
        "graph" => &["claim"],
        "debug simulate" => &["event.json"],
        "completions" => &["bash"],
        _ => &[],
    };
    Some(command.split(' ').chain(more.iter().copied()).collect())
}

fn commands() -> Vec<Vec<&'static str>> {
    let rows = authority::TABLE.iter();
    rows.filter_map(|row| words(row.command)).collect()
}

/// Every event that a host tells us of, and one that we do not know.
fn events() -> Vec<(&'static str, Value)> {
    vec![
        ("SessionStart", json!({ "source": "startup" })),
        ("SessionStart", json!({ "source": "resume" })),
        ("SessionStart", json!({ "source": "compact" })),
        ("UserPromptSubmit", json!({ "prompt": "go on" })),
        (
            "UserPromptExpansion",
            json!({ "command_name": "help", "command_source": "project" }),
        ),
        (
            "PreToolUse",
            json!({ "tool_name": "Read", "tool_input": {} }),
        ),
        (
            "PostToolUse",
            json!({ "tool_name": "Skill", "tool_input": { "skill": "build" }, "tool_response": {} }),
        ),
        (
            "Notification",
            json!({ "notification_type": "idle_prompt", "message": "waiting" }),
        ),
        ("Stop", json!({ "last_assistant_message": "done" })),
        (
            "Stop",
            json!({ "last_assistant_message": "done", "stop_hook_active": true }),
        ),
        ("SubagentStop", json!({ "agent_id": "a" })),
        ("Unheard", json!({})),
        ("SessionEnd", json!({ "reason": "other" })),
    ]
}

/// The stand-ins that were started.
fn names(started: &[String]) -> Vec<&'static str> {
    let began = |program: &&str| {
        started
            .iter()
            .any(|line| line.split(' ').next() == Some(program))
    };
    PROGRAMS.into_iter().filter(began).collect()
}

fn type_as_agent(place: &Place, words: &[&str]) -> Ran {
    let ran = place.env.agent("s", words);
    assert_ne!(ran.code, Some(2), "{words:?} is a command: {ran:?}");
    ran
}

#[test]
fn under_an_order_an_agent_can_start_no_program_with_any_command() {
    for order in ORDERS {
        let place = busy();
        place.order(order);
        for words in commands() {
            refill(&place);
            place.started();
            let ran = type_as_agent(&place, &words);
            let what = format!("{words:?} under {order:?}: {ran:?}");
            assert_eq!(place.started(), [""; 0], "{what}");
        }
    }
}

#[test]
fn under_an_order_no_event_of_any_kind_starts_holds_or_says_anything() {
    for order in ORDERS {
        for (event, fields) in events() {
            let place = busy();
            place.order(order);
            let ran = place.hook(event, fields);
            let what = format!("{event} under {order:?}: {ran:?}");
            assert_eq!(place.started(), [""; 0], "{what}");
            assert!(!held(&ran) && !told(&ran), "{what}");
            assert_eq!(ran.code, Some(0), "{what}");
        }
    }
}

/// Otherwise the two tests above would show nothing.
#[test]
fn without_an_order_commands_and_events_start_every_program() {
    let mut by_commands = BTreeSet::new();
    let place = busy();
    for words in commands() {
        refill(&place);
        let _ = type_as_agent(&place, &words);
        by_commands.extend(names(&place.started()));
    }
    assert_eq!(Vec::from_iter(by_commands), PROGRAMS);
    let mut by_events = BTreeSet::new();
    for (event, fields) in events() {
        let place = busy();
        let _ = place.hook(event, fields);
        by_events.extend(names(&place.started()));
    }
    assert!(
        by_events.contains("jwz") && by_events.contains("git"),
        "{by_events:?}"
    );
}
