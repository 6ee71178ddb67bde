//! The drop-ins for the two public stop scripts.

use std::fs;

use serde_json::json;

use crate::env::{Ran, TestEnv, finish};

fn compat(env: &TestEnv, script: &str, payload: &str) -> Ran {
    finish(env.command().args(["compat", script]), payload.as_bytes())
}

fn line(role: &str, text: &str) -> String {
    let content = json!([{ "type": "text", "text": text }]);
    let message = json!({ "role": role, "id": text, "content": content });
    json!({ "type": role, "isSidechain": false, "message": message }).to_string() + "\n"
}

/// A transcript of this many lines that ends with this message of the agent's.
fn transcript(env: &TestEnv, lines: usize, last: &str) -> String {
    let path = env.project().join("t.jsonl");
    let before = line("user", "x").repeat(lines - 1);
    fs::write(&path, before + &line("assistant", last)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn taskmaster_blocks_until_the_token_is_in_the_transcript() {
    let env = TestEnv::new();
    let path = transcript(&env, 25, "bye");
    let stop = |active: bool| {
        let payload =
            json!({ "session_id": "sess-1", "transcript_path": path, "stop_hook_active": active });
        compat(&env, "taskmaster", &payload.to_string())
    };
    let append = |lines: &[String]| {
        let before = fs::read_to_string(&path).unwrap();
        fs::write(&path, before + &lines.concat()).unwrap();
    };
    // As the host records a block: with our own words, which contain the token.
    let feedback = |reason: &str| {
        let content = format!("Stop hook feedback:\n{reason}");
        json!({ "type": "user", "isMeta": true, "isSidechain": false,
            "message": { "role": "user", "content": content } })
        .to_string()
            + "\n"
    };
    let ran = stop(false);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert_eq!(
        ran.stdout,
        "{\"decision\":\"block\",\"reason\":\"TASKMASTER (1): Stop blocked. Follow the \
         taskmaster completion checklist. Done signal: TASKMASTER_DONE::sess-1\"}\n"
    );
    let counter = env.tmp().join("taskmaster/sess-1");
    assert_eq!(fs::read_to_string(&counter).unwrap(), "1\n");
    append(&[
        feedback("TASKMASTER_DONE::sess-1"),
        line("assistant", "TASKMASTER_DONE::sess-10"),
    ]);
    let reason = stop(true).held();
    assert!(
        reason.contains("(2)") && reason.contains("another id"),
        "{reason}"
    );
    append(&[
        feedback("again"),
        line("assistant", "Yes.\n\nTASKMASTER_DONE::sess-1"),
    ]);
    assert_eq!(stop(true).ok(), "");
    assert!(!counter.exists());
    append(&[
        line("user", "one more thing"),
        line("assistant", "no token"),
    ]);
    stop(false).held();
}

#[test]
fn taskmaster_takes_the_scripts_variables_and_a_short_transcript_for_a_sub_agents() {
    let env = TestEnv::new()
        .with("TASKMASTER_MAX", "2")
        .with("TASKMASTER_DONE_PREFIX", "OVER");
    let payload = |lines: usize| {
        json!({ "session_id": "s", "transcript_path": transcript(&env, lines, "bye") }).to_string()
    };
    assert_eq!(compat(&env, "taskmaster", &payload(19)).ok(), "");
    let reason = compat(&env, "taskmaster", &payload(20)).held();
    assert!(
        reason.contains("(1/2)") && reason.ends_with("OVER::s"),
        "{reason}"
    );
    let ran = compat(&env, "taskmaster", &payload(21));
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""));
    assert!(ran.stderr.contains("stop 2 of 2"), "{}", ran.stderr);
}

#[test]
fn taskmaster_never_blocks_on_what_it_cannot_read() {
    let env = TestEnv::new();
    for input in [
        "",
        "{",
        "[]",
        "{}",
        r#"{"session_id":"null"}"#,
        r#"{"session_id":"s","transcript_path":"/nonexistent"}"#,
    ] {
        let ran = compat(&env, "taskmaster", input);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{input}");
    }
}

#[test]
fn taskmaster_expands_the_home_in_the_transcripts_path() {
    let env = TestEnv::new();
    transcript(&env, 25, "bye");
    fs::rename(env.project().join("t.jsonl"), env.home().join("t.jsonl")).unwrap();
    let payload = json!({ "session_id": "s", "transcript_path": "~/t.jsonl" }).to_string();
    compat(&env, "taskmaster", &payload).held();
}

#[test]
fn idle_blocks_with_two_and_the_seeds_json() {
    let env = TestEnv::new();
    env.agent("s", &["loop", "start", "--max", "2"]).ok();
    let payload = |words: &str| {
        json!({ "session_id": "s", "cwd": env.project(), "hook_event_name": "Stop",
            "stop_hook_active": false, "last_assistant_message": words })
        .to_string()
    };
    let ran = compat(&env, "idle", &payload("x"));
    let reason = "[ITERATION 2/2] Continue working on the task. Check your progress and either \
                  complete the task or keep iterating.";
    assert_eq!(ran.code, Some(2));
    assert_eq!(
        ran.stdout,
        format!("{{\"decision\": \"block\", \"reason\": \"{reason}\"}}\n")
    );
    assert_eq!(ran.stderr, format!("{reason}\n"));
    let ran = compat(&env, "idle", &payload("y"));
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""));
    assert!(ran.stderr.contains("was the last"));
    assert_eq!(compat(&env, "idle", &payload("z")).ok(), "");
}

#[test]
fn idle_reads_the_seeds_file_and_its_way_out() {
    let env = TestEnv::new();
    fs::create_dir(env.project().join(".claude")).unwrap();
    let page = "---\nactive: true\nmode: loop\niteration: 1\nmax_iterations: 9\n---\nGo.\n";
    fs::write(env.project().join(".claude/idle-loop.local.md"), page).unwrap();
    let payload = r#"{"session_id":"s","last_assistant_message":"x"}"#;
    assert_eq!(
        compat(&env, "idle", payload).code,
        Some(2),
        "its own directory is the project"
    );
    for input in ["", "{", "[]", "{}"] {
        let ran = compat(&env, "idle", input);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{input}");
    }
    let env = env.with("IDLE_LOOP_DISABLE", "1");
    assert_eq!(compat(&env, "idle", payload).ok(), "");
}
