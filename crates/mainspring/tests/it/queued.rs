//! What a person types while the agent is held waits in Claude Code's queue, where its transcript
//! shows it. The transcripts were recorded; `brake_client` has the client itself.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use mainspring_testkit::process::wait_until;
use serde_json::{Value, json};

use crate::check::Checked;
use crate::env::{Ran, TestEnv};

fn recorded(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/claude-queue");
    fs::read_to_string(folder.join(format!("{name}.jsonl"))).unwrap()
}

/// A project whose gate holds every stop, and its session's transcript.
struct Held {
    env: TestEnv,
    transcript: PathBuf,
}

impl Held {
    fn new(lines: &str) -> Self {
        let env = TestEnv::new();
        env.run(&["gate", "on", "--project"]).ok();
        let transcript = env.root().join("t.jsonl");
        fs::write(&transcript, lines).unwrap();
        Self { env, transcript }
    }

    fn write(&self, lines: &str) {
        let mut file = OpenOptions::new().append(true).open(&self.transcript);
        file.as_mut().unwrap().write_all(lines.as_bytes()).unwrap();
    }

    /// The person types this, and it waits.
    fn types(&self, text: &str) {
        self.write(&operation("enqueue", Some(text)));
    }

    fn stop(&self, words: &str, continued: bool) -> Ran {
        let fields = json!({
            "last_assistant_message": words, "transcript_path": self.transcript,
            "stop_hook_active": continued,
        });
        self.env.hook("Stop", fields)
    }

    /// The turn is over, and the client carries out what waited.
    fn comes_to(&self, name: &str) -> Value {
        self.write(&operation("dequeue", None));
        let fields = json!({
            "command_name": format!("mainspring:{name}"), "command_args": "",
            "command_source": "plugin", "transcript_path": self.transcript,
        });
        self.env.hook("UserPromptExpansion", fields).json()
    }
}

/// A line about the queue, written now.
fn operation(operation: &str, content: Option<&str>) -> String {
    let at = jiff::Timestamp::now();
    let mut line = json!({
        "type": "queue-operation", "operation": operation, "timestamp": format!("{at:.3}"),
        "sessionId": "s",
    });
    if let Some(content) = content {
        line["content"] = content.into();
    }
    format!("{line}\n")
}

fn prompt(text: &str) -> String {
    let message = json!({ "role": "user", "content": text });
    let line = json!({ "type": "user", "message": message, "origin": { "kind": "human" } });
    format!("{line}\n")
}

/// Times are compared by the millisecond.
fn a_moment_later() {
    let now = || jiff::Timestamp::now().as_millisecond();
    let then = now();
    wait_until("the clock goes on", || now() > then);
}

#[test]
fn an_order_that_waits_or_was_absorbed_brakes_at_this_very_stop() {
    for (name, command) in [
        ("command-waits", "mainspring stop: "),
        ("message-waits", "mainspring stop: "),
        ("message-absorbed", "mainspring stop: "),
    ] {
        let held = Held::new(&recorded(name));
        let said = held.stop("Two.", false).let_go();
        assert!(said.contains("you stopped gate"), "{name}: {said}");
        let log = held.env.run(&["log"]).ok();
        assert_eq!(log.matches(command).count(), 1, "{name}: {log}");
        held.stop("Three.", true).let_go();
        let log = held.env.run(&["log"]).ok();
        assert_eq!(log.matches(command).count(), 1, "{name}: {log}");
    }
    let pause = recorded("pause-waits").replace("5m loop", "5m gate");
    let held = Held::new(&pause);
    let said = held.stop("Two.", false).let_go();
    assert!(said.contains("you paused gate for a while"), "{said}");
    let said = held.env.run(&["status"]).ok();
    assert!(said.contains("until"), "{said}");
}

#[test]
fn what_waits_no_longer_brakes_nothing() {
    let taken_back = recorded("command-taken-back");
    let done = recorded("command-done");
    let earlier = recorded("message-absorbed") + &prompt("and now that");
    let crashed = recorded("command-waits") + &prompt("I am back");
    for lines in [taken_back, done, earlier, crashed] {
        Held::new(&lines).stop("Two.", false).held();
    }
}

#[test]
fn no_other_message_brakes() {
    for text in [
        "mainspring stop holding me up",
        "please stop",
        "/mainspring:claim 4",
        "/mainspring:resume",
        "/mainspring:pause for ever",
        "/stop",
    ] {
        let lines = recorded("command-waits").replace("/mainspring:stop", text);
        Held::new(&lines).stop("Two.", false).held();
    }
}

#[test]
fn an_order_typed_between_two_holds_brakes_and_its_own_event_changes_nothing() {
    let held = Held::new(&prompt("do it"));
    held.stop("One.", false).held();
    held.types("/mainspring:stop");
    assert!(held.stop("Two.", true).let_go().contains("you stopped"));
    let said = held.comes_to("stop");
    let reason = said["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("done: nothing here holds the agent any more"),
        "{reason}"
    );
    held.stop("Three.", false).let_go();
}

#[test]
fn a_resume_that_is_typed_later_wins() {
    // In another terminal, after the order was carried out.
    let held = Held::new(&prompt("do it"));
    held.types("/mainspring:stop");
    held.stop("One.", false).let_go();
    a_moment_later();
    held.env.run(&["resume"]).ok();
    held.stop("Two.", false).held();

    // In another terminal, before the agent's next stop: also when the order's turn comes.
    let held = Held::new(&prompt("do it"));
    held.types("/mainspring:stop");
    a_moment_later();
    held.env.run(&["resume"]).ok();
    held.stop("One.", false).held();
    let said = held.comes_to("stop");
    assert!(
        said["reason"]
            .as_str()
            .unwrap()
            .contains("you resumed after"),
        "{said}"
    );
    held.stop("Two.", false).held();

    // In the same queue.
    let held = Held::new(&prompt("do it"));
    held.types("/mainspring:stop");
    a_moment_later();
    held.types("/mainspring:resume");
    held.stop("One.", false).held();
}

#[test]
fn an_order_for_one_machine_is_carried_out_once_while_another_one_holds() {
    let held = Held::new(&prompt("do it"));
    held.env.agent("s", &["loop", "start"]).ok();
    held.stop("One.", false).held();
    held.types("/mainspring:pause 1h loop");
    for words in ["Two.", "Three.", "Four."] {
        let reason = held.stop(words, true).held();
        assert!(!reason.contains("ITERATION"), "{reason}");
    }
    let log = held.env.run(&["log"]).ok();
    assert_eq!(
        log.matches("mainspring pause 3600s loop").count(),
        1,
        "{log}"
    );
}

/// A check may take minutes: it does not start, either.
#[test]
fn nothing_is_started_at_a_stop_at_which_an_order_waits() {
    let checked = Checked::new();
    let transcript = checked.env.root().join("t.jsonl");
    fs::write(&transcript, recorded("message-absorbed")).unwrap();
    let fields = json!({ "last_assistant_message": "Three.", "transcript_path": transcript });
    let said = checked.env.hook("Stop", fields).let_go();
    assert!(said.contains("you stopped check"), "{said}");
    assert_eq!(checked.runs(), 0);
}
