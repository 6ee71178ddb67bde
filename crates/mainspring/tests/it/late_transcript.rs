//! The host writes its transcript later than it sends a stop.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::thread;

use mainspring_testkit::files::Reads;
use serde_json::{Value, json};

use crate::env::TestEnv;

fn gated() -> TestEnv {
    let env = TestEnv::new();
    env.agent("s", &["gate", "on"]).ok();
    env
}

fn by_agent(message: &str, block: &Value) -> String {
    let message = json!({ "role": "assistant", "id": message, "content": [block] });
    format!("{}\n", json!({ "type": "assistant", "message": message }))
}

fn tool_call(at: usize) -> String {
    let call = json!({ "type": "tool_use", "id": "t", "name": "Bash", "input": {} });
    by_agent(&format!("tool {at}"), &call)
}

fn words(at: usize, text: &str) -> String {
    by_agent(
        &format!("words {at}"),
        &json!({ "type": "text", "text": text }),
    )
}

fn hold() -> String {
    let message = json!({ "role": "user", "content": "Stop hook feedback:\nno" });
    let hold = json!({ "type": "user", "isMeta": true, "message": message });
    format!("{hold}\n")
}

const PROMPT: &str = "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"go\"}}\n";

fn append(path: &Path, text: &str) {
    let mut file = File::options()
        .append(true)
        .create(true)
        .open(path)
        .unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn stop(env: &TestEnv, transcript: &Path, number: usize, said: &str) -> crate::env::Ran {
    let fields = json!({ "transcript_path": transcript, "stop_hook_active": number > 0,
        "last_assistant_message": said });
    env.hook("Stop", fields)
}

/// Plays so many stops of which the transcript shows nothing. At the next one the hook reads it, and
/// then each of these parts is written, the next one when the hook has read again.
fn held_while_written(stops: usize, said: impl Fn(usize) -> String, parts: &[String]) {
    let env = gated();
    let transcript = env.project().join("t.jsonl");
    append(&transcript, PROMPT);
    for number in 0..stops {
        stop(&env, &transcript, number, &said(number)).held();
    }
    let reads = Reads::of(&transcript);
    thread::scope(|threads| {
        threads.spawn(|| {
            for part in parts {
                reads.wait();
                append(&transcript, part);
            }
        });
        stop(&env, &transcript, stops, &said(stops)).held();
    });
}

/// What the transcript has after so many stops, up to the last words.
fn lines(stops: usize, said: impl Fn(usize) -> String) -> String {
    let held = |number| [tool_call(number), words(number, &said(number)), hold()].concat();
    (0..stops).map(held).collect()
}

#[test]
fn a_tool_call_that_is_written_while_the_hook_looks_counts_at_the_hosts_limit() {
    let said = |number: usize| format!("Done {number}.");
    let parts = [lines(8, said), tool_call(8), words(8, &said(8))];
    held_while_written(8, said, &parts);
}

#[test]
fn a_tool_call_that_is_written_while_the_hook_looks_counts_among_the_same_answers() {
    let said = |_: usize| "Still at it.".to_owned();
    // The words of an earlier stop are not those of this one.
    let parts = [
        lines(2, said),
        lines(2, said),
        tool_call(4) + &words(4, &said(4)),
    ];
    held_while_written(4, said, &parts);
}

/// Its words come late, too, but there is no tool call before them.
#[test]
fn an_agent_that_only_talks_is_let_go_however_late_its_words_are_written() {
    let env = gated();
    let transcript = env.project().join("t.jsonl");
    append(&transcript, PROMPT);
    let said = |number: usize| format!("Done {number}.");
    for number in 0..8 {
        stop(&env, &transcript, number, &said(number)).held();
    }
    let held = |number| [words(number, &said(number)), hold()].concat();
    let late: String = (0..8).map(held).collect();
    let reads = Reads::of(&transcript);
    thread::scope(|threads| {
        threads.spawn(|| {
            reads.wait();
            append(&transcript, &(late + &words(8, &said(8))));
        });
        let told = stop(&env, &transcript, 8, &said(8)).let_go();
        assert!(told.contains("let go after 8 blocks in a row"), "{told}");
    });
}
