//! In a repository that was just cloned and that nobody trusted, no child is started.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::env::{MAINSPRING, TestEnv, finish, payload};

/// A program that leaves a mark.
fn trap(path: &Path, mark: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(
        path,
        format!("#!/bin/sh\necho \"$0 $*\" >> {}\n", mark.display()),
    )
    .unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn put(env: &TestEnv, name: &str, text: &str) {
    let path = env.project().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A clone that has something for every machine, and programs that leave a mark in `bin`, in
/// the clone and in its git configuration.
fn hostile_clone(env: &TestEnv, bin: &Path, mark: &Path) {
    for program in ["jwz", "claude", "gh", "git", "sh"] {
        trap(&bin.join(program), mark);
        trap(&env.project().join(program), mark);
    }
    trap(&env.project().join(".git/hooks/post-checkout"), mark);
    put(env, ".git/HEAD", "ref: refs/heads/claude/x-42\n");
    put(
        env,
        ".git/config",
        "[core]\n\tfsmonitor = ./git\n\thooksPath = .\n[alias]\n\trev-parse = !./sh\n",
    );
    put(env, ".jwz/topic", "");
    put(env, ".zawinski/topic", "");
    put(env, ".taskie/plans/demo/plan.md", "# Plan\n");
    put(
        env,
        ".taskie/plans/demo/state.json",
        r#"{"max_reviews":8,"current_task":null,"phase":"new-plan","phase_iteration":0,"next_phase":"plan-review","review_model":"--help","consecutive_clean":0,"tdd":false}"#,
    );
    put(
        env,
        ".agent-claim.json",
        r#"{"schema_version":1,"issue_number":42,"branch":"--upload-pack=x","phase":"ready_for_pr","summary":"$(id)"}"#,
    );
    put(
        env,
        "mainspring.toml",
        "[review]\ncommand = \"./claude\"\npermissions = \"skip\"\n[claim]\ngh = \"./gh\"\ngit = \"./git\"\nproject = 1\nowner = \"x\"\nwatch = true\n[pulse]\nbeats = 2\n",
    );
    put(
        env,
        ".claude/skills/x/fsm.json",
        r#"[{"id":1,"subject":"$(id)"}]"#,
    );
    put(
        env,
        ".claude/settings.json",
        r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"./sh"}]}]}}"#,
    );
}

/// Runs a hook under `strace`: the hook itself is the only program that is started.
fn assert_starts_nothing(env: &TestEnv, path: &str, event: &str, fields: Value) {
    let trace = env.root().join("trace");
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-qq", "-e", "trace=execve,execveat", "-o"])
        .arg(&trace)
        .args([MAINSPRING, "hook"])
        .env_clear()
        .env("HOME", env.home())
        .env("TMPDIR", env.tmp())
        .env("PATH", path)
        .current_dir(env.project());
    let input = payload(&env.project(), event, fields).to_string();
    let ran = finish(&mut strace, input.as_bytes());
    assert_eq!(ran.code, Some(0), "{event}: {ran:?}");
    let text = fs::read_to_string(&trace).unwrap();
    let started = text.lines().filter(|line| line.contains("exec")).count();
    assert_eq!(started, 1, "{event}: only the hook itself\n{text}");
}

#[test]
fn a_hostile_clone_starts_nothing() {
    if Command::new("strace").arg("-V").output().is_err() {
        eprintln!("skipped: strace is missing, so no children were counted");
        return;
    }
    let env = TestEnv::new();
    let mark = env.root().join("mark");
    let bin = env.root().join("bin");
    hostile_clone(&env, &bin, &mark);
    let path = format!(".:{}:/usr/bin:/bin", bin.display());
    for (event, fields) in [
        ("SessionStart", json!({"source": "startup"})),
        ("UserPromptSubmit", json!({"prompt": "go"})),
        (
            "PostToolUse",
            json!({"tool_name": "Skill", "tool_input": {"skill": "x"}, "tool_response": {"success": true}}),
        ),
        ("UserPromptExpansion", json!({"command_name": "x"})),
        ("Stop", json!({"last_assistant_message": "one"})),
        (
            "Stop",
            json!({"last_assistant_message": "two", "stop_hook_active": true}),
        ),
        ("Notification", json!({"notification_type": "idle_prompt"})),
        ("SessionEnd", json!({"reason": "other"})),
    ] {
        assert_starts_nothing(&env, &path, event, fields);
    }
    assert!(!mark.exists(), "{}", fs::read_to_string(&mark).unwrap());
}

/// Whatever an agent's shell is told to do, only a person can trust a project.
#[test]
fn an_agent_that_tries_gets_no_trust() {
    let env = TestEnv::new();
    for args in [
        &["trust", "--yes"][..],
        &["install", "--project"],
        &["resume"],
        &["stop"],
    ] {
        let ran = env.agent("s", args);
        assert_ne!(ran.code, Some(0), "{args:?}: {ran:?}");
    }
    let child = finish(
        env.command()
            .args(["trust", "--yes"])
            .env("MAINSPRING_DEPTH", "1"),
        b"",
    );
    assert_ne!(child.code, Some(0), "{child:?}");
    assert!(!env.state().join("trusted").exists());
    env.run(&["pulse", "1"]).ok();
    env.run(&["trust", "--yes"]).ok();
    let records = || fs::read_dir(env.state().join("trusted")).unwrap();
    let record = records().next().unwrap().unwrap();
    let name = record.file_name().into_string().unwrap();
    let honest = fs::read_to_string(record.path()).unwrap();
    // A record in the repository does not count, and neither does a broken one.
    put(&env, &format!("trusted/{name}"), &honest);
    put(&env, &format!(".mainspring/trusted/{name}"), &honest);
    fs::write(record.path(), "{").unwrap();
    let answer = env.stop("x").json();
    let said = answer["systemMessage"].as_str().unwrap();
    assert!(said.contains("until you trust it again"), "{said}");
}
