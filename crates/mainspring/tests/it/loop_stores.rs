//! `loop` in the seed's own stores: the Markdown file, and the `jwz` tool.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::env::TestEnv;

const PAGE: &str =
    "---\nactive: true\nmode: loop\niteration: 1\nmax_iterations: 3\nours: no\n---\n\nFix it.\n";

fn page(env: &TestEnv) -> PathBuf {
    env.project().join(".claude/idle-loop.local.md")
}

fn with_page(text: &str) -> TestEnv {
    let env = TestEnv::new();
    fs::create_dir_all(page(&env).parent().unwrap()).unwrap();
    fs::write(page(&env), text).unwrap();
    env.trust();
    env
}

#[test]
fn the_markdown_file_is_read_and_written_back() {
    let env = with_page(PAGE);
    let reason = env.stop("x").held();
    assert!(reason.starts_with("[ITERATION 2/3]"), "{reason}");
    let text = fs::read_to_string(page(&env)).unwrap();
    assert!(
        text.contains("iteration: 2\n") && text.contains("ours: no\n"),
        "{text}"
    );
    assert!(
        text.contains("session: s\n") && text.ends_with("---\n\nFix it.\n"),
        "{text}"
    );
    assert!(!env.project_state().join("loop.json").exists());

    env.stop("y").held();
    assert!(
        env.stop("z")
            .let_go()
            .contains("iteration 3 of 3 was the last")
    );
    let text = fs::read_to_string(page(&env)).unwrap();
    assert!(text.contains("active: false\n") && text.contains("ended: MAX_ITERATIONS\n"));
    assert_eq!(env.stop("on").let_go(), "");
}

#[test]
fn an_inactive_or_broken_markdown_file_holds_nobody() {
    let env = with_page(&PAGE.replace("active: true", "active: false"));
    assert_eq!(env.stop("x").let_go(), "");
    let broken = PAGE.replace("iteration: 1", "iteration: one");
    let env = with_page(&broken);
    let note = env.stop("x").let_go();
    assert!(
        note.contains("idle-loop.local.md") && note.contains("not a count"),
        "{note}"
    );
    let kept: Vec<String> = fs::read_dir(page(&env).parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().contains(".aside-"))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    assert_eq!(kept, [broken]);
    assert_eq!(env.stop("y").let_go(), "");
}

#[test]
fn a_command_can_make_the_markdown_file() {
    let env = TestEnv::new();
    env.trust();
    env.agent(
        "s",
        &[
            "loop", "start", "--store", "markdown", "--max", "4", "--prompt", "Go on.",
        ],
    )
    .ok();
    let text = fs::read_to_string(page(&env)).unwrap();
    assert!(
        text.contains("active: true\n") && text.ends_with("---\n\nGo on.\n"),
        "{text}"
    );
    assert!(env.stop("x").held().starts_with("[ITERATION 1/4]"));
    assert!(
        env.agent("s", &["loop", "push"])
            .failed()
            .contains("can hold only one loop")
    );
    env.run(&["loop", "abort"]).ok();
    assert_eq!(env.stop("y").let_go(), "");
}

/// A stand-in for `jwz`: messages are lines of a file, the newest last. It fails for a topic
/// that does not exist, and prints messages for people to stderr.
const JWZ: &str = r#"#!/bin/sh
store=.jwz
echo "$@" >> "$store/calls"
case "$1" in
  read)
    [ -f "$store/topic" ] || { echo "no such topic" >&2; exit 1; }
    [ -f "$store/fail" ] && exit 1
    if [ -s "$store/topic" ]; then printf '[{"id":"1","body":%s}]\n' "$(tail -n 1 "$store/topic")"; else echo '[]'; fi ;;
  topic) touch "$store/topic" ;;
  post)
    [ -f "$store/topic" ] || { echo "no such topic" >&2; exit 1; }
    [ -f "$store/full" ] && { echo "disk full" >&2; exit 1; }
    printf '%s' "$4" | python3 -c 'import json,sys; print(json.dumps(sys.stdin.read()))' >> "$store/topic"
    echo "posted" ;;
esac
"#;

pub(crate) fn with_jwz() -> TestEnv {
    let env = TestEnv::new();
    let bin = env.root().join("bin");
    fs::create_dir_all(&bin).unwrap();
    fs::write(bin.join("jwz"), JWZ).unwrap();
    fs::set_permissions(bin.join("jwz"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir_all(env.project().join(".jwz")).unwrap();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display());
    let env = env.with("PATH", &path);
    // It is a child process.
    env.run(&["trust", "--yes"]).ok();
    env
}

pub(crate) fn messages(env: &TestEnv) -> Vec<Value> {
    fs::read_to_string(env.project().join(".jwz/topic"))
        .unwrap_or_default()
        .lines()
        .map(|line| serde_json::from_str::<String>(line).unwrap())
        .map(|body| serde_json::from_str(&body).unwrap())
        .collect()
}

#[test]
fn a_loop_in_jwz_is_posted_as_it_moves() {
    let env = with_jwz();
    assert_eq!(env.stop("nothing yet").let_go(), "");
    env.agent("s", &["loop", "start", "--max", "3"]).ok();
    env.stop("x").held();
    env.stop("<loop-done>COMPLETE</loop-done>").let_go();
    let all = messages(&env);
    let seen: Vec<_> = all
        .iter()
        .map(|m| (m["event"].as_str().unwrap(), m["stack"][0]["iter"].as_u64()))
        .collect();
    assert_eq!(
        seen,
        [("STATE", Some(0)), ("STATE", Some(1)), ("DONE", None)]
    );
    assert_eq!(all[2]["reason"], "COMPLETE");
    assert_eq!(all[0]["schema"], 1);
    assert!(!env.project_state().join("loop.json").exists());
}

#[test]
fn a_foreign_state_in_jwz_is_taken_up_with_its_fields() {
    let env = with_jwz();
    let foreign = json!({ "schema": 1, "event": "STATE", "run_id": "loop-1-1", "theirs": 7,
        "updated_at": "2099-01-01T00:00:00Z",
        "stack": [{ "id": "a", "mode": "issue", "iter": 4, "max": 9, "branch": "b" }] });
    let line = serde_json::to_string(&foreign.to_string()).unwrap();
    fs::write(env.project().join(".jwz/topic"), line + "\n").unwrap();
    assert!(env.stop("x").held().starts_with("[ITERATION 5/9]"));
    let last = messages(&env).pop().unwrap();
    assert_eq!(last["theirs"], 7);
    assert_eq!(last["stack"][0]["branch"], "b");
    assert_eq!(last["session"], "s");
}

#[test]
fn what_could_not_be_posted_is_posted_at_the_next_stop() {
    let env = with_jwz();
    env.agent("s", &["loop", "start"]).ok();
    let full = env.project().join(".jwz/full");
    fs::write(&full, "").unwrap();
    let answer = env.stop("x").json();
    assert_eq!(answer["decision"], "block");
    assert!(
        answer["systemMessage"]
            .as_str()
            .unwrap()
            .contains("jwz post"),
        "{answer}"
    );
    assert_eq!(messages(&env).len(), 1);
    fs::remove_file(full).unwrap();
    assert!(
        env.stop("y").held().starts_with("[ITERATION 2/10]"),
        "nothing was lost"
    );
    let iterations: Vec<_> = messages(&env)
        .iter()
        .map(|m| m["stack"][0]["iter"].as_u64().unwrap())
        .collect();
    assert_eq!(iterations, [0, 1, 2]);
}

#[test]
fn a_corrupt_message_aborts_and_is_kept_by_jwz() {
    let env = with_jwz();
    fs::write(
        env.project().join(".jwz/topic"),
        "\"{\\\"schema\\\":1,\\\"stack\\\":[{\\\"iter\\\":\\\"x\\\"}]}\"\n",
    )
    .unwrap();
    let note = env.stop("x").let_go();
    assert!(note.contains("not a count"), "{note}");
    let all = messages(&env);
    assert_eq!((all.len(), all[1]["event"].as_str().unwrap()), (2, "ABORT"));
    assert_eq!(env.stop("y").let_go(), "");
}

#[test]
fn a_jwz_that_fails_lets_go() {
    let env = with_jwz();
    env.agent("s", &["loop", "start"]).ok();
    fs::write(env.project().join(".jwz/fail"), "").unwrap();
    let note = env.stop("x").let_go();
    assert!(note.contains("`jwz read` failed"), "{note}");
    fs::remove_file(env.project().join(".jwz/fail")).unwrap();
    assert!(env.stop("y").held().starts_with("[ITERATION 1/10]"));
    assert_eq!(messages(&env).len(), 2, "nothing was posted twice");
}

#[test]
fn a_jwz_that_babbles_or_hangs_lets_go() {
    for (script, told) in [
        ("echo one two three", "printed no JSON"),
        ("echo '[{\"id\":1}]'", "without a body"),
        ("echo '{}'", ""),
        ("sleep 3600", "took longer than 3 s"),
    ] {
        let env = with_jwz();
        let program = env.root().join("bin/jwz");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        let note = env.stop("x").let_go();
        assert!(note.contains(told), "{script}: {note}");
    }
}

#[test]
fn a_repository_cannot_bring_its_own_jwz() {
    let env = with_jwz();
    let program = env.root().join("bin/jwz");
    fs::rename(&program, env.project().join("jwz")).unwrap();
    let env = env.with("PATH", ".:bin:/usr/bin:/bin");
    assert_eq!(env.stop("x").let_go(), "");
    assert!(
        !env.project().join(".jwz/calls").exists(),
        "nothing was run"
    );
}
