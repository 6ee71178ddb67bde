//! Files of ours have a format version and a checksum: a newer version's is refused by name, an
//! earlier one's is read and written anew, and one that was edited is named with what to do.
//! `faults.rs` has the sweep over every byte.

use std::fs;
use std::path::{Path, PathBuf};

use mainspring_store::seal;
use mainspring_testkit::files::sealed;
use serde_json::{Value, json};

use crate::env::TestEnv;

/// A world in which a gate, a loop and a check hold the next stop, and all files that it is
/// held by.
fn held() -> (TestEnv, Vec<PathBuf>) {
    let env = TestEnv::new();
    env.trust();
    env.run(&["gate", "on", "--project"]).ok();
    env.agent("s", &["gate", "on"]).ok();
    env.agent("s", &["loop", "start", "--max", "9"]).ok();
    env.run(&["pulse", "9"]).ok();
    env.run(&["pause", "1h", "tasks"]).ok();
    env.stop("one").held();
    let project = env.project_state();
    let mut files = vec![env.state().join("sessions/s")];
    for folder in [
        project.clone(),
        project.join("sessions"),
        env.state().join("trusted"),
    ] {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
        let json = entries.map(|entry| entry.path()).filter(|path| {
            let end = path.extension();
            end.is_some_and(|end| end == "json")
        });
        files.extend(json);
    }
    assert_eq!(files.len(), 8, "{files:?}");
    (env, files)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// What the person was told, whether or not the agent was held.
fn told(env: &TestEnv, words: &str) -> String {
    let answer: Value = serde_json::from_str(&env.stop(words).ok()).unwrap_or_default();
    answer["systemMessage"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// All 255 other values. What a hook answers to such a file is the sweep's question in `faults.rs`;
/// that it is never taken for a whole one is the seal's.
#[test]
fn every_other_value_of_every_byte_of_every_file_is_found() {
    let (_env, files) = held();
    let mut tried = 0;
    for path in files {
        let bytes = fs::read(&path).unwrap();
        // The line feed at the end may be any space.
        for at in 0..bytes.trim_ascii_end().len() {
            for flip in 1..=u8::MAX {
                let mut changed = bytes.clone();
                changed[at] ^= flip;
                let read = seal::unseal(&path, &changed);
                assert!(read.is_err(), "{}, byte {at} ^ {flip}", path.display());
                tried += 1;
            }
        }
    }
    assert!(tried > 255 * 1_000, "{tried}");
}

#[test]
fn a_newer_versions_file_is_refused_by_name_and_stays() {
    let (env, files) = held();
    for path in files {
        let now = fs::read_to_string(&path).unwrap();
        let newer = json!({ "v": 2, "anything": "else" }).to_string();
        fs::write(&path, &newer).unwrap();
        let message = told(&env, "two");
        for part in [name(&path).as_str(), "format 2", "upgrade mainspring"] {
            assert!(message.contains(part), "{}: {message:?}", path.display());
        }
        let doctor = env.run(&["doctor", "--fix"]).stdout;
        assert!(doctor.contains("has format 2"), "{doctor}");
        assert_eq!(fs::read_to_string(&path).unwrap(), newer);
        fs::write(&path, now).unwrap();
    }
}

#[test]
fn a_file_without_a_seal_is_read_and_gets_one_at_the_next_write() {
    let (env, files) = held();
    for path in &files {
        let text = fs::read_to_string(path).unwrap();
        let mut value: Value = serde_json::from_str(&text).unwrap();
        let fields = value.as_object_mut().unwrap();
        assert_eq!(fields.remove("v"), Some(json!(1)), "{text}");
        assert!(fields.remove("checksum").is_some(), "{text}");
        fs::write(path, value.to_string()).unwrap();
    }
    let reason = env.stop("two").held();
    for part in ["TASKMASTER_DONE::s", "[ITERATION 2/9]", "beat 2 of 9"] {
        assert!(reason.contains(part), "{reason}");
    }
    let changed = ["loop-of-s.json", "pulse.json", "s.json"];
    for path in files
        .iter()
        .filter(|path| changed.contains(&name(path).as_str()))
    {
        let text = fs::read_to_string(path).unwrap();
        assert!(text.starts_with("{\"v\":1,"), "{}: {text}", path.display());
    }
}

#[test]
fn an_edit_by_hand_is_named_with_the_command_that_moves_the_file_away() {
    let (env, files) = held();
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let edited = text.replacen("{\"v\":1,", "{\"v\":1, ", 1);
        fs::write(&path, &edited).unwrap();
        let doctor = env.run(&["doctor"]);
        assert_eq!(doctor.code, Some(1));
        for part in [name(&path).as_str(), "checksum", "mainspring doctor --fix"] {
            assert!(
                doctor.stdout.contains(part),
                "{}: {doctor:?}",
                path.display()
            );
        }
        let fixed = env.run(&["doctor", "--fix"]).stdout;
        assert!(fixed.contains("fixed   files"), "{fixed}");
        assert!(!path.exists(), "{fixed}");
        let beside = fs::read_dir(path.parent().unwrap()).unwrap();
        let kept = beside
            .map(|entry| fs::read(entry.unwrap().path()).unwrap_or_default())
            .any(|bytes| bytes == edited.as_bytes());
        assert!(kept, "{fixed}");
        fs::write(&path, text).unwrap();
    }
}

/// What was moved away is not brought back by the journal after a power loss.
#[test]
fn a_file_that_was_moved_away_stays_away() {
    let (env, _) = held();
    let path = env.project_state().join("pulse.json");
    fs::write(&path, "{").unwrap();
    let _ = env.run(&["doctor", "--fix"]);
    assert!(!path.exists());
    fs::write(env.project_state().join("lock"), "").unwrap();
    env.stop("two").held();
    assert!(!path.exists());
}

/// It stays a brake: nothing is held and nothing is started, at every stop the person is told,
/// and only a person can end it.
#[test]
fn orders_that_cannot_be_read_are_a_stop_that_only_a_person_lifts() {
    let env = TestEnv::new();
    env.agent("s", &["gate", "on"]).ok();
    env.stop("one").held();
    env.run(&["pause", "1h", "loop"]).ok();
    let path = env.project_state().join("orders.json");
    let orders = fs::read_to_string(&path).unwrap();
    let stopped = sealed(json!({ "everything": "resumed" }));
    for damaged in [
        orders.replace("loop", "gate"),
        stopped.replace(":\"", ": \""),
    ] {
        fs::write(&path, &damaged).unwrap();
        for words in ["two", "three"] {
            let note = env.stop(words).let_go();
            assert!(note.contains("orders.json"), "{note}");
            assert!(note.contains("mainspring doctor --fix"), "{note}");
        }
        for command in ["resume", "stop"] {
            let refused = env.run(&[command]).failed();
            assert!(refused.contains("orders.json"), "{refused}");
        }
        let agents = env.agent("s", &["doctor", "--fix"]).stdout;
        assert!(agents.contains("an agent cannot"), "{agents}");
        assert_eq!(fs::read_to_string(&path).unwrap(), damaged);
        let _ = env.run(&["doctor", "--fix"]);
        assert!(!path.exists());
        env.stop("four").held();
    }
}

/// `crates/store` changes every byte of such a journal; here the person hears of it.
#[test]
fn a_changed_journal_revives_no_loop_and_no_stop_and_is_told_of_once() {
    let env = TestEnv::new();
    env.agent("s", &["loop", "start", "--max", "9"]).ok();
    env.stop("one").held();
    env.run(&["stop"]).ok();
    env.run(&["resume"]).ok();
    env.stop("<loop-done>COMPLETE</loop-done>").let_go();
    let state = env.project_state();
    let ended = || !state.join("loop-of-s.json").exists() && !state.join("orders.json").exists();
    assert!(ended());
    let journal = state.join("journal.jsonl");
    let whole = fs::read(&journal).unwrap();
    for at in [whole.len() / 2, whole.len() - 100] {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        fs::write(&journal, changed).unwrap();
        // As after a power loss.
        fs::write(state.join("lock"), "").unwrap();
        let note = env.stop("two").let_go();
        assert!(note.contains("the journal was damaged"), "{note}");
        assert!(ended(), "{note}");
        assert_eq!(env.stop("three").let_go(), "");
        assert!(env.run(&["log"]).ok().contains("damaged: "));
        let doctor = env.run(&["doctor"]).stdout;
        assert!(doctor.contains("damaged lines"), "{doctor}");
        for entry in fs::read_dir(&state).unwrap() {
            let path = entry.unwrap().path();
            if name(&path).starts_with("journal-") {
                fs::remove_file(path).unwrap();
            }
        }
    }
}
