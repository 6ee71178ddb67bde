//! A host that leaves its end of a hook's stdin open.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Stdio};

use mainspring_testkit::process::wait_until;
use serde_json::json;

use crate::env::{TestEnv, payload};

fn started(env: &TestEnv, args: &[&str]) -> (Child, ChildStdin) {
    let mut child = env
        .command()
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let stdin = child.stdin.take().unwrap();
    (child, stdin)
}

/// What it printed, once it has ended.
fn ended(mut child: Child) -> String {
    wait_until("the hook has ended", || {
        matches!(child.try_wait(), Ok(Some(_)))
    });
    let mut said = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    said
}

#[test]
fn a_hook_answers_when_the_json_is_complete() {
    let env = TestEnv::new();
    env.agent("s", &["gate", "on"]).ok();
    let words = |length: usize| "}\\\" {".repeat(length / 5);
    let stop = |length| {
        let fields = json!({ "last_assistant_message": words(length) });
        payload(&env.project(), "Stop", fields).to_string()
    };
    let mut pieces = Vec::new();
    // Short; longer than what is looked through at once; longer than a pipe holds.
    for length in [0, 10_000, 300_000] {
        pieces.push(vec![stop(length)]);
        pieces.push(vec![stop(length), "\n".into()]);
    }
    let whole = stop(100);
    let (first, second) = whole.split_at(whole.len() / 2);
    pieces.push(vec![first.into(), second.into()]);
    for args in [&["hook"][..], &["compat", "taskmaster"]] {
        for pieces in &pieces {
            let (child, mut stdin) = started(&env, args);
            for piece in pieces {
                // It may have answered before the last line break comes.
                let _ = stdin.write_all(piece.as_bytes());
            }
            let said = ended(child);
            assert!(said.contains("TASKMASTER ("), "{args:?}: {said}");
        }
    }
}

#[test]
fn a_hook_does_not_wait_for_ever_for_json_that_is_never_complete() {
    let env = TestEnv::new();
    let (child, mut stdin) = started(&env, &["hook"]);
    stdin.write_all(b"{\"hook_event_name\":\"Stop\",").unwrap();
    let said = ended(child);
    assert!(said.contains("it was not complete after 10 s"), "{said}");
    assert!(said.contains("nothing was checked"), "{said}");
}
