//! Somebody else's text in every view and error: it is shown, and no terminal obeys it.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::env::{Ran, TestEnv, finish, payload};

/// Clears the screen, fills the clipboard, reverses a line, hides text, and starts a line that
/// could pass for ours.
const HOSTILE: &str = "x\u{1b}[2J\u{1b}]52;c;eA==\u{7}\u{9b}31m\u{202e}\u{200b}\u{e0041}\r\nFORGED";
/// The same as the person's own argument, which may contain line breaks.
const ARGUMENT: &str = "x\u{1b}[2J\u{1b}]52;c;eA==\u{7}\u{9b}31m\u{202e}\u{200b}\u{e0041}";
/// The same without characters that a path cannot hold.
const NAME: &str = "x\u{1b}[2J\u{1b}]52;c;eA==\u{7}\u{202e}\nFORGED";

const VIEWS: [&[&str]; 28] = [
    &["status"],
    &["status", "--line"],
    &["doctor"],
    &["why"],
    &["why", "--last", "20"],
    &["log"],
    &["debug", "replay"],
    &["config"],
    &["config", "check"],
    &["trust", "--list"],
    &["graph"],
    &["gate", "status", "--session", "last"],
    &["loop", "status"],
    &["loop", "list"],
    &["plan", "status"],
    &["plan", "list"],
    &["plan", "route"],
    &["claim", "status"],
    &["tasks"],
    &["tasks", "list"],
    &["tasks", "next"],
    &["tasks", "validate"],
    &["tasks", "show", "1"],
    &["debug", "simulate", "stop"],
    &["sessions"],
    &["debug", "state"],
    &["check"],
    &["claim", "list"],
];

/// Runs a command and checks everything that it prints.
fn look(env: &TestEnv, cwd: &Path, args: &[&str]) -> Ran {
    let ran = finish(env.command().current_dir(cwd).args(args), b"");
    for said in [&ran.stdout, &ran.stderr] {
        let obeyed = said.chars().find(|c| {
            (c.is_control() && !matches!(c, '\n' | '\t'))
                || matches!(c, '\u{202e}' | '\u{200b}' | '\u{e0041}')
        });
        assert_eq!(obeyed, None, "{args:?}: {said}");
        let forged = said
            .lines()
            .find(|line| line.trim_start().starts_with("FORGED"));
        assert_eq!(forged, None, "{args:?}: {said}");
    }
    ran
}

fn look_at_all(env: &TestEnv, cwd: &Path) -> usize {
    let mut shown = 0;
    for args in VIEWS {
        let ran = look(env, cwd, args);
        shown += usize::from(ran.stdout.contains("[2J") || ran.stderr.contains("[2J"));
        let json: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
        let ran = look(env, cwd, &json);
        for line in ran
            .stdout
            .lines()
            .take(1)
            .filter(|line| line.ends_with('}'))
        {
            serde_json::from_str::<Value>(line).unwrap();
        }
    }
    shown
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A repository with a check that is red and prints hostile text, and a server whose claims say
/// nothing else.
fn hostile_repository(env: &TestEnv) -> std::path::PathBuf {
    let project = env.root().join(NAME);
    let server = env.root().join("server.git");
    let git = |args: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@localhost"])
            .args(args)
            .current_dir(&project)
            .env_clear()
            .env("HOME", env.home())
            .env("PATH", "/usr/local/bin:/usr/bin:/bin");
        finish(&mut git, b"").ok().trim().to_owned()
    };
    put(&project.join("says"), HOSTILE);
    let run = json!(["sh", "-c", format!("cat says; exit 1; {ARGUMENT}")]);
    let check = format!("[[check]]\nname = \"tests\"\nrun = {run}\ninputs = [\"says\"]\n");
    put(&project.join("mainspring.toml"), &check);
    git(&["init", "--quiet"]);
    git(&["init", "--quiet", "--bare", server.to_str().unwrap()]);
    let address = "https://github.com/acme/widgets";
    git(&["remote", "add", "origin", address]);
    let instead = format!("url.{}.insteadOf", server.display());
    git(&["config", &instead, address]);
    let tree = git(&["hash-object", "-t", "tree", "-w", "/dev/null"]);
    let line = ARGUMENT;
    let message = format!("owner: {line}\nagent: {line}\nphase: {line}\nbranch: {line}\nFORGED");
    let commit = git(&["commit-tree", &tree, "-m", &message]);
    git(&[
        "push",
        "--quiet",
        "origin",
        &format!("{commit}:refs/mainspring/claims/7"),
    ]);
    project
}

#[test]
fn no_check_and_no_claim_of_another_reaches_the_terminal() {
    let env = TestEnv::new();
    let project = hostile_repository(&env);
    let _ = look(&env, &project, &["trust", "--yes"]);
    let stop = |session: &str| {
        let fields = json!({ "session_id": session, "last_assistant_message": "bye" });
        let event = payload(&project, "Stop", fields).to_string();
        finish(env.command().arg("hook"), event.as_bytes())
    };
    // What controls a terminal is no session's id; what reorders a line may be in one.
    let _ = stop(HOSTILE);
    let _ = look(&env, &project, &["gate", "status", "--session", "last"]);
    let answer = stop("s\u{202e}\u{200b}").json();
    let reason = answer["reason"].as_str().unwrap();
    assert!(reason.contains("The check `tests` fails"), "{reason}");
    assert!(
        !reason.contains(['\u{1b}', '\u{7}', '\u{202e}', '\u{200b}']),
        "{reason}"
    );
    assert!(reason.contains("\n    | FORGED"), "quoted: {reason}");
    look_at_all(&env, &project);
    let claims = look(&env, &project, &["claim", "list"]).ok();
    assert!(claims.contains("#7") && claims.contains("[2J"), "{claims}");
    let sessions = look(&env, &project, &["sessions"]).ok();
    assert!(sessions.contains("[2J"), "{sessions}");
    // A log keeps its lines, so a line of it may say anything; nothing in it moves the terminal.
    let log = finish(
        env.command().current_dir(&project).args(["check", "log"]),
        b"",
    )
    .ok();
    assert!(
        !log.contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}', '\r']),
        "{log:?}"
    );
    assert!(log.contains("FORGED"), "{log}");
}

/// A project whose name and whose every file contains hostile text.
fn hostile_project(env: &TestEnv) -> std::path::PathBuf {
    let project = env.project().join(NAME);
    let claim = json!({
        "schema_version": 1, "item_id": HOSTILE, "issue_number": 42, "branch": HOSTILE,
        "agent_id": HOSTILE, "phase": "coding", "summary": HOSTILE, "status": HOSTILE,
        "pr_number": null, "last_check_poll": null, "last_synced_status": HOSTILE, HOSTILE: HOSTILE,
    });
    put(&project.join(".agent-claim.json"), &claim.to_string());
    let plan = project.join(".taskie/plans/p\u{202e}\u{200b}");
    put(&plan.join("plan.md"), HOSTILE);
    put(
        &plan.join("tasks.md"),
        &format!("| Id | Status |\n|--|--|\n| {HOSTILE} | {HOSTILE} |\n"),
    );
    let state = json!({
        "phase": HOSTILE, "next_phase": "plan-review", "review_model": HOSTILE,
        "current_task": HOSTILE, HOSTILE: 1,
    });
    put(&plan.join("state.json"), &state.to_string());
    let steps = json!([{ "id": 1, "subject": HOSTILE, "description": HOSTILE, HOSTILE: 1 }]);
    put(
        &project.join(".claude/skills/ship/fsm.json"),
        &steps.to_string(),
    );
    put(
        &project.join("mainspring.toml"),
        "[gate]\nenabled = true\n\"x\\u001b[2J\\nFORGED\" = 1\n",
    );
    for id in 1..3 {
        let task = json!({
            "id": id.to_string(), "subject": HOSTILE, "description": HOSTILE, "status": "pending",
            "blocks": [], "blockedBy": [], "activeForm": HOSTILE, "owner": HOSTILE,
        });
        put(
            &env.home().join(format!(".claude/tasks/s/{id}.json")),
            &task.to_string(),
        );
    }
    project
}

#[test]
fn no_view_and_no_error_lets_somebody_elses_text_reach_the_terminal() {
    let env = TestEnv::new();
    let project = hostile_project(&env);
    let _ = look(&env, &project, &["trust", "--yes"]);
    let mut start = env.command();
    start
        .current_dir(&project)
        .env("CLAUDE_CODE_SESSION_ID", "s");
    let _ = finish(
        start.args(["loop", "start", "--max", "9"]),
        HOSTILE.as_bytes(),
    );
    for (session, event) in [("s", "Stop"), (HOSTILE, "Stop"), ("s", "UserPromptSubmit")] {
        let fields = json!({
            "session_id": session, "last_assistant_message": HOSTILE, "prompt": HOSTILE,
            "transcript_path": HOSTILE,
        });
        let event = payload(&project, event, fields).to_string();
        let ran = finish(env.command().arg("hook"), event.as_bytes());
        assert!(
            !ran.stdout.contains(['\u{1b}', '\u{202e}', '\u{200b}']),
            "{ran:?}"
        );
    }
    let shown = look_at_all(&env, &project);
    let _ = look(&env, &project, &["loop", "abort", HOSTILE]);
    look_at_all(&env, &project);
    assert!(shown >= 8, "only {shown} views had something to show");
}

#[test]
fn no_error_about_a_broken_file_is_obeyed_by_the_terminal() {
    let env = TestEnv::new();
    let project = hostile_project(&env);
    let broken = format!("{{\"{HOSTILE}\": {HOSTILE}");
    for name in [
        ".agent-claim.json",
        ".taskie/plans/p\u{202e}\u{200b}/state.json",
        ".claude/skills/ship/fsm.json",
        "mainspring.toml",
        ".claude/idle-loop.local.md",
    ] {
        put(&project.join(name), &broken);
    }
    let _ = look(&env, &project, &["trust", "--yes"]);
    look_at_all(&env, &project);
    for args in [
        &["tasks", "validate", ".claude/skills/ship/fsm.json"][..],
        &["tasks", "validate", ARGUMENT],
        &["debug", "replay", ARGUMENT],
        &["loop", "start", "--mode", ARGUMENT],
        &["plan", "init", ARGUMENT],
        &["claim", ARGUMENT],
        &[ARGUMENT],
        &["stop", ARGUMENT],
        &["log", "--session", ARGUMENT, "--since", ARGUMENT],
    ] {
        let ran = look(&env, &project, args);
        assert!(ran.code != Some(0), "{args:?}: {ran:?}");
    }
}
