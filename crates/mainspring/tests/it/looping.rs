//! `loop`, through the binary, in its own store.

use std::fs;

use mainspring_testkit::files::sealed;
use serde_json::{Value, json};

use crate::env::TestEnv;

const DONE: &str = "<loop-done>COMPLETE</loop-done>";

fn started(args: &[&str]) -> TestEnv {
    let env = TestEnv::new();
    let mut all = vec!["loop", "start"];
    all.extend(args);
    env.agent("s", &all).ok();
    env
}

/// The loop of session `s`.
fn own_file(env: &TestEnv) -> std::path::PathBuf {
    env.project_state().join("loop-of-s.json")
}

fn loop_file(env: &TestEnv) -> Option<Value> {
    let text = fs::read_to_string(own_file(env)).ok()?;
    Some(serde_json::from_str(&text).unwrap())
}

#[test]
fn the_block_is_the_seeds_sentence_and_the_first_one_says_how_it_ends() {
    let env = started(&[]);
    let sentence = |iteration: &str| {
        format!(
            "[ITERATION {iteration}] Continue working on the task. Check your progress and either \
             complete the task or keep iterating."
        )
    };
    let first = env.stop("not yet").held();
    assert!(first.starts_with(&sentence("1/10")), "{first}");
    assert!(first.contains(DONE), "{first}");
    assert_eq!(env.stop("nor now").held(), sentence("2/10"));
}

#[test]
fn a_signal_ends_it_and_its_maximum_does() {
    let env = started(&["--max", "5"]);
    for iteration in 1..=4 {
        let reason = env.stop(&format!("{iteration}")).held();
        assert!(
            reason.starts_with(&format!("[ITERATION {iteration}/5]")),
            "{reason}"
        );
    }
    assert_eq!(env.stop(DONE).let_go(), "");
    assert_eq!(loop_file(&env), None, "a loop that is over leaves no file");
    assert_eq!(env.stop("and on").let_go(), "");

    env.agent("s", &["loop", "start", "--max", "2"]).ok();
    env.stop("a").held();
    env.stop("b").held();
    let note = env.stop("c").let_go();
    assert!(note.contains("iteration 2 of 2 was the last"), "{note}");
    assert_eq!(env.stop("d").let_go(), "");
}

#[test]
fn an_inner_frame_ends_and_the_outer_goes_on() {
    let env = started(&["--mode", "grind"]);
    env.agent("s", &["loop", "push", "--mode", "issue", "--max", "3"])
        .ok();
    let list = env.run(&["loop", "list"]).ok();
    assert!(list.starts_with("grind iteration 0 of 100"), "{list}");
    assert!(list.contains("\n  issue iteration 0 of 3"), "{list}");

    assert!(
        env.stop("<grind-done>NO_MORE_ISSUES</grind-done>")
            .held()
            .starts_with("[ITERATION 1/3]")
    );
    assert!(
        env.stop("<issue-complete>DONE</issue-complete>")
            .held()
            .starts_with("[ITERATION 1/100]")
    );
    assert!(env.stop("next").held().starts_with("[ITERATION 2/100]"));
    let kept = env.stop("<issue-complete>DONE</issue-complete>").held();
    assert!(
        kept.starts_with("[ITERATION 3/100]"),
        "it does not end the grind: {kept}"
    );
    assert_eq!(
        env.stop("<grind-done>NO_MORE_ISSUES</grind-done>").let_go(),
        ""
    );
    assert_eq!(loop_file(&env), None);
}

#[test]
fn an_abort_from_anywhere_lets_the_next_stop_through_and_says_so() {
    let env = started(&[]);
    env.stop("a").held();
    env.run(&["loop", "abort", "wrong", "branch"]).ok();
    let status = env.run(&["loop", "status"]).ok();
    let why = "ended early: it was aborted by a person: wrong branch\n";
    assert!(status.starts_with(why), "{status}");
    let note = env.stop("b").let_go();
    assert!(
        note.contains("aborted: by a person: wrong branch"),
        "{note}"
    );
    assert_eq!(env.stop("c").let_go(), "", "told once");
    assert_eq!(
        env.run(&["loop", "abort"]).ok(),
        "nothing changed: no loop runs here\n"
    );
    env.agent("s", &["loop", "start"]).ok();
    env.stop("d").held();
}

#[test]
fn another_session_is_never_held_and_adopt_gives_it_over() {
    let env = started(&[]);
    assert_eq!(env.stop_of("other", "x").let_go(), "");
    env.stop("y").held();
    env.run(&["loop", "adopt", "--session", "other"]).ok();
    assert_eq!(env.stop("z").let_go(), "");
    assert!(
        env.stop_of("other", "z")
            .held()
            .starts_with("[ITERATION 2/10]")
    );
    let again = env.run(&["loop", "adopt", "--session", "last"]).failed();
    assert!(
        again.contains("session other has a loop already"),
        "{again}"
    );
    env.stop_of("other", "zz").held();
}

#[test]
fn a_loop_without_an_owner_goes_to_who_is_alone() {
    let env = TestEnv::new();
    for session in ["s", "other"] {
        env.stop_of(session, "hello").let_go();
    }
    let out = env.run(&["loop", "start"]).ok();
    assert!(out.contains("2 sessions are live here"), "{out}");
    let note = env.stop("x").let_go();
    assert!(
        note.contains("`mainspring loop adopt --session s`"),
        "{note}"
    );

    let over = json!({ "session_id": "other", "reason": "other" });
    env.hook("SessionEnd", over).ok();
    let answer = env.stop("y").json();
    let reason = answer["reason"].as_str().unwrap();
    assert!(reason.starts_with("[ITERATION 1/10]") && reason.contains("given to this session"));
    assert!(
        answer["systemMessage"]
            .as_str()
            .unwrap()
            .contains("loop abort")
    );
    assert_eq!(env.stop_of("other", "z").let_go(), "");
}

#[test]
fn the_next_session_that_starts_takes_what_is_nobodys() {
    let env = TestEnv::new();
    env.run(&["loop", "start"]).ok();
    let fork = env.hook(
        "SessionStart",
        json!({ "session_id": "f", "source": "fork" }),
    );
    assert_eq!(fork.ok(), "");
    let start = env
        .hook("SessionStart", json!({ "source": "startup" }))
        .json();
    let context = start["hookSpecificOutput"]["additionalContext"]
        .as_str()
        .unwrap();
    assert!(context.contains("given to this session"), "{context}");
    env.stop("x").held();
    assert_eq!(env.stop_of("f", "x").let_go(), "");
}

#[test]
fn it_follows_clear_within_one_client_only() {
    for (client, follows) in [("7", true), ("8", false)] {
        let env = TestEnv::new().with("CLAUDE_PID", "7");
        env.agent("s", &["loop", "start"]).ok();
        env.hook("SessionEnd", json!({ "reason": "clear" })).ok();
        let env = env.with("CLAUDE_PID", client);
        env.hook(
            "SessionStart",
            json!({ "session_id": "n", "source": "clear" }),
        )
        .ok();
        let next = env.stop_of("n", "x").ok();
        assert_eq!(!next.is_empty(), follows, "client {client}: {next}");
        let old = env.stop("x").ok();
        assert_eq!(old.is_empty(), follows, "client {client}: {old}");
    }
}

#[test]
fn a_loop_that_has_not_moved_is_stale_and_kept_aside() {
    let env = started(&[]);
    let path = own_file(&env);
    let old = fs::read_to_string(&path).unwrap();
    let mut doc: Value = serde_json::from_str(&old).unwrap();
    doc["updated_at"] = "2024-12-21T10:30:00+00:00".into();
    let stale = sealed(doc);
    fs::write(&path, &stale).unwrap();
    let note = env.stop("x").let_go();
    assert!(note.contains("made no progress for"), "{note}");
    assert!(!path.exists());
    assert_eq!(asides(&env), [stale]);
}

#[test]
fn the_ttl_is_a_setting() {
    let env = started(&[]);
    fs::write(
        env.project().join("mainspring.toml"),
        "[loop]\nttl = \"1s\"\n",
    )
    .unwrap();
    env.trust();
    let path = own_file(&env);
    let mut doc = loop_file(&env).unwrap();
    let ago = "2024-12-21T10:30:00Z";
    doc["updated_at"] = ago.into();
    fs::write(&path, sealed(doc)).unwrap();
    env.stop("x").let_go();
    assert!(!path.exists());
}

fn asides(env: &TestEnv) -> Vec<String> {
    fs::read_dir(env.project_state())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().contains(".aside-"))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect()
}

#[test]
fn what_cannot_be_read_lets_go_loudly_and_is_kept_aside() {
    for broken in [
        "{",
        "not json",
        r#"{"v":1,"schema":1,"event":"STATE","stack":[{"iter":1}],"checksum":"00"}"#,
        r#"{"schema":1,"event":"STATE","stack":[{"iter":"x"}]}"#,
    ] {
        let env = started(&[]);
        let path = own_file(&env);
        fs::write(&path, broken).unwrap();
        let refused = env.agent("s", &["loop", "start"]).failed();
        assert!(refused.contains("cannot be read"), "{refused}");
        let note = env.stop("x").let_go();
        assert!(note.contains("loop-of-s.json"), "{broken}: {note}");
        assert_eq!(asides(&env), [broken]);
        assert_eq!(env.stop("y").let_go(), "", "said once");
        env.agent("s", &["loop", "start"]).ok();
        env.stop("z").held();
    }
}

#[test]
fn the_seeds_way_out_works() {
    let env = started(&[]).with("IDLE_LOOP_DISABLE", "1");
    assert_eq!(env.stop("x").let_go(), "");
}

#[test]
fn the_prompt_is_given_again_if_that_is_wanted() {
    let env = started(&["--prompt", "Fix the tests."]);
    fs::write(
        env.project().join("mainspring.toml"),
        "[loop]\nrepeat_prompt = true\n",
    )
    .unwrap();
    env.trust();
    env.stop("x").held();
    assert!(
        env.stop("xx")
            .held()
            .ends_with("keep iterating.\n\nFix the tests.")
    );
    fs::write(env.project().join("todo.md"), "Do this.\n").unwrap();
    env.agent("s", &["loop", "push", "--prompt-file", "todo.md"])
        .ok();
    assert!(env.stop("y").held().ends_with("\n\nDo this."));
    fs::write(env.project().join("todo.md"), "Do that.\n").unwrap();
    assert!(
        env.stop("z").held().ends_with("\n\nDo that."),
        "the file is read again"
    );
}

#[test]
fn gate_and_loop_together_are_told_at_once_and_accept_apart() {
    let env = started(&[]);
    env.agent("s", &["gate", "on"]).ok();
    let both = env.stop("x").held();
    assert!(
        both.starts_with("TASKMASTER (1)") && both.contains("\n\n[ITERATION 1/10]"),
        "{both}"
    );
    let gate = env.stop(DONE).held();
    assert!(
        gate.starts_with("TASKMASTER (2)") && !gate.contains("ITERATION"),
        "{gate}"
    );
    assert_eq!(loop_file(&env).unwrap()["accepted"], "COMPLETE");
    assert_eq!(env.stop("TASKMASTER_DONE::s").let_go(), "");
    assert_eq!(loop_file(&env), None);
}

#[test]
fn no_iteration_is_lost_when_hooks_run_at_once() {
    let env = started(&["--max", "1000"]).with("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "0");
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let env = &env;
            scope.spawn(move || {
                for n in 0..10 {
                    env.stop(&format!("{worker}-{n}")).held();
                }
            });
        }
    });
    assert_eq!(loop_file(&env).unwrap()["stack"][0]["iter"], 40);
}

#[test]
fn status_and_graph_show_where_it_is() {
    let env = started(&["--max", "4"]);
    let status = env.run(&["loop", "status"]).ok();
    assert!(
        status.starts_with("loop iteration 0 of 4, session s\n"),
        "{status}"
    );
    assert!(status.contains(DONE), "{status}");
    let json: Value = serde_json::from_str(&env.run(&["loop", "status", "--json"]).ok()).unwrap();
    assert_eq!(json["active"]["top"]["max"], 4);

    let graph = env.run(&["graph", "loop"]).ok();
    assert!(
        graph.contains("● active\n") && graph.contains("○ idle\n"),
        "{graph}"
    );
    let mermaid = env.run(&["graph", "loop", "--format", "mermaid"]).ok();
    assert!(mermaid.starts_with("stateDiagram-v2\n") && mermaid.contains("class active here"));
    let dot = env.run(&["graph", "gate", "--format", "dot"]).ok();
    assert!(dot.contains("\"waiting\" -> \"said\""), "{dot}");
}

#[test]
fn a_cd_into_a_nested_repository_or_a_worktree_loses_nothing() {
    let env = TestEnv::new();
    let git = |args: &[&str]| {
        let status = std::process::Command::new("git")
            .args([
                "-c",
                "user.name=t",
                "-c",
                "user.email=t@t",
                "-c",
                "init.defaultBranch=main",
            ])
            .args(args)
            .current_dir(env.project())
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .output()
            .unwrap();
        assert!(status.status.success(), "{status:?}");
    };
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-m", "x"]);
    git(&["worktree", "add", "-q", "../tree"]);
    git(&["init", "-q", "nested"]);
    env.agent("s", &["loop", "start"]).ok();
    env.agent("s", &["gate", "on"]).ok();
    for folder in [
        env.project().join("nested"),
        env.root().join("tree"),
        env.project(),
    ] {
        let reason = env
            .hook(
                "Stop",
                json!({ "cwd": folder, "last_assistant_message": "x" }),
            )
            .held();
        assert!(
            reason.contains("TASKMASTER") && reason.contains("[ITERATION"),
            "{reason}"
        );
    }
}

/// A person starts it in another terminal, so the agent has to be told its prompt, once.
#[test]
fn the_agent_hears_the_prompt_of_a_loop_that_somebody_else_started() {
    let env = TestEnv::new();
    let prompt = "Make the forecast right";
    env.run(&["loop", "start", "--max", "9", "--prompt", prompt])
        .ok();
    let first = env.stop("Hello.").held();
    assert!(
        first.contains("There was a loop without an owner") && first.ends_with(prompt),
        "{first}"
    );
    assert!(!env.stop("Hm.").held().contains(prompt));

    let env = TestEnv::new();
    env.run(&["loop", "start", "--prompt", prompt]).ok();
    let start = env
        .hook("SessionStart", serde_json::json!({ "source": "startup" }))
        .json();
    let told = start["hookSpecificOutput"]["additionalContext"]
        .as_str()
        .unwrap();
    assert!(told.ends_with(prompt), "{told}");

    // The session already exists.
    let env = TestEnv::new();
    env.stop("Hello.").let_go();
    env.run(&["loop", "start", "--session", "s", "--prompt", prompt])
        .ok();
    assert!(env.stop("Hello.").held().ends_with(prompt));
    assert!(!env.stop("Hm.").held().contains(prompt));
}
