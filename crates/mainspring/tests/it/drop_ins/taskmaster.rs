//! `compat taskmaster` in place of `check-completion.sh`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{compat, line, write};
use crate::env::{Ran, TestEnv};

/// A transcript of this many lines that ends with this message of the agent's.
fn transcript(env: &TestEnv, lines: usize, last: &str) -> PathBuf {
    let before = line("user", "x").repeat(lines - 1);
    let path = env.root().join("t.jsonl");
    write(&path, &(before + &line("assistant", last)))
}

fn stop(env: &TestEnv, fields: &Value) -> Ran {
    compat(env, "taskmaster", &fields.to_string())
}

/// The block number `count` for this token, as the document has it.
fn block(count: &str, token: &str) -> String {
    format!(
        "{{\"decision\": \"block\", \"reason\": \"TASKMASTER ({count}): Stop blocked. Follow the \
         taskmaster completion checklist. Done signal: {token}\"}}\n"
    )
}

#[track_caller]
fn assert_said(ran: &Ran, stdout: &str, stderr: &str, why: &str) {
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (Some(0), stdout, stderr),
        "{why}"
    );
}

#[test]
fn it_blocks_until_the_token_is_in_the_transcript() {
    let env = TestEnv::new();
    let path = transcript(&env, 25, "bye");
    let stop = |active: bool| {
        let fields =
            json!({ "session_id": "sess-1", "transcript_path": path, "stop_hook_active": active });
        stop(&env, &fields)
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
    let first = block("1", "TASKMASTER_DONE::sess-1");
    assert_said(&stop(false), &first, "", "the document's JSON");
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
    assert_said(&stop(true), "", "", "the token was said");
    assert!(!counter.exists());
    append(&[
        line("user", "one more thing"),
        line("assistant", "no token"),
    ]);
    stop(false).held();
}

#[test]
fn only_a_short_transcript_is_a_sub_agents() {
    let env = TestEnv::new();
    let long = transcript(&env, 20, "bye");
    let short = write(
        &env.root().join("short.jsonl"),
        &line("user", "x").repeat(19),
    );
    let (to_long, to_short) = (env.root().join("l1"), env.root().join("l2"));
    symlink(&long, &to_long).unwrap();
    symlink(&short, &to_short).unwrap();
    let dangling = env.root().join("l3");
    symlink(env.root().join("nowhere"), &dangling).unwrap();
    let megabytes = "x".repeat(2_000_000) + "\n";
    let ten = write(&env.root().join("ten.jsonl"), &megabytes.repeat(10));
    let twenty = write(&env.root().join("twenty.jsonl"), &megabytes.repeat(20));
    let empty = write(&env.root().join("empty.jsonl"), "");
    let text = |path: &Path| Value::from(path.to_str().unwrap());
    for (session, path, blocks) in [
        ("long", text(&long), true),
        ("short", text(&short), false),
        ("empty", text(&empty), false),
        ("link to long", text(&to_long), true),
        ("link to short", text(&to_short), false),
        ("dangling link", text(&dangling), true),
        ("missing", text(&env.root().join("nowhere")), true),
        ("a folder", text(&env.root()), true),
        ("a device", "/dev/null".into(), true),
        ("no path", Value::Null, true),
        ("a number", 7.into(), true),
        ("nothing", "".into(), true),
        ("ten lines of 2 MB", text(&ten), false),
        ("twenty lines of 2 MB", text(&twenty), true),
    ] {
        let ran = stop(
            &env,
            &json!({ "session_id": session, "transcript_path": path }),
        );
        let token = format!("TASKMASTER_DONE::{session}");
        let expected = if blocks {
            block("1", &token)
        } else {
            String::new()
        };
        assert_said(&ran, &expected, "", session);
    }
    let ran = stop(&env, &json!({ "session_id": "no field" }));
    assert_said(
        &ran,
        &block("1", "TASKMASTER_DONE::no field"),
        "",
        "no field",
    );
}

#[test]
fn a_session_without_a_name_is_the_unknown_one() {
    let env = TestEnv::new();
    let counter = env.tmp().join("taskmaster/unknown-session");
    let unnamed = [
        json!({}),
        json!({ "session_id": null }),
        json!({ "session_id": "null" }),
        json!({ "session_id": "" }),
    ];
    for (count, fields) in (1..).zip(unnamed) {
        let expected = block(&count.to_string(), "TASKMASTER_DONE::unknown-session");
        let ran = stop(&env, &fields);
        assert_said(&ran, &expected, "", &fields.to_string());
        assert_eq!(fs::read_to_string(&counter).unwrap(), format!("{count}\n"));
    }
    let said = "Done.\nTASKMASTER_DONE::unknown-session";
    let ran = stop(&env, &json!({ "last_assistant_message": said }));
    assert_said(&ran, "", "", "its token was said");
    assert!(!counter.exists());
    // It is bound to no project: the next one without a name may be in another.
    assert!(!env.state().join("sessions").exists());
}

#[test]
fn the_directory_need_not_be_there() {
    let env = TestEnv::new();
    let file = write(&env.root().join("file"), "");
    for (session, cwd) in [
        ("gone", json!(env.root().join("gone/deeper"))),
        ("a file", json!(file)),
        ("below a file", json!(file.join("x"))),
        ("relative", json!("gone")),
        ("no path", Value::Null),
        ("empty", json!("")),
    ] {
        let token = format!("TASKMASTER_DONE::{session}");
        for count in ["1", "2"] {
            let ran = stop(&env, &json!({ "session_id": session, "cwd": cwd }));
            assert_said(&ran, &block(count, &token), "", session);
        }
    }
}

#[test]
fn the_maximum_is_what_a_shell_takes_for_a_number() {
    for (max, label, at_two) in [
        ("2", "1/2", "let go"),
        (" 2 ", "1/2", "let go"),
        ("\t2\n", "1/2", "let go"),
        ("3", "1/3", "2/3"),
        ("2000000", "1/2000000", "2/2000000"),
        ("9000000000", "1/9000000000", "2/9000000000"),
        ("0", "1", "2"),
        ("", "1", "2"),
        ("-1", "1", "2"),
        ("many", "1", "2"),
    ] {
        let env = TestEnv::new().with("TASKMASTER_MAX", max);
        let stop = || stop(&env, &json!({ "session_id": "s" }));
        let token = "TASKMASTER_DONE::s";
        assert_said(&stop(), &block(label, token), "", max);
        let second = stop();
        if at_two == "let go" {
            let note = "taskmaster: let go at stop 2 of 2 although the agent never said \
                        TASKMASTER_DONE::s";
            let shown = format!("{{\"systemMessage\": {}}}\n", json!(note));
            assert_said(&second, &shown, &format!("{note}\n"), max);
            assert!(!env.tmp().join("taskmaster/s").exists(), "{max}");
        } else {
            assert_said(&second, &block(at_two, token), "", max);
        }
    }
}

#[test]
fn the_prefix_is_the_variables() {
    let env = TestEnv::new().with("TASKMASTER_DONE_PREFIX", "OVER");
    let ran = stop(&env, &json!({ "session_id": "s" }));
    assert_said(&ran, &block("1", "OVER::s"), "", "OVER");
}

#[test]
fn what_is_no_payload_lets_go_and_says_so_where_a_person_reads_it() {
    let env = TestEnv::new();
    for (input, cause) in [
        (
            "",
            "the input is not JSON: EOF while parsing a value at line 1 column 0",
        ),
        (
            "{",
            "the input is not JSON: EOF while parsing an object at line 1 column 1",
        ),
        ("[]", "the input is not a JSON object"),
        ("null", "the input is not a JSON object"),
    ] {
        let ran = compat(&env, "taskmaster", input);
        let text = format!("taskmaster: {cause}: the agent was let go");
        let stdout = format!("{{\"systemMessage\": \"{text}\"}}\n");
        assert_said(&ran, &stdout, &format!("{text}\n"), input);
    }
}

#[test]
fn a_counter_that_cannot_be_read_is_told_where_a_person_reads_it() {
    let env = TestEnv::new();
    stop(&env, &json!({ "session_id": "s" })).held();
    let counter = env.tmp().join("taskmaster/s");
    fs::write(&counter, "three\n").unwrap();
    let ran = stop(&env, &json!({ "session_id": "s" }));
    let text = format!(
        "taskmaster: cannot read {}: it does not hold a number. It was left as it is, and the \
         agent was let go",
        counter.display()
    );
    let stdout = format!("{{\"systemMessage\": \"{text}\"}}\n");
    assert_said(&ran, &stdout, &format!("{text}\n"), "not a number");
    assert_eq!(fs::read_to_string(&counter).unwrap(), "three\n");
}

#[test]
fn the_count_is_cleared_when_the_hosts_limit_lets_go() {
    let env = TestEnv::new();
    let stop = |chained: bool| {
        let fields = json!({ "session_id": "s", "stop_hook_active": chained });
        stop(&env, &fields)
    };
    let token = "TASKMASTER_DONE::s";
    for count in 1..=8 {
        let expected = block(&count.to_string(), token);
        assert_said(&stop(count > 1), &expected, "", "held");
    }
    let ran = stop(true);
    let text = "taskmaster: let go after 8 blocks in a row without tool use, because the host \
                would override the next one. Still waiting: gate. Say \\\"continue\\\" to go on, \
                or `mainspring why` for the reasons";
    let stdout = format!("{{\"systemMessage\": \"{text}\"}}\n");
    let stderr = format!("{text}\n").replace('\\', "");
    assert_said(&ran, &stdout, &stderr, "the ninth");
    assert!(!env.tmp().join("taskmaster/s").exists());
    assert_said(&stop(false), &block("1", token), "", "the next turn");
}

#[test]
fn it_expands_the_home_in_the_transcripts_path() {
    let env = TestEnv::new();
    let path = transcript(&env, 19, "bye");
    fs::rename(path, env.home().join("t.jsonl")).unwrap();
    let ran = stop(
        &env,
        &json!({ "session_id": "s", "transcript_path": "~/t.jsonl" }),
    );
    assert_said(&ran, "", "", "19 lines");
}

/// Its registration is its switch: `gate off` does not end it, and nobody is told so.
#[test]
fn what_switches_it_on_is_named_and_what_ends_it() {
    let env = TestEnv::new();
    env.run(&["install", "--compat", "taskmaster", "--yes"])
        .ok();
    let fields = json!({ "session_id": "s", "cwd": env.project() });
    assert!(stop(&env, &fields).stdout.contains("\"block\""));
    let why = env.run(&["why"]).ok();
    assert!(why.contains("by rule registered"), "{why}");
    assert!(why.contains("mainspring uninstall"), "{why}");
    let status = env.run(&["gate", "status"]).ok();
    let end = "`mainspring uninstall --scope local` ends it";
    assert!(
        status.contains("switched on by its registration"),
        "{status}"
    );
    assert!(status.replace('\n', " ").contains(end), "{status}");
    env.run(&["uninstall", "--scope", "local", "--yes"]).ok();
    let status = env.run(&["gate", "status"]).ok();
    assert!(!status.contains("registration"), "{status}");
}
