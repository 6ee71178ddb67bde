//! `compat idle` in place of `stop-hook.sh`.

use std::fs;
use std::path::PathBuf;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{compat, line, write};
use crate::env::{Ran, TestEnv};
use crate::loop_stores::{messages, with_jwz};

const PAGE: &str = ".claude/idle-loop.local.md";

fn sentence(iteration: &str) -> String {
    format!(
        "[ITERATION {iteration}] Continue working on the task. Check your progress and either \
         complete the task or keep iterating."
    )
}

fn page(env: &TestEnv, mode: &str, iteration: &str, max: &str) -> PathBuf {
    let text = format!(
        "---\nactive: true\nmode: {mode}\niteration: {iteration}\nmax_iterations: {max}\n---\nGo.\n"
    );
    write(&env.project().join(PAGE), &text)
}

/// A stop whose payload has only these fields.
fn stop(env: &TestEnv, fields: &Value) -> Ran {
    compat(env, "idle", &fields.to_string())
}

/// The agent is held: this is printed, and nothing else.
#[track_caller]
fn assert_held(ran: &Ran, reason: &str, why: &str) {
    let stdout = format!(
        "{{\"decision\": \"block\", \"reason\": {}}}\n",
        Value::from(reason)
    );
    assert_eq!(ran.stdout, stdout, "{why}");
    assert_eq!(ran.stderr, format!("{reason}\n"), "{why}");
    assert_eq!(ran.code, Some(2), "{why}");
}

#[track_caller]
/// What there is to say stands on stderr, as the script has it, and where the person reads it.
fn assert_let_go(ran: &Ran, stderr: &str, why: &str) {
    let shown = match stderr.trim_end() {
        "" => String::new(),
        text => format!("{{\"systemMessage\": {}}}\n", json!(text)),
    };
    assert_eq!(ran.stdout, shown, "{why}");
    assert_eq!(ran.stderr, stderr, "{why}");
    assert_eq!(ran.code, Some(0), "{why}");
}

/// The later public suite: a page, a transcript, and no session. In its second case the signal is
/// indented by two spaces, which the document does not know.
#[test]
fn the_ten_cases_of_the_public_suite() {
    const DONE: &str = "<loop-done>COMPLETE</loop-done>";
    let said = |text: &str| line("assistant", text);
    let steps: String = (1..=50).map(|n| said(&format!("step {n}"))).collect();
    let indented = format!("Like this:\n  {DONE}");
    let quoted = format!("Like this:\n\n`{DONE}`\n\nIn backticks.");
    let own_line = format!("That was the last step.\n{DONE}");
    let issue = "Resolved.\n<issue-complete>DONE</issue-complete>";
    let grind = "All done.\n<grind-done>NO_MORE_ISSUES</grind-done>";
    let cut = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Work"#;
    for (case, page_of, transcript, code) in [
        (1, ("loop", "5"), steps + &said(DONE), 0),
        (2, ("loop", "5"), said(&indented), 2),
        (3, ("loop", "5"), said(&quoted), 2),
        (4, ("loop", "5"), said("Much work.") + &said(&own_line), 0),
        (6, ("issue", "3"), said("At it.") + &said(issue), 0),
        (7, ("grind", "2"), said("At it.") + &said(grind), 0),
        (9, ("loop", "10"), String::new(), 0),
        (10, ("loop", "5"), cut.to_owned(), 2),
    ] {
        let env = TestEnv::new();
        page(&env, page_of.0, page_of.1, "10");
        let path = write(&env.root().join("t.jsonl"), &transcript);
        let ran = stop(
            &env,
            &json!({ "transcript_path": path, "cwd": env.project() }),
        );
        assert_eq!(ran.code, Some(code), "case {case}: {ran:?}");
    }
    // 5: two at once. Neither iteration is lost.
    let env = TestEnv::new();
    let file = page(&env, "loop", "5", "10");
    let payload = json!({ "transcript_path": "nonexistent", "cwd": env.project() });
    std::thread::scope(|scope| {
        for one in [
            scope.spawn(|| stop(&env, &payload)),
            scope.spawn(|| stop(&env, &payload)),
        ] {
            assert_eq!(one.join().unwrap().code, Some(2));
        }
    });
    assert!(fs::read_to_string(file).unwrap().contains("iteration: 7\n"));
    // 8: no loop.
    assert_let_go(&stop(&TestEnv::new(), &json!({})), "", "no state");
}

#[test]
fn the_block_is_the_documents_and_nothing_is_appended() {
    let config = "[loop]\nrepeat_prompt = true\n";
    for (why, fields) in [
        ("its own directory is the project", json!({})),
        ("a session", json!({ "session_id": "s" })),
        (
            "near",
            json!({ "session_id": "s",
            "last_assistant_message": "`<loop-done>COMPLETE</loop-done>`" }),
        ),
        (
            "near, no session",
            json!({
            "last_assistant_message": "  <loop-done>COMPLETE</loop-done>" }),
        ),
    ] {
        let env = TestEnv::new();
        write(&env.home().join(".config/mainspring/config.toml"), config);
        page(&env, "loop", "1", "9");
        assert_held(&stop(&env, &fields), &sentence("2/9"), why);
        assert_held(&stop(&env, &fields), &sentence("3/9"), why);
    }
}

#[test]
fn a_page_holds_as_its_document_says() {
    const SPENT: &str = "idle: the loop is off: iteration 9 of 9 was the last.\n";
    for (mode, iteration, said, held) in [
        ("loop", "1", "", Ok("2/9")),
        ("loop", "0", "", Ok("1/9")),
        ("loop", "8", "", Ok("9/9")),
        ("loop", "9", "", Err(SPENT)),
        ("loop", "1", "<loop-done>COMPLETE</loop-done>", Err("")),
        (
            "loop",
            "1",
            "<loop-done>MAX_ITERATIONS</loop-done>",
            Err(""),
        ),
        ("loop", "1", "<loop-done>STUCK</loop-done>", Err("")),
        ("loop", "1", "<loop-done>OTHER</loop-done>", Ok("2/9")),
        (
            "loop",
            "1",
            "<issue-complete>DONE</issue-complete>",
            Ok("2/9"),
        ),
        (
            "loop",
            "1",
            "```\n<loop-done>COMPLETE</loop-done>\n```",
            Ok("2/9"),
        ),
        (
            "issue",
            "1",
            "<issue-complete>DONE</issue-complete>",
            Err(""),
        ),
        ("issue", "1", "<loop-done>COMPLETE</loop-done>", Err("")),
        (
            "issue",
            "1",
            "<grind-done>MAX_ISSUES</grind-done>",
            Ok("2/9"),
        ),
        ("grind", "1", "<grind-done>MAX_ISSUES</grind-done>", Err("")),
        (
            "grind",
            "1",
            "<grind-done>NO_MORE_ISSUES</grind-done>",
            Err(""),
        ),
        ("grind", "1", "<loop-done>COMPLETE</loop-done>", Ok("2/9")),
    ] {
        let env = TestEnv::new();
        page(&env, mode, iteration, "9");
        let why = format!("{mode} {iteration} {said}");
        let message = json!({ "last_assistant_message": format!("Well.\n{said}") });
        let ran = stop(&env, &message);
        match held {
            Ok(iteration) => assert_held(&ran, &sentence(iteration), &why),
            Err(stderr) => assert_let_go(&ran, stderr, &why),
        }
    }
}

#[test]
fn a_count_that_is_no_number_aborts() {
    let env = TestEnv::new();
    page(&env, "loop", "five", "9");
    let ran = stop(&env, &json!({}));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("its state cannot be read"), "{ran:?}");
    let shown: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(shown["systemMessage"], ran.stderr.trim_end());
    assert_let_go(&stop(&env, &json!({})), "", "it is cleaned up");
}

#[test]
fn its_switch_comes_first() {
    let env = TestEnv::new().with("IDLE_LOOP_DISABLE", "1");
    page(&env, "loop", "five", "9");
    assert_let_go(&stop(&env, &json!({})), "", "switched off");
    for value in ["0", "true", "2"] {
        let env = TestEnv::new().with("IDLE_LOOP_DISABLE", value);
        page(&env, "loop", "1", "9");
        assert_held(&stop(&env, &json!({})), &sentence("2/9"), value);
    }
}

#[test]
fn what_is_no_payload_lets_go_and_says_so() {
    let env = TestEnv::new();
    page(&env, "loop", "1", "9");
    for (input, cause) in [
        (
            "",
            "the input is not JSON: EOF while parsing a value at line 1 column 0",
        ),
        ("[]", "the input is not a JSON object"),
    ] {
        let ran = compat(&env, "idle", input);
        let text = format!("idle: {cause}: the agent was let go");
        assert_eq!(ran.stdout, format!("{{\"systemMessage\": \"{text}\"}}\n"));
        assert_eq!((ran.code, ran.stderr), (Some(0), format!("{text}\n")));
    }
    let gone = json!({ "cwd": env.root().join("gone") });
    let ran = stop(&env, &gone);
    assert_eq!(ran.code, Some(0));
    assert!(
        ran.stdout.starts_with("{\"systemMessage\": \"idle: "),
        "{ran:?}"
    );
    assert!(ran.stderr.contains("gone"), "{ran:?}");
}

#[test]
fn only_the_page_and_the_topic_are_its_stores() {
    let env = TestEnv::new();
    env.agent("s", &["loop", "start", "--max", "9"]).ok();
    assert_let_go(
        &stop(&env, &json!({ "session_id": "s" })),
        "",
        "our own store",
    );
    page(&env, "loop", "1", "9");
    assert_held(
        &stop(&env, &json!({ "session_id": "s" })),
        &sentence("2/9"),
        "the page",
    );
}

#[test]
fn a_loop_of_another_session_holds_nobody_else() {
    let env = TestEnv::new();
    page(&env, "loop", "1", "9");
    let of = |session: &str| stop(&env, &json!({ "session_id": session }));
    assert_held(&of("a"), &sentence("2/9"), "whoever stops first");
    assert_let_go(&of("b"), "", "another");
    assert_held(&of("a"), &sentence("3/9"), "the same");
    assert_held(
        &stop(&env, &json!({})),
        &sentence("4/9"),
        "it may be the same",
    );
}

/// A topic whose newest message is this.
fn topic(env: &TestEnv, message: &Value) {
    let body = serde_json::to_string(&message.to_string()).unwrap();
    write(&env.project().join(".jwz/topic"), &(body + "\n"));
}

fn state(frame: &Value) -> Value {
    json!({ "schema": 1, "event": "STATE", "run_id": "loop-1-1",
        "updated_at": "2099-01-01T00:00:00Z", "stack": [frame] })
}

#[test]
fn the_topic_comes_before_the_page() {
    let env = with_jwz();
    page(&env, "loop", "1", "9");
    topic(
        &env,
        &state(&json!({ "id": "a", "mode": "loop", "iter": 4, "max": 10 })),
    );
    assert_held(&stop(&env, &json!({})), &sentence("5/10"), "the topic");
    let last = messages(&env).pop().unwrap();
    assert_eq!(
        (&last["event"], &last["stack"][0]["iter"]),
        (&json!("STATE"), &json!(5))
    );
    let said = json!({ "last_assistant_message": "<loop-done>COMPLETE</loop-done>" });
    assert_let_go(&stop(&env, &said), "", "the signal");
    let last = messages(&env).pop().unwrap();
    assert_eq!(
        (&last["event"], &last["reason"]),
        (&json!("DONE"), &json!("COMPLETE"))
    );
    assert_held(&stop(&env, &json!({})), &sentence("2/9"), "then the page");
}

#[test]
fn a_jwz_that_fails_says_so_and_the_page_counts() {
    for (script, told) in [
        (
            "echo 'Database busy. Please retry.' >&2; exit 1",
            "Database busy. Please retry.",
        ),
        ("exit 3", "it printed no error"),
    ] {
        let env = with_jwz();
        let program = env.root().join("bin/jwz");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        let text =
            format!("idle: `jwz read` failed, so the loop that it may hold is not seen: {told}");
        let ran = stop(&env, &json!({}));
        assert_eq!(ran.stdout, format!("{{\"systemMessage\": \"{text}\"}}\n"));
        assert_eq!((ran.code, ran.stderr), (Some(0), format!("{text}\n")));
        page(&env, "loop", "1", "9");
        let ran = stop(&env, &json!({}));
        let reason = sentence("2/9");
        let stdout = format!("{{\"decision\": \"block\", \"reason\": \"{reason}\"}}\n");
        assert_eq!((ran.code, ran.stdout), (Some(2), stdout));
        assert_eq!(ran.stderr, format!("{reason}\n{text}\n"));
    }
    // A topic that does not exist yet is no failure.
    for words in ["Topic not found.", "no such topic"] {
        let env = with_jwz();
        let program = env.root().join("bin/jwz");
        fs::write(&program, format!("#!/bin/sh\necho '{words}' >&2; exit 1\n")).unwrap();
        assert_let_go(&stop(&env, &json!({})), "", words);
    }
}

#[test]
fn the_worktree_of_an_issue_is_in_the_reason() {
    let env = with_jwz();
    let tree = env.root().join("tree");
    let frame = |tree: &PathBuf| {
        json!({ "id": "a", "mode": "issue", "iter": 1, "max": 10, "issue_id": "ISS-7",
            "branch": "idle/issue/ISS-7", "worktree_path": tree })
    };
    topic(&env, &state(&frame(&tree)));
    assert_held(
        &stop(&env, &json!({})),
        &sentence("2/10"),
        "it is not there",
    );
    fs::create_dir(&tree).unwrap();
    let tree = tree.display();
    let reason = format!(
        "{}\n\nWORKTREE CONTEXT:\n- Working directory: {tree}\n- Branch: idle/issue/ISS-7\n\
         - Issue: ISS-7\n\nWork in that directory only. Give files as absolute paths below it, \
         and begin each shell command with `cd \"{tree}\" &&`. Run `tissue` in the main checkout, \
         not in the worktree.",
        sentence("3/10")
    );
    assert_held(&stop(&env, &json!({})), &reason, "it is there");
}

#[test]
fn a_loop_in_jwz_that_waits_for_trust_is_told_once_where_a_person_reads_it() {
    let env = with_jwz();
    env.run(&["untrust"]).ok();
    let first = stop(&env, &json!({ "session_id": "s" }));
    assert_eq!(first.code, Some(0), "{first:?}");
    let shown: Value = serde_json::from_str(&first.stdout).unwrap();
    let shown = shown["systemMessage"].as_str().unwrap();
    assert!(shown.contains("`mainspring trust`"), "{shown}");
    assert_let_go(&stop(&env, &json!({ "session_id": "s" })), "", "told once");
}
