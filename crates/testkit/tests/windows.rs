//! The program for Windows, run by wine. `./test` builds it and runs these; by themselves they are
//! ignored, because they need a folder with that program (`MAINSPRING_WINDOWS`).
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its environment has failed"
)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use mainspring_testkit::process::PATIENCE;
use serde_json::{Value, json};

/// The variable that names the folder with `mainspring.exe`, and what else runs in it.
const FOLDER: &str = "MAINSPRING_WINDOWS";

/// A home and a project, as a program for Windows sees them.
struct Windows {
    temp: tempfile::TempDir,
    project: PathBuf,
    /// The folder with the wine prefix.
    programs: PathBuf,
    /// The folder with our program.
    bin: PathBuf,
}

/// The path that wine gives a file of ours.
fn named(path: &Path) -> String {
    format!("Z:{}", path.to_str().unwrap().replace('/', "\\"))
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

impl Windows {
    fn new() -> Self {
        Self::in_folder("project")
    }

    fn in_folder(name: &str) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let project = fs::canonicalize(temp.path()).unwrap().join(name);
        fs::create_dir_all(&project).unwrap();
        let programs = PathBuf::from(std::env::var_os(FOLDER).unwrap());
        Self {
            temp,
            project,
            bin: programs.clone(),
            programs,
        }
    }

    /// With a program of its own, which a test can replace.
    fn with_own_program() -> Self {
        let mut windows = Self::new();
        windows.bin = windows.root().join("bin");
        fs::create_dir(&windows.bin).unwrap();
        for file in ["mainspring.exe", "bcryptprimitives.dll"] {
            fs::copy(windows.programs.join(file), windows.bin.join(file)).unwrap();
        }
        windows
    }

    fn root(&self) -> PathBuf {
        fs::canonicalize(self.temp.path()).unwrap()
    }

    fn claude(&self) -> PathBuf {
        self.root().join("claude")
    }

    /// The program, with the variables of this environment and no others but wine's.
    fn command(&self) -> Command {
        self.command_of("mainspring.exe")
    }

    /// The same for another program in its folder.
    fn command_of(&self, program: &str) -> Command {
        let mut command = Command::new("wine");
        command
            .arg(self.bin.join(program))
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.root())
            .env("WINEPREFIX", self.programs.join("prefix"))
            .env("WINEDEBUG", "-all")
            .env("WINEDLLOVERRIDES", "bcryptprimitives=n;mscoree=;mshtml=")
            .env("XDG_STATE_HOME", named(&self.root().join("state")))
            .env("XDG_CONFIG_HOME", named(&self.root().join("config")))
            .env("CLAUDE_CONFIG_DIR", named(&self.claude()))
            .current_dir(&self.project);
        command
    }

    fn run(&self, args: &[&str]) -> String {
        ok(&finish(self.command().args(args), b""))
    }

    /// A command in the shell of session `s`.
    fn agent(&self, args: &[&str]) -> String {
        let mut command = self.command();
        command.args(args).env("CLAUDE_CODE_SESSION_ID", "s");
        ok(&finish(&mut command, b""))
    }

    fn payload(&self, event: &str, fields: &Value) -> Value {
        let mut payload = json!({
            "session_id": "s",
            "transcript_path": named(&self.project.join("none.jsonl")),
            "cwd": named(&self.project),
            "hook_event_name": event,
        });
        if event == "Stop" {
            payload["stop_hook_active"] = false.into();
        }
        let fields = fields.as_object().unwrap().clone();
        payload.as_object_mut().unwrap().extend(fields);
        payload
    }

    fn hook(&self, payload: &Value) -> String {
        let mut command = self.command();
        ok(&finish(command.arg("hook"), payload.to_string().as_bytes()))
    }

    fn stop_payload(&self, words: &str) -> Value {
        self.payload("Stop", &json!({ "last_assistant_message": words }))
    }

    fn stop(&self, words: &str) -> String {
        self.hook(&self.stop_payload(words))
    }

    /// The state of the one project that has any.
    fn state(&self) -> PathBuf {
        let projects = self.root().join("state/mainspring/projects");
        let mut found: Vec<PathBuf> = fs::read_dir(projects)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    }
}

fn start(command: &mut Command, stdin: &[u8]) -> Child {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Payloads are smaller than a pipe. The program may be gone already.
    let _ = child.stdin.take().unwrap().write_all(stdin);
    child
}

fn finish(command: &mut Command, stdin: &[u8]) -> Output {
    start(command, stdin).wait_with_output().unwrap()
}

fn ok(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The reason of a stop that was held.
fn held(answer: &str) -> String {
    let answer: Value = serde_json::from_str(answer).unwrap_or_else(|_| panic!("{answer:?}"));
    assert_eq!(answer["decision"], "block", "{answer}");
    answer["reason"].as_str().unwrap().to_owned()
}

/// Sends every recorded payload of a client. A main agent's stop is held, if it is Claude Code's.
fn answers(client: &str, at_least: usize) {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mainspring/tests/fixtures");
    let windows = Windows::new();
    let mut seen = 0;
    for entry in fs::read_dir(fixtures.join(client)).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        let mut payload: Value = serde_json::from_slice(&bytes).unwrap();
        payload["cwd"] = named(&windows.project).into();
        let is_stop = payload["hook_event_name"] == "Stop" && payload["agent_id"].is_null();
        if client.starts_with("claude") && is_stop {
            windows.run(&["pulse", "3"]);
            assert!(held(&windows.hook(&payload)).contains("beat 1 of 3"));
            windows.run(&["pulse", "off"]);
        } else {
            assert_eq!(windows.hook(&payload), "", "{client}: {payload}");
        }
        seen += 1;
    }
    assert!(seen >= at_least, "only {seen} payloads of {client}");
}

#[test]
#[ignore = "needs wine: ./test runs it"]
fn every_payload_of_claude_code_is_answered() {
    answers("claude-2.1.325", 30);
}

#[test]
#[ignore = "needs wine: ./test runs it"]
fn every_payload_of_other_clients_is_answered() {
    answers("codex-0.166.0", 1);
    answers("gemini-0.61.0", 1);
    answers("qwen-0.24.4", 1);
    answers("copilot-1.0.102-pascal", 1);
    answers("copilot-1.0.102-camel", 1);
}

#[test]
#[ignore = "needs wine: ./test runs it"]
fn what_a_crash_left_is_finished_from_its_record() {
    let windows = Windows::new();
    windows.run(&["pulse", "4"]);
    assert!(held(&windows.stop("one")).contains("beat 1 of 4"));
    let files = |folder: &Path| -> Vec<(PathBuf, Vec<u8>)> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
        let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
        files
            .filter(|entry| entry.file_name() != "journal.jsonl")
            .map(|entry| (entry.path(), fs::read(entry.path()).unwrap()))
            .collect()
    };
    let before = files(&windows.state());
    assert!(held(&windows.stop("two")).contains("beat 2 of 4"));
    // As after a crash between the record and its files.
    for (path, bytes) in before {
        fs::write(path, bytes).unwrap();
    }
    assert!(held(&windows.stop("three")).contains("beat 3 of 4"));
}

#[test]
#[ignore = "needs wine: ./test runs it"]
fn hooks_at_once_take_turns() {
    let windows = Windows::new();
    windows.run(&["pulse", "9"]);
    let children: Vec<Child> = (0..6)
        .map(|number| {
            let payload = windows.stop_payload(&format!("words {number}"));
            let mut command = windows.command();
            start(command.arg("hook"), payload.to_string().as_bytes())
        })
        .collect();
    let mut beats: Vec<String> = children
        .into_iter()
        .map(|child| held(&ok(&child.wait_with_output().unwrap())))
        .collect();
    beats.sort();
    for (beat, number) in beats.iter().zip(1..) {
        assert!(beat.contains(&format!("beat {number} of 9")), "{beats:?}");
    }
}

#[test]
#[ignore = "needs wine: ./test runs it"]
fn a_hook_that_is_killed_leaves_the_next_one_a_whole_state() {
    let windows = Windows::new();
    let kills = 12;
    windows.run(&["pulse", "99"]);
    for number in 0..kills {
        let payload = windows.stop_payload(&format!("words {number}"));
        let mut command = windows.command();
        let mut child = start(command.arg("hook"), payload.to_string().as_bytes());
        // Wherever it is by then: what is asserted holds at any point.
        std::thread::sleep(std::time::Duration::from_millis(number * 12));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let said = held(&windows.stop("after all of them"));
    let counts = |most: u64| (1..=most).any(|n| said.contains(&format!("beat {n} of 99")));
    assert!(counts(kills + 1), "{said}");
    for line in windows.run(&["log", "--json"]).lines() {
        let _: Value = serde_json::from_str(line).unwrap();
    }
}

#[test]
#[ignore = "needs wine: ./test runs it"]
fn a_settings_file_gets_our_hooks_and_comes_back_byte_for_byte() {
    let windows = Windows::new();
    let path = windows.claude().join("settings.json");
    let before = "{\r\n  // mine\r\n  \"model\": \"opus\",\r\n  \"hooks\": {}\r\n}\r\n";
    put(&path, before);
    windows.run(&["install", "--yes"]);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("// mine\r\n"), "{text}");
    assert!(!text.replace("\r\n", "").contains('\n'), "{text}");
    // Git Bash, in which Claude Code runs hooks, would take a backslash for an escape.
    assert!(text.contains("/mainspring-hook.exe\""), "{text}");
    assert!(!text.contains('\\'), "{text}");
    windows.run(&["install", "--yes"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), text, "a second time");
    windows.run(&["uninstall", "--yes"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
}

#[test]
#[ignore = "needs wine: ./test runs it"]
fn the_second_name_answers_an_event() {
    let windows = Windows::new();
    windows.run(&["pulse", "2"]);
    windows.run(&["install", "--yes"]);
    let mut renamed = windows.command_of("mainspring-hook.exe");
    let payload = windows.stop_payload("bye").to_string();
    assert!(held(&ok(&finish(&mut renamed, payload.as_bytes()))).contains("beat 1 of 2"));
}

/// The second name is no symlink, so a newer program would leave it behind.
#[test]
#[ignore = "needs wine: ./test runs it"]
fn an_upgrade_reaches_the_second_name_too() {
    let windows = Windows::with_own_program();
    let [program, hook] = ["mainspring.exe", "mainspring-hook.exe"].map(|n| windows.bin.join(n));
    windows.run(&["install", "--yes"]);
    assert_eq!(fs::read(&program).unwrap(), fs::read(&hook).unwrap());

    // Bytes after a program's end are not part of it: another file that runs as well.
    let mut newer = fs::read(&program).unwrap();
    newer.extend_from_slice(b"newer");
    fs::remove_file(&program).unwrap();
    fs::write(&program, &newer).unwrap();
    let doctor = finish(windows.command().arg("doctor"), b"");
    let said = String::from_utf8(doctor.stdout).unwrap();
    assert!(said.contains("two versions are in use"), "{said}");

    windows.run(&["install", "--yes"]);
    assert!(
        fs::read(&hook).unwrap() == newer,
        "hosts call the older one"
    );
    let left: Vec<_> = fs::read_dir(&windows.bin).unwrap().collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

#[test]
#[ignore = "needs wine: ./test runs it"]
fn the_gate_holds_until_its_token() {
    let windows = Windows::in_folder("my project");
    windows.agent(&["gate", "on"]);
    assert!(held(&windows.stop("bye")).starts_with("TASKMASTER (1"));
    assert!(held(&windows.stop("bye again")).starts_with("TASKMASTER (2"));
    assert_eq!(windows.stop("TASKMASTER_DONE::s"), "");
}

#[test]
#[ignore = "needs wine: ./test runs it"]
fn the_loop_goes_on_until_its_signal() {
    let windows = Windows::new();
    windows.agent(&["loop", "start", "--max", "5"]);
    assert!(held(&windows.stop("not yet")).starts_with("[ITERATION 1/5]"));
    assert_eq!(windows.stop("<loop-done>COMPLETE</loop-done>"), "");
    assert_eq!(windows.stop("and on"), "");
}

#[test]
#[ignore = "needs wine: ./test runs it"]
fn a_skill_gets_its_tasks() {
    let windows = Windows::new();
    let list =
        r#"[{"id": 1, "subject": "Set up"}, {"id": 2, "subject": "Build", "blockedBy": [1]}]"#;
    put(&windows.project.join(".claude/skills/ship/fsm.json"), list);
    let fields = json!({
        "tool_name": "Skill",
        "tool_input": { "skill": "ship" },
        "tool_response": { "success": true, "commandName": "ship" },
        "tool_use_id": "t1",
    });
    let answer = windows.hook(&windows.payload("PostToolUse", &fields));
    assert!(answer.contains("Set up"), "{answer}");
    let task = fs::read_to_string(windows.claude().join("tasks/s/2.json")).unwrap();
    let task: Value = serde_json::from_str(&task).unwrap();
    assert_eq!(
        (&task["subject"], &task["blockedBy"]),
        (&json!("Build"), &json!(["1"]))
    );
}

/// A project with a plan that is due for its first review, by the reviewer of the tests.
fn planned() -> Windows {
    let windows = Windows::new();
    let plan = windows.project.join(".taskie/plans/demo");
    put(&plan.join("plan.md"), "# Plan\n\n## Overview\n");
    let state = json!({
        "max_reviews": 8, "current_task": null, "phase": "new-plan", "phase_iteration": 0,
        "next_phase": "plan-review", "review_model": "opus", "consecutive_clean": 0, "tdd": false,
    });
    put(&plan.join("state.json"), &state.to_string());
    let reviewer = named(&windows.programs.join("reviewer.exe"));
    put(
        &windows.root().join("config/mainspring/config.toml"),
        &format!("[review]\ncommand = '{reviewer}'\n"),
    );
    windows
}

#[test]
#[ignore = "needs wine: ./test runs it"]
fn a_reviewer_is_started_and_its_review_counts() {
    let windows = planned();
    windows.run(&["trust", "--yes"]);
    let plan = windows.project.join(".taskie/plans/demo");
    let _ = windows.stop("the plan is written");
    let review = fs::read_to_string(plan.join("plan-review-1.md"));
    assert_eq!(review.unwrap(), "# Review\n");
    let state = fs::read_to_string(plan.join("state.json")).unwrap();
    let state: Value = serde_json::from_str(&state).unwrap();
    assert_eq!(state["consecutive_clean"], 1, "{state}");
}

#[test]
#[ignore = "needs wine: ./test runs it"]
fn a_reviewer_ends_with_its_hook() {
    let windows = planned();
    put(&windows.project.join("hang"), "");
    // Not before: for wine, a folder in which something was made is a new one.
    windows.run(&["trust", "--yes"]);
    let payload = windows.stop_payload("the plan is written").to_string();
    let mut hook = start(windows.command().arg("hook"), payload.as_bytes());
    wait_until("the reviewer is there", || {
        windows.project.join("hangs").exists()
    });
    hook.kill().unwrap();
    hook.wait().unwrap();
    let project = &windows.project;
    wait_until("nothing runs in the project", || {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let folders =
            processes.filter_map(|process| fs::read_link(process.path().join("cwd")).ok());
        !folders.into_iter().any(|folder| folder == *project)
    });
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let start = std::time::Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "not yet: {what}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
#[ignore = "needs wine: ./test runs it"]
fn a_folder_is_one_project_however_its_path_is_written() {
    let windows = Windows::in_folder("a b");
    windows.run(&["pulse", "9"]);
    let path = named(&windows.project);
    let ways = [
        path.clone(),
        path.replace('\\', "/"),
        path.replacen("Z:", "z:", 1),
        format!(r"\\?\{path}"),
    ];
    for (way, beat) in ways.iter().zip(1..) {
        let fields = json!({ "cwd": way, "last_assistant_message": format!("words {beat}") });
        let said = held(&windows.hook(&windows.payload("Stop", &fields)));
        assert!(said.contains(&format!("beat {beat} of 9")), "{way}: {said}");
    }
    let status = windows.run(&["status", "--json"]);
    assert!(!status.contains(r"\\\\?"), "{status}");
}

/// Wine has a server's shares in a folder of its prefix.
#[test]
#[ignore = "needs wine: ./test runs it"]
fn a_project_on_a_server_is_found_by_its_unc_path() {
    let windows = Windows::in_folder("a b");
    let share = windows.root();
    let share = share.file_name().unwrap().to_str().unwrap();
    let server = windows.programs.join("prefix/dosdevices/unc/server");
    fs::create_dir_all(&server).unwrap();
    let link = server.join(share);
    std::os::unix::fs::symlink(windows.root(), &link).unwrap();
    put(
        &windows.project.join(".claude/skills/ship/fsm.json"),
        r#"[{"id": 1, "subject": "Set up"}]"#,
    );
    let fields = json!({
        "cwd": format!(r"\\server\{share}\a b"),
        "tool_name": "Skill",
        "tool_input": { "skill": "ship" },
        "tool_response": { "success": true, "commandName": "ship" },
        "tool_use_id": "t1",
    });
    let payload = windows.payload("PostToolUse", &fields).to_string();
    let mut command = windows.command();
    // Not in the project: only the path leads there.
    command.arg("hook").current_dir("/");
    let answer = ok(&finish(&mut command, payload.as_bytes()));
    fs::remove_file(link).unwrap();
    assert!(answer.contains("Set up"), "{answer}");
}
