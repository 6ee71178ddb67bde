//! System calls fail with disk errors: what we say about the list is true.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::crash::{age_locks, calls, event, list, stop, strace_is_here, traced, world};
use super::folder;
use crate::env::{MAINSPRING, TestEnv};

/// Calls that touch files.
const FILES: [&str; 12] = [
    "openat",
    "read",
    "write",
    "pwrite64",
    "statx",
    "fdatasync",
    "fsync",
    "rename",
    "unlink",
    "mkdir",
    "rmdir",
    "getdents64",
];

/// The answer of a run in which one call fails; `None` if the run could not answer.
fn hurt(env: &TestEnv, inject: &str, trace: &Path) -> Option<Value> {
    let input = env.root().join("event");
    super::put(&input, &String::from_utf8(event(env)).unwrap());
    let output = Command::new("strace")
        .args(["-qq", "-o"])
        .arg(trace)
        .args(["-e", &format!("inject={inject}")])
        .args([MAINSPRING, "hook"])
        .env_clear()
        .env("HOME", env.home())
        .current_dir(env.project())
        .stdin(File::open(input).unwrap())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    let trace = fs::read_to_string(trace).unwrap();
    assert!(trace.contains("(INJECTED)"), "{inject} did not fire");
    if output.status.code() != Some(0) {
        assert!(!output.stderr.is_empty(), "{inject}: it failed in silence");
        return None;
    }
    let text = String::from_utf8(output.stdout).unwrap();
    Some(serde_json::from_str(&text).unwrap_or_default())
}

#[test]
fn what_is_said_about_the_list_is_true_whatever_fails() {
    if !strace_is_here() {
        return;
    }
    let model = world();
    let old = list(&model);
    let calls = calls(&traced(&model, &event(&model), &[]));
    let new = list(&model);
    let (mut refused, mut unfinished, mut done) = (0, 0, 0);
    for (name, count) in calls
        .iter()
        .filter(|(name, _)| FILES.contains(&name.as_str()))
    {
        let env = world();
        let at = format!("{name} {count}");
        let inject = format!("{name}:error=EIO:when={count}");
        let answer = hurt(&env, &inject, &env.root().join("trace"));
        let now = list(&env);
        age_locks(&folder(&env));
        let _ = env.hook_bytes(&stop(&env));
        let later = list(&env);
        assert!(
            later == old || later == new,
            "{at}: neither the old list nor the new one: {answer:?}\n{later:#?}"
        );
        let Some(answer) = answer else { continue };
        let reason = answer["reason"].as_str().unwrap_or_default();
        let context = answer["hookSpecificOutput"]["additionalContext"].as_str();
        if reason.contains("no task was changed") {
            assert_eq!((&now, &later), (&old, &old), "{at}: {reason}");
            refused += 1;
        } else if !reason.is_empty() {
            let cleanup = "Manual cleanup required at ";
            assert!(reason.contains(cleanup) || now == new, "{at}: {reason}");
            assert_eq!(later, new, "{at}: the next event finishes it");
            unfinished += 1;
        } else if context.is_some_and(|text| text.contains("laid out 3 tasks")) {
            assert_eq!((&now, &later), (&new, &new), "{at}");
            done += 1;
        } else {
            // The list could not be searched, or the event could not be read.
            assert_eq!(now, old, "{at}: {answer}");
        }
        if !reason.is_empty() {
            assert!(
                answer["systemMessage"].is_string(),
                "{at}: the person is not told"
            );
        }
    }
    eprintln!(
        "an error at every file call: {refused} refused, {unfinished} to be finished, {done} done all the same; every word true"
    );
    assert!(refused > 10 && unfinished > 5 && done > 5);
}
