//! One record per decision, durable before the answer; the files follow it; two processes at
//! once.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::env::{MAINSPRING, TestEnv, finish, payload};

fn journal(env: &TestEnv) -> Vec<Value> {
    fs::read_to_string(env.project_state().join("journal.jsonl"))
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn beats_given(env: &TestEnv) -> u64 {
    let state = fs::read_to_string(env.project_state().join("pulse.json")).unwrap();
    let state: Value = serde_json::from_str(&state).unwrap();
    state["beating"]["beat"].as_u64().unwrap()
}

#[test]
fn a_stop_is_one_record_and_a_stop_without_anything_is_none() {
    let env = TestEnv::new();
    env.run(&["pulse", "1"]).ok();
    env.run(&["trust", "--yes"]).ok();
    env.stop("one").held();
    env.stop("two").let_go();
    let entries: Vec<u64> = journal(&env)
        .iter()
        .map(|r| r["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(entries, [1, 2, 3, 4], "verb, intent, hold, release");
    assert_eq!(env.stop("three").ok(), "");
    assert_eq!(journal(&env).len(), 4);
}

#[test]
fn a_check_of_the_connection_needs_no_trust_and_what_a_project_brings_does() {
    let env = TestEnv::new();
    env.run(&["pulse", "1"]).ok();
    let held = env.stop("one").held();
    assert!(held.contains("A child process said: mainspring"), "{held}");
    fs::create_dir_all(env.project().join(".taskie/plans/shop")).unwrap();
    let said = env.stop("two").let_go();
    assert!(
        said.contains("until you trust the project: `mainspring trust`"),
        "{said}"
    );
}

#[test]
fn an_agent_cannot_trust_its_own_project() {
    let env = TestEnv::new();
    let error = env.agent("s", &["trust", "--yes"]).failed();
    assert!(error.contains("a person must"), "{error}");
    assert!(!env.state().join("trusted").exists());
}

/// A crash after the record and before the files: the next event finishes it.
#[test]
fn files_that_a_crash_kept_back_are_rolled_forward() {
    let env = TestEnv::new();
    env.run(&["pulse", "9"]).ok();
    let old = fs::read(env.project_state().join("pulse.json")).unwrap();
    env.stop("one").held();
    let state = env.project_state();
    let head_before = fs::read(state.join("lock")).unwrap();
    env.stop("two").held();
    assert_eq!(beats_given(&env), 2);
    // As if the process of the second stop had died between its record and its files.
    let after_one = journal(&env)[1].clone();
    let files = after_one["files"].as_array().unwrap();
    let contents = after_one["contents"].as_array().unwrap();
    for (file, content) in files.iter().zip(contents) {
        let path = file["path"].as_str().unwrap();
        fs::write(path, content.as_str().unwrap()).unwrap();
    }
    fs::write(state.join("lock"), head_before).unwrap();
    assert_eq!(beats_given(&env), 1);
    assert!(env.stop("three").held().contains("beat 3 of 9"));
    // As if a power loss had left only the journal.
    fs::write(state.join("pulse.json"), &old).unwrap();
    fs::remove_file(state.join("sessions/s.json")).unwrap();
    fs::write(state.join("lock"), "").unwrap();
    assert!(env.stop("four").held().contains("beat 4 of 9"));
}

#[test]
fn a_person_who_edits_a_file_in_between_wins() {
    let env = TestEnv::new();
    env.run(&["pulse", "9"]).ok();
    env.stop("one").held();
    let state = env.project_state();
    fs::write(state.join("lock"), "").unwrap();
    let edited = r#"{"beating":{"beat":6,"of":9,"session":"s"}}"#;
    fs::write(state.join("pulse.json"), edited).unwrap();
    assert!(env.stop("two").held().contains("beat 7 of 9"));
}

#[test]
fn a_closed_segment_has_no_content_that_a_file_had_before() {
    let env = TestEnv::new();
    let start = |prompt| env.agent("s", &["loop", "start", "--prompt", prompt]).ok();
    start("the first secret");
    env.stop("one").held();
    env.agent("s", &["loop", "abort"]).ok();
    env.stop("two").let_go();
    start("the second one");
    let state = env.project_state();
    let current = state.join("journal.jsonl");
    let whole = fs::read_to_string(&current).unwrap();
    assert!(whole.contains("the first secret"));
    let before = env.run(&["log", "--json"]).ok();
    // A segment that a torn line fills: the next record begins another.
    fs::write(&current, whole.clone() + &"x".repeat(9 << 20)).unwrap();
    env.stop("three").held();
    let segment = state.join(format!("journal-{:012}.jsonl", whole.lines().count() + 1));
    let closed = fs::read_to_string(segment).unwrap();
    assert!(!closed.contains("the first secret"));
    assert_eq!(
        closed.matches("the second one").count(),
        1,
        "it is still there"
    );
    // All records are there, one after the other, and can be decided again.
    let after = env.run(&["log", "--json"]).ok();
    assert!(after.starts_with(&before), "{after}");
    let replay = env.run(&["debug", "replay", "--json"]).json();
    assert_eq!(replay["differs"], Value::Null);
    assert_eq!(replay["same"], 3);
    assert_eq!(
        replay["skipped"].as_array().unwrap().len(),
        1,
        "the padding"
    );
}

#[test]
fn a_torn_last_line_is_no_record_and_hides_none() {
    let env = TestEnv::new();
    env.run(&["pulse", "9"]).ok();
    env.stop("one").held();
    let path = env.project_state().join("journal.jsonl");
    let mut text = fs::read_to_string(&path).unwrap();
    let last = text.lines().next_back().unwrap().to_owned();
    text += &last[..last.len() / 3];
    fs::write(&path, &text).unwrap();
    assert!(env.stop("two").held().contains("beat 2 of 9"));
    assert!(env.stop("three").held().contains("beat 3 of 9"));
    let log = env.run(&["log"]).ok();
    assert!(log.contains("damaged:"), "{log}");
    assert!(log.contains("#4 "), "{log}");
}

#[test]
fn a_changed_byte_anywhere_in_the_journal_is_found() {
    let env = TestEnv::new();
    env.run(&["pulse", "9"]).ok();
    env.stop("one").held();
    env.stop("two").held();
    let path = env.project_state().join("journal.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let second = text.find("\"seq\":2").unwrap();
    for at in [second, second + 40, text.len() - 5] {
        let mut bytes = text.clone().into_bytes();
        bytes[at] ^= 1;
        fs::write(&path, bytes).unwrap();
        let log = env.run(&["log"]).ok();
        assert!(log.contains("damaged:"), "byte {at}: {log}");
    }
}

#[test]
fn the_same_delivery_gets_the_same_answer_and_counts_once() {
    let env = TestEnv::new();
    env.run(&["pulse", "9"]).ok();
    let first = env.stop("one").held();
    let fields = json!({ "last_assistant_message": "one" });
    let event = payload(&env.project(), "Stop", fields).to_string();
    let mut plugin = env.command();
    plugin.arg("hook").env("CLAUDE_PLUGIN_ROOT", "/plugin");
    assert_eq!(finish(&mut plugin, event.as_bytes()).held(), first);
    assert_eq!(beats_given(&env), 1);
    assert_ne!(env.stop("another").held(), first);
}

#[test]
fn no_increment_is_lost_among_many_processes_at_once() {
    let env = TestEnv::new().with("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "0");
    env.agent("s", &["pulse", "100"]).ok();
    let project = env.project();
    std::thread::scope(|scope| {
        for worker in 0..8 {
            let env = &env;
            let project = &project;
            scope.spawn(move || {
                for round in 0..5 {
                    let words = format!("{worker}-{round}");
                    let fields = json!({ "last_assistant_message": words });
                    let event = payload(project, "Stop", fields).to_string();
                    env.hook_bytes(event.as_bytes()).held();
                }
            });
        }
    });
    assert_eq!(beats_given(&env), 40);
    assert_eq!(journal(&env).len(), 41);
}

#[test]
fn the_journal_replays_to_the_same_decisions() {
    let env = TestEnv::new();
    env.run(&["trust", "--yes"]).ok();
    env.run(&["pulse", "2"]).ok();
    for words in ["one", "two", "three"] {
        let _ = env.stop(words);
    }
    let path = env.project_state().join("journal.jsonl");
    let mut replayed = 0;
    for line in fs::read_to_string(path).unwrap().lines() {
        let record: mainspring_kernel::journal::Record = serde_json::from_str(line).unwrap();
        record.replay().unwrap();
        replayed += 1;
    }
    assert_eq!(replayed, 5);
}

#[test]
fn nothing_is_written_outside_the_state_directory_with_private_modes() {
    use std::os::unix::fs::PermissionsExt;
    let env = TestEnv::new();
    env.run(&["pulse", "3"]).ok();
    env.stop("one").held();
    let mut todo: Vec<PathBuf> = vec![env.state()];
    let mut files = 0;
    while let Some(path) = todo.pop() {
        let meta = fs::symlink_metadata(&path).unwrap();
        let mode = meta.permissions().mode() & 0o777;
        if meta.is_dir() {
            assert_eq!(mode, 0o700, "{path:?}");
            todo.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        } else {
            assert_eq!(mode, 0o600, "{path:?}");
            files += 1;
        }
    }
    assert!(files >= 5, "{files}");
    assert_eq!(fs::read_dir(env.project()).unwrap().count(), 0);
}

/// The program headers of a 64-bit ELF file: none asks for an interpreter, and the file is not
/// a shared object, so it needs no relocation.
#[test]
fn the_binary_needs_no_loader() {
    const EXECUTABLE: u64 = 2;
    const INTERPRETER: u64 = 3;
    if !cfg!(all(
        target_os = "linux",
        target_env = "gnu",
        target_pointer_width = "64"
    )) {
        return;
    }
    let file = fs::read(MAINSPRING).unwrap();
    let number = |at: usize, bytes: usize| -> u64 {
        let mut padded = [0; 8];
        padded[..bytes].copy_from_slice(&file[at..at + bytes]);
        u64::from_le_bytes(padded)
    };
    assert_eq!(&file[..4], b"\x7fELF");
    assert_eq!(number(16, 2), EXECUTABLE);
    let (table, size, count) = (number(32, 8), number(54, 2), number(56, 2));
    assert!(count > 0);
    for header in 0..count {
        let kind = number(usize::try_from(table + header * size).unwrap(), 4);
        assert_ne!(kind, INTERPRETER);
    }
}
