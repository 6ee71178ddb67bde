//! Every state file is damaged: the agent may stop, but never silently and never because of a
//! panic, and a file that cannot be read stays as it is.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::tree;
use crate::env::{Ran, TestEnv};

/// An environment in which the next stop is held, and the files that are the reason.
struct Held {
    env: TestEnv,
    files: Vec<PathBuf>,
}

fn worlds() -> Vec<(&'static str, Held)> {
    let gate = TestEnv::new();
    gate.agent("s", &["gate", "on"]).ok();
    gate.stop("one").held();
    let own = TestEnv::new();
    own.agent("s", &["loop", "start", "--max", "9"]).ok();
    own.stop("one").held();
    let pulse = TestEnv::new();
    pulse.run(&["pulse", "9"]).ok();
    pulse.stop("one").held();
    let page = TestEnv::new();
    let file = page.project().join(".claude/idle-loop.local.md");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let text = "---\nactive: true\nmode: loop\niteration: 1\nmax_iterations: 9\n---\n\nGo.\n";
    fs::write(&file, text).unwrap();
    page.trust();
    page.stop("one").held();
    let state = |env: &TestEnv, name: &str| env.project_state().join(name);
    vec![
        (
            "gate",
            Held {
                files: vec![
                    gate.tmp().join("taskmaster/s"),
                    state(&gate, "sessions/s.gate.json"),
                    state(&gate, "sessions/s.json"),
                ],
                env: gate,
            },
        ),
        (
            "loop",
            Held {
                files: vec![
                    state(&own, "loop-of-s.json"),
                    state(&own, "sessions/s.json"),
                ],
                env: own,
            },
        ),
        (
            "pulse",
            Held {
                files: vec![state(&pulse, "pulse.json")],
                env: pulse,
            },
        ),
        (
            "page",
            Held {
                files: vec![file, state(&page, "sessions/s.json")],
                env: page,
            },
        ),
    ]
}

/// A dozen ways to damage a file.
fn spoilt(bytes: &[u8]) -> Vec<Vec<u8>> {
    let length = bytes.len();
    let mut all: Vec<Vec<u8>> = vec![
        b"{".to_vec(),
        b"\xff\xfe\0\0".to_vec(),
        vec![0; length],
        [bytes, b"}"].concat(),
        b"[]".to_vec(),
        "[".repeat(5_000).into_bytes(),
        b"\"x\"".to_vec(),
        vec![b' '; 2 << 20],
    ];
    for part in 1..4 {
        all.push(bytes[..length * part / 4].to_vec());
        let mut flipped = bytes.to_vec();
        flipped[length * part / 4] ^= 0x80;
        all.push(flipped);
    }
    all
}

/// Is the file still valid, with another content? Then it counts as an edit.
fn is_an_edit(path: &Path, bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return false;
    };
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("json") => serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object()),
        // A page without complete front matter is no loop.
        Some("md") => true,
        _ => text.trim().parse::<u32>().is_ok(),
    }
}

fn is_held(ran: &Ran) -> bool {
    ran.stdout.contains("\"decision\":\"block\"")
}

fn told(ran: &Ran) -> String {
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    answer["systemMessage"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

#[test]
fn no_damaged_state_lets_go_silently_panics_or_is_changed() {
    let mut cases = 0;
    for (name, held) in worlds() {
        let before = tree(&held.env.root());
        for file in &held.files {
            let Some(bytes) = before.get(file) else {
                panic!("{name} has no {}", file.display())
            };
            for damage in spoilt(bytes) {
                restore(&held.env.root(), &before);
                fs::write(file, &damage).unwrap();
                let ran = held.env.stop("two");
                let case = format!(
                    "{name}, {}: {:?}",
                    file.display(),
                    String::from_utf8_lossy(&damage[..damage.len().min(60)])
                );
                assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{case}");
                assert!(
                    !ran.stdout.contains("internal error"),
                    "{case}: {}",
                    ran.stdout
                );
                if !is_an_edit(file, &damage) {
                    assert!(is_held(&ran) || !told(&ran).is_empty(), "silent: {case}");
                    // The file is where it was or, for a loop that was given up, next to it.
                    let kept = tree(file.parent().unwrap());
                    assert!(kept.values().any(|held| *held == damage), "lost: {case}");
                }
                cases += 1;
            }
        }
    }
    assert!(cases >= 100, "{cases}");
}

/// Deleting a state file is an edit, which a person may make. The rest goes on, and nothing
/// panics. SECURITY.md says that such a deletion ends a hold.
#[test]
fn a_deleted_file_is_an_edit_and_the_next_stop_is_answered() {
    for (name, held) in worlds() {
        let before = tree(&held.env.root());
        for file in &held.files {
            restore(&held.env.root(), &before);
            fs::remove_file(file).unwrap();
            let ran = held.env.stop("two");
            assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{name}");
            assert!(
                !ran.stdout.contains("internal error"),
                "{name}: {}",
                ran.stdout
            );
            let log = held.env.run(&["log"]).ok();
            assert!(!log.contains("damaged"), "{name}: {log}");
        }
    }
}

/// A byte of the journal's first or last record is changed: `log` and `doctor` name it, and no
/// decision uses it.
#[test]
fn a_changed_journal_is_named_and_not_acted_on() {
    let env = TestEnv::new();
    env.run(&["pulse", "9"]).ok();
    env.stop("one").held();
    env.stop("two").held();
    let path = env.project_state().join("journal.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let state = fs::read(env.project_state().join("pulse.json")).unwrap();
    for at in 0..lines.len() {
        let mut changed: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        changed[at] = changed[at].replacen("\"seq\":", "\"seq\": ", 1);
        fs::write(&path, changed.join("\n") + "\n").unwrap();
        // As after a power loss: everything in the journal is checked again.
        fs::write(env.project_state().join("lock"), "").unwrap();
        let place: usize = lines[..at].iter().map(|line| line.len() + 1).sum();
        let log = env.run(&["log"]).ok();
        assert!(log.contains(&format!("byte {place}:")), "{at}: {log}");
        let doctor = env.run(&["doctor"]);
        assert!(doctor.stdout.contains("journal"), "{at}: {doctor:?}");
        assert_eq!(
            fs::read(env.project_state().join("pulse.json")).unwrap(),
            state
        );
    }
    fs::write(&path, whole).unwrap();
    assert!(!env.run(&["log"]).ok().contains("damaged"));
}

fn restore(root: &Path, before: &std::collections::BTreeMap<PathBuf, Vec<u8>>) {
    for (path, bytes) in tree(root) {
        if bytes != b"folder" && !before.contains_key(&path) {
            fs::remove_file(path).unwrap();
        }
    }
    for (path, bytes) in before {
        if bytes == b"folder" {
            fs::create_dir_all(path).unwrap();
        } else if fs::read(path).ok().as_ref() != Some(bytes) {
            fs::write(path, bytes).unwrap();
        }
    }
}

/// Stops whose JSON two readers may read differently, and whether each must be held.
fn ambiguous_stops(common: &str) -> Vec<(String, bool)> {
    let stop = |fields: &str| format!("{{{common},{fields}}}");
    let deep = "[".repeat(300) + &"]".repeat(300);
    let bom = stop(r#""session_id":"s","last_assistant_message":"bom""#);
    vec![
        (
            stop(
                r#""session_id":"s","last_assistant_message":"no","last_assistant_message":"TASKMASTER_DONE::s""#,
            ),
            false,
        ),
        (
            stop(r#""session_id":"s","session_id":"t","last_assistant_message":"x""#),
            false,
        ),
        (
            stop(r#""session_id":"s\u0000","last_assistant_message":"TASKMASTER_DONE::s""#),
            false,
        ),
        (
            stop(r#""session_id":"s","last_assistant_message":"TASKMASTER_DONE::s\u0000""#),
            true,
        ),
        (
            stop(r#""session_id":"s","last_assistant_message":"TASKMASTER_\ud800DONE::s""#),
            true,
        ),
        (format!("\u{feff}{bom}"), true),
        (
            stop(
                r#""session_id":"s","n":1e999999,"m":123456789012345678901234567890,"last_assistant_message":"big""#,
            ),
            true,
        ),
        (
            stop(&format!(
                r#""session_id":"s","x":{deep},"last_assistant_message":"deep""#
            )),
            true,
        ),
    ]
}

/// Duplicate keys, NUL, half a character, a byte order mark, numbers beyond any type, depth:
/// a payload with any of them gets an answer, and none is taken for another session's.
#[test]
fn json_that_two_readers_may_read_differently_completes_nothing() {
    let env = TestEnv::new();
    env.agent("s", &["gate", "on"]).ok();
    let cwd = json!(env.project()).to_string();
    let common = format!("\"cwd\":{cwd},\"hook_event_name\":\"Stop\"");
    for (payload, held) in ambiguous_stops(&common) {
        let ran = env.hook_bytes(payload.as_bytes());
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{payload}");
        assert_eq!(is_held(&ran), held, "{payload}: {}", ran.stdout);
        // A refusal is told to the person; another session's stop does not concern us.
        let other = payload.contains("s\\u0000\"");
        assert!(held || other || !told(&ran).is_empty(), "{payload}");
    }
    let cut = format!(
        "{{{common},\"session_id\":\"s\",\"last_assistant_message\":\"cut \\ud83d\\n\\nTASKMASTER_DONE::s\"}}"
    );
    assert!(
        !is_held(&env.hook_bytes(cut.as_bytes())),
        "the token counts after half a character, too"
    );
}
