//! Killed at every system call, a hook leaves the old list or the new one.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};

use super::{STEPS, by_hand, contents, folder, invocation, put, skill};
use crate::env::{MAINSPRING, TestEnv, payload};

/// A list with tasks that were made by hand; one of them waits for a task of another skill.
pub(super) fn world() -> TestEnv {
    let env = TestEnv::new();
    skill(&env, "ship", STEPS);
    by_hand(&env, 1, &[]);
    by_hand(&env, 5, &["2", "1"]);
    for id in [2, 3, 4, 6] {
        let task = json!({
            "id": id.to_string(), "subject": "Old", "description": "", "status": "pending",
            "blocks": [], "blockedBy": [], "metadata": {"fsm": "old"},
        });
        put(&folder(&env).join(format!("{id}.json")), &task.to_string());
    }
    env
}

/// The task files alone.
pub(super) fn list(env: &TestEnv) -> BTreeMap<String, String> {
    let mut all = contents(&folder(env));
    all.retain(|name, _| name.ends_with(".json"));
    all
}

pub(super) fn event(env: &TestEnv) -> Vec<u8> {
    let mut fields = invocation("ship");
    fields["tool_use_id"] = "one".into();
    payload(&env.project(), "PostToolUse", fields)
        .to_string()
        .into_bytes()
}

pub(super) fn stop(env: &TestEnv) -> Vec<u8> {
    payload(&env.project(), "Stop", json!({}))
        .to_string()
        .into_bytes()
}

/// Runs the hook under strace; returns the trace.
pub(super) fn traced(env: &TestEnv, input: &[u8], options: &[&str]) -> String {
    let trace = env.root().join("trace");
    let mut child = Command::new("strace")
        .args(["-qq", "-o"])
        .arg(&trace)
        .args(options)
        .args([MAINSPRING, "hook"])
        .env_clear()
        .env("HOME", env.home())
        .env("PATH", "/usr/bin:/bin")
        .current_dir(env.project())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // It may be killed before it reads.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait().unwrap();
    fs::read_to_string(trace).unwrap()
}

/// Every call of a run: its name, and its number among the calls of that name.
pub(super) fn calls(trace: &str) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let names = trace
        .lines()
        .filter_map(|line| Some(line.split_once('(')?.0));
    let plain = |name: &&str| {
        name.bytes()
            .all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
    };
    names
        .filter(plain)
        // Our program starts after this call.
        .filter(|name| *name != "execve")
        .map(|name| {
            let count = counts.entry(name).or_default();
            *count += 1;
            (name.to_owned(), *count)
        })
        .collect()
}

/// Kills the run at one call; returns whether that happened.
fn killed(env: &TestEnv, input: &[u8], (name, count): &(String, usize)) -> bool {
    let inject = format!("inject={name}:signal=SIGKILL:when={count}");
    traced(env, input, &["-e", &inject]).contains("killed by SIGKILL")
}

pub(super) fn strace_is_here() -> bool {
    let here = Command::new("strace").arg("-V").output().is_ok();
    if !here {
        eprintln!("skipped: strace is not installed");
    }
    here
}

/// Makes the locks of a dead process stale now, and not only after ten seconds.
pub(super) fn age_locks(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name().to_string_lossy().ends_with(".lock") && entry.path().is_dir() {
            let dir = File::open(entry.path()).unwrap();
            dir.set_modified(UNIX_EPOCH + Duration::from_secs(1))
                .unwrap();
        }
    }
}

/// At any moment, every file is a complete old or a complete new version, and the tasks that
/// were made by hand exist.
fn check_instant(
    now: &BTreeMap<String, String>,
    old: &BTreeMap<String, String>,
    new: &BTreeMap<String, String>,
    at: &str,
) {
    for (name, text) in now {
        let whole = [old.get(name), new.get(name)].contains(&Some(text));
        assert!(whole, "{at}: {name} is torn: {text}");
    }
    assert_eq!(now.get("1.json"), old.get("1.json"), "{at}");
    assert!(now.contains_key("5.json"), "{at}");
    serde_json::from_str::<Value>(&now["5.json"]).unwrap();
}

#[test]
fn a_kill_at_any_call_leaves_the_old_list_or_the_new_one() {
    if !strace_is_here() {
        return;
    }
    let model = world();
    let old = list(&model);
    let calls = calls(&traced(&model, &event(&model), &[]));
    let new = list(&model);
    assert_ne!(old, new);
    let (mut kept, mut moved) = (0, 0);
    for call in &calls {
        let env = world();
        let at = format!("{} {}", call.0, call.1);
        assert!(killed(&env, &event(&env), call), "{at} did not fire");
        check_instant(&list(&env), &old, &new, &at);
        // The next event does not concern tasks.
        age_locks(&folder(&env));
        assert_eq!(env.hook_bytes(&stop(&env)).ok(), "", "{at}");
        let after = list(&env);
        if after == old {
            kept += 1;
        } else {
            assert_eq!(after, new, "{at}: neither the old list nor the new one");
            moved += 1;
        }
        let others: Vec<String> = contents(&folder(&env))
            .into_keys()
            .filter(|name| !name.ends_with(".json") && !name.ends_with(".lock"))
            .collect();
        assert!(others.is_empty(), "{at} left {others:?}");
        // After that, the skill can be invoked as usual.
        if call.1 == 1 {
            env.hook("PostToolUse", invocation("ship")).ok();
            assert_eq!(list(&env), new, "{at}");
        }
    }
    eprintln!(
        "kill at every call of a hydration: {} points, all fired, {kept} old, {moved} new, 0 torn",
        calls.len()
    );
    assert!(kept > 0 && moved > 0);
}

#[test]
fn a_kill_while_a_crash_is_mended_is_mended_too() {
    if !strace_is_here() {
        return;
    }
    let model = world();
    let old = list(&model);
    let all = calls(&traced(&model, &event(&model), &[]));
    let new = list(&model);
    let renames: Vec<_> = all
        .iter()
        .filter(|(name, _)| name.starts_with("rename"))
        .collect();
    let recorded = |call: &&&(String, usize)| {
        let env = world();
        assert!(killed(&env, &event(&env), call));
        env.hook_bytes(&stop(&env)).ok();
        list(&env) == new
    };
    let earliest = renames.iter().find(recorded).unwrap();
    let mut points = 0;
    // Before the first file, and between two files.
    for first in [earliest, renames[renames.len() / 2]] {
        let crashed = || {
            let env = world();
            assert!(killed(&env, &event(&env), first));
            env
        };
        let sample = crashed();
        let mending = calls(&traced(&sample, &stop(&sample), &[]));
        assert_eq!(list(&sample), new);
        for call in &mending {
            let env = crashed();
            let at = format!("{first:?} then {call:?}");
            assert!(killed(&env, &stop(&env), call), "{at} did not fire");
            check_instant(&list(&env), &old, &new, &at);
            check_order(&list(&env), &old, &new, &at);
            env.hook_bytes(&stop(&env)).ok();
            assert_eq!(list(&env), new, "{at}");
        }
        points += mending.len();
    }
    eprintln!("kill while a crash is mended: {points} points, all fired, 0 torn");
}

/// As soon as one id of the new list exists, so does the highest: the client reuses none of
/// them.
fn check_order(
    now: &BTreeMap<String, String>,
    old: &BTreeMap<String, String>,
    new: &BTreeMap<String, String>,
    at: &str,
) {
    let added = |name: &&String| !old.contains_key(*name);
    let highest = new.keys().filter(added).max().unwrap();
    if now.keys().any(|name| !old.contains_key(name)) {
        assert!(now.contains_key(highest), "{at}: {:?}", now.keys());
    }
}
