//! A `state.json` that cannot be read: both are told, nobody guesses, and a command mends it.

use std::fs;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{stop, trusted};
use crate::taskie::Taskie;

/// A plan whose review is due by a command of ours, and whose file was then broken.
fn broken(text: &str) -> Taskie {
    let taskie = trusted(json!({"next_phase": null}));
    let restart = ["plan", "review", "restart", "plan"];
    let _ = taskie.env.agent("s", &restart).ok();
    taskie.file("state.json", text);
    taskie
}

const BROKEN: [&str; 3] = [
    "<<<<<<< HEAD\n{\"phase\": \"new-plan\"}\n=======\n{}\n>>>>>>> other\n",
    r#"{"phase": "new-plan", "next_phase": "plan-review", "max_reviews": "eight"}"#,
    r#"{"phase": "new-plan", "next_phase": "polish"}"#,
];

#[test]
fn a_broken_state_is_told_to_both_and_mended_by_a_command() {
    for text in BROKEN {
        let taskie = broken(text);
        let repair = "`mainspring plan repair --plan demo`";
        let held = stop(&taskie, "s", "one").held();
        assert!(held.contains(repair), "{held}");
        let note = stop(&taskie, "s", "two").let_go();
        assert!(note.contains("still broken"), "held once: {note}");
        let route = taskie.env.agent("s", &["plan", "route"]).ok();
        assert!(route.contains(repair), "no guess: {route}");
        assert_eq!(taskie.calls().len(), 0, "no reviewer");
        let doctor = taskie.run(&["doctor", "--json"], b"");
        assert_ne!(doctor.code, Some(0), "{doctor:?}");
        assert!(doctor.stdout.contains("plan repair"), "{doctor:?}");
        let did = taskie.env.agent("s", &["plan", "repair"]).ok();
        assert!(did.contains("is as the journal has it"), "{did}");
        assert_eq!(taskie.state_now()["next_phase"], "plan-review");
        let kept = fs::read_dir(taskie.dir()).unwrap().any(|entry| {
            let path = entry.unwrap().path();
            path.to_string_lossy().contains(".aside-") && fs::read_to_string(path).unwrap() == text
        });
        assert!(kept, "the broken file is kept");
        let doctor = taskie.run(&["doctor", "--json"], b"").stdout;
        assert!(!doctor.contains("plan repair"), "{doctor}");
        let held = stop(&taskie, "s", "three").held();
        assert!(held.contains("plan-review-1.md"), "{held}");
    }
}

#[test]
fn a_state_that_the_journal_does_not_have_is_left_as_it_is() {
    let taskie = trusted(json!({"next_phase": null}));
    taskie.file("state.json", "{");
    let refused = taskie.run(&["plan", "repair"], b"").failed();
    assert!(refused.contains("no content"), "{refused}");
    assert!(refused.contains("mainspring plan init demo"), "{refused}");
    assert_eq!(
        fs::read_to_string(taskie.dir().join("state.json")).unwrap(),
        "{"
    );
    taskie.state(json!({}));
    let did = taskie.run(&["plan", "repair"], b"").ok();
    assert!(did.contains("can be read"), "{did}");
    assert_eq!(taskie.state_now()["next_phase"], Value::Null);
}
