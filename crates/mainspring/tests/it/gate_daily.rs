//! `gate` in daily life: who it is switched on for, what the agent reads, and when it lets go.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::env::{Ran, TestEnv, finish, payload};
use crate::sessions::{Client, held};

const TOKEN: &str = "TASKMASTER_DONE::s";

fn gated() -> TestEnv {
    let env = TestEnv::new();
    env.agent("s", &["gate", "on"]).ok();
    env
}

/// A stop in a chain that a hook has continued already, unless it is the first.
fn stop(env: &TestEnv, number: u32, words: &str) -> Ran {
    let fields = json!({ "stop_hook_active": number > 0, "last_assistant_message": words });
    env.hook("Stop", fields)
}

fn config(env: &TestEnv, text: &str) {
    let file = env.home().join(".config/mainspring/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

pub(crate) fn in_folder(env: &TestEnv, folder: &Path, args: &[&str]) -> Ran {
    finish(env.command().args(args).current_dir(folder), b"")
}

#[test]
fn a_person_switches_it_on_for_the_live_session_or_else_for_the_project_and_reads_which() {
    let env = TestEnv::new();
    let project = env.project().display().to_string();
    let all = "for every session that has no switch of its own";
    assert_eq!(
        env.run(&["gate", "on"]).ok(),
        format!("the gate is on in {project}, {all} (no session is live here)\n")
    );
    assert_eq!(
        env.run(&["gate", "off"]).ok(),
        format!("the gate is off in {project}, {all} (no session is live here)\n")
    );
    let (one, two) = (Client::new(), Client::new());
    one.starts(&env, "one").ok();
    assert_eq!(
        env.run(&["gate", "on"]).ok(),
        "the gate is on for session one\n"
    );
    assert_eq!(
        env.run(&["gate", "status"]).ok(),
        "project  off (set by `mainspring gate off --project`)\n\
         session  on for one (its own switch)\n\
         token    TASKMASTER_DONE::one\n"
    );
    held(one.stops(&env, "one", "bye"));
    two.starts(&env, "two").ok();
    let status = env.run(&["gate", "status"]).ok();
    assert!(
        status.contains("2 sessions are live here: `mainspring gate status --session last`"),
        "{status}"
    );
    assert_eq!(two.stops(&env, "two", "bye").let_go(), "");
    assert_eq!(
        env.run(&["gate", "on"]).ok(),
        format!("the gate is on in {project}, {all} (2 sessions are live here)\n")
    );
    held(two.stops(&env, "two", "bye again"));
}

#[test]
fn a_command_that_changes_nothing_says_so() {
    let env = TestEnv::new();
    let project = env.project().display().to_string();
    let project_off = ["gate", "off", "--project"];
    assert_eq!(
        env.run(&project_off).ok(),
        format!("nothing changed: the gate was off already in {project}\n")
    );
    env.run(&["gate", "on", "--project"]).ok();
    assert_eq!(
        env.run(&["gate", "on", "--project"]).ok(),
        format!(
            "nothing changed: the gate was on already in {project}, by `mainspring gate on --project`\n"
        )
    );
    env.run(&project_off).ok();
    let client = Client::new();
    client.starts(&env, "s").ok();
    let of_session = |word: &str| env.run(&["gate", word, "--session", "s"]).ok();
    assert_eq!(
        of_session("off"),
        "nothing changed: the gate was off already for session s\n"
    );
    assert_eq!(of_session("on"), "the gate is on for session s\n");
    assert_eq!(
        of_session("on"),
        "nothing changed: the gate was on already for session s\n"
    );
    assert_eq!(of_session("off"), "the gate is off for session s\n");
    assert_eq!(
        of_session("off"),
        "nothing changed: the gate was off already for session s\n"
    );
}

/// What was typed in a project with its gate on and one live session.
#[test]
fn whoever_turns_one_switch_reads_of_the_other_one() {
    let env = TestEnv::new();
    let project = env.project().display().to_string();
    env.run(&["gate", "on", "--project"]).ok();
    let client = Client::new();
    client.starts(&env, "s").ok();
    let status = env.run(&["status"]).ok();
    assert!(
        status.contains("`mainspring gate off --project`"),
        "{status}"
    );
    let still = "; still on for the project (`mainspring gate off --project`)";
    assert_eq!(
        env.run(&["gate", "off"]).ok(),
        format!("the gate is off for session s{still}\n")
    );
    assert_eq!(
        env.run(&["gate", "off"]).ok(),
        format!("nothing changed: the gate was off already for session s{still}\n")
    );
    assert_eq!(
        env.run(&["gate", "on", "--project"]).ok(),
        format!(
            "nothing changed: the gate was on already in {project}, by `mainspring gate on \
             --project`; still off for session s (`mainspring gate on --session s`)\n"
        )
    );
    assert_eq!(
        env.run(&["gate", "status"]).ok(),
        "project  on (set by `mainspring gate on --project`)\n\
         session  off for s (its own switch)\n\
         token    TASKMASTER_DONE::s\n"
    );
    env.run(&["gate", "on"]).ok();
    let status = env.run(&["status"]).ok();
    assert!(
        status.contains("`mainspring gate off --session s`"),
        "{status}"
    );
    let off = env.run(&["gate", "off", "--project"]).ok();
    assert!(
        off.contains("; still on for session s (`mainspring gate off --session s`)"),
        "{off}"
    );
}

#[test]
fn a_session_is_switched_from_any_folder() {
    let env = TestEnv::new();
    let client = Client::new();
    client.starts(&env, "s").ok();
    let elsewhere = env.root().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let did = in_folder(&env, &elsewhere, &["gate", "on", "--session", "s"]).ok();
    assert_eq!(did, "the gate is on for session s\n");
    held(client.stops(&env, "s", "bye"));
    in_folder(&env, &elsewhere, &["gate", "off", "--session", "s"]).ok();
    assert_eq!(client.stops(&env, "s", "bye again").let_go(), "");
}

/// Puts the checklist's skill where the client would find it.
type PutSkill = fn(&TestEnv) -> TestEnvs;
type TestEnvs = Vec<(&'static str, PathBuf)>;

fn skill_in(folder: &Path) {
    let skill = folder.join("completion-checklist");
    fs::create_dir_all(&skill).unwrap();
    fs::write(skill.join("SKILL.md"), "").unwrap();
}

#[test]
fn the_first_hold_brings_the_checklist_where_no_skill_does() {
    let env = gated();
    let first = stop(&env, 0, "bye").held();
    insta::assert_snapshot!(first, @r"
    TASKMASTER (1): Stop blocked. Follow the taskmaster completion checklist. Done signal: TASKMASTER_DONE::s

    1. Requests: read every message of the user again. Each request is done, or was withdrawn.
    2. Task list: no task of this work is pending or in progress.
    3. Plan: every step is carried out, or the user knows why not.
    4. Errors: run the build, tests and linters that the work touches. Every error is resolved.
    5. Loose ends: no half-made edit, placeholder, debugging output, skipped test or stray file is left.
    6. Blockers: try another way. Only what you cannot remove yourself and can name is a blocker.
    7. Honesty: each claim rests on something you saw. If all seven hold, say the done signal, bare, on a line of its own; else go on.
    ");
    insta::assert_snapshot!(
        stop(&env, 1, "still bye").held(),
        @"TASKMASTER (2): Stop blocked. Follow the taskmaster completion checklist. Done signal: TASKMASTER_DONE::s"
    );

    let installed: [(&str, PutSkill); 3] = [
        ("in the user's folder", |env| {
            skill_in(&env.home().join(".claude/skills"));
            Vec::new()
        }),
        ("in the plugin that called us", |env| {
            skill_in(&env.root().join("plugin/skills"));
            vec![("CLAUDE_PLUGIN_ROOT", env.root().join("plugin"))]
        }),
        ("in the plugin, though the settings called us", |env| {
            let plugin = env.root().join("installed");
            skill_in(&plugin.join("skills"));
            let registry = json!({ "version": 2, "plugins": {
                "mainspring@market": [{ "scope": "user", "installPath": plugin }] } });
            let file = env.home().join(".claude/plugins/installed_plugins.json");
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, registry.to_string()).unwrap();
            Vec::new()
        }),
    ];
    for (place, put) in installed {
        let env = gated();
        let vars = put(&env);
        let fields = json!({ "last_assistant_message": "bye" });
        let event = payload(&env.project(), "Stop", fields).to_string();
        let mut hook = env.command();
        hook.arg("hook").envs(vars);
        let reason = finish(&mut hook, event.as_bytes()).held();
        assert_eq!(reason.lines().count(), 1, "{place}: {reason}");
    }
}

fn task(env: &TestEnv, id: u32, status: &str) {
    let list = env.home().join(".claude/tasks/s");
    fs::create_dir_all(&list).unwrap();
    let task = json!({ "id": id.to_string(), "subject": "work", "description": "", "status": status,
        "blocks": [], "blockedBy": [] });
    fs::write(list.join(format!("{id}.json")), task.to_string()).unwrap();
}

#[test]
fn open_tasks_are_named_hold_or_are_ignored() {
    for (setting, named, token_lets_go) in [
        ("", true, true),
        ("[gate]\nopen_tasks = \"name\"\n", true, true),
        ("[gate]\nopen_tasks = \"hold\"\n", true, false),
        ("[gate]\nopen_tasks = \"ignore\"\n", false, true),
    ] {
        let env = gated();
        config(&env, setting);
        for (id, status) in [(2, "completed"), (3, "in_progress"), (4, "pending")] {
            task(&env, id, status);
        }
        let reason = stop(&env, 0, "bye").held();
        assert_eq!(
            reason.contains("Tasks #3, #4 are open."),
            named,
            "{setting}: {reason}"
        );
        let said = stop(&env, 1, TOKEN);
        if token_lets_go {
            let _ = said.let_go();
            continue;
        }
        let reason = said.held();
        assert!(reason.contains("Tasks #3, #4 are open."), "{reason}");
        task(&env, 3, "completed");
        let reason = stop(&env, 2, &format!("Now.\n{TOKEN}")).held();
        assert!(reason.contains("Task #4 is open."), "{reason}");
        task(&env, 4, "completed");
        let _ = stop(&env, 3, &format!("All.\n{TOKEN}")).let_go();
    }
}

#[test]
fn an_agent_that_says_the_same_five_times_is_let_go_loudly_whatever_the_hosts_limit() {
    let env = gated().with("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "100");
    for number in 0..4 {
        stop(&env, number, "I cannot go on.").held();
    }
    let note = stop(&env, 4, "I cannot go on.").let_go();
    assert!(
        note.contains("the agent gave the same answer 5 times in a row") && note.contains("gate"),
        "{note}"
    );
    let why = env.run(&["why"]).ok();
    assert!(
        why.contains("it gave the same answer again and again"),
        "{why}"
    );
    let log = env.run(&["log"]).ok();
    assert!(log.lines().last().unwrap().contains("same answer"), "{log}");
    assert_eq!(
        fs::read_to_string(env.tmp().join("taskmaster/s")).unwrap(),
        "4\n",
        "each of them was counted"
    );

    // Another answer in between, or a new prompt, begins anew.
    let env = gated().with("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "100");
    for number in 0..12 {
        let words = if number % 4 == 3 { "Hm." } else { "No." };
        stop(&env, number, words).held();
    }
}

#[test]
fn tool_use_between_the_same_answers_is_work() {
    let env = gated().with("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "100");
    let transcript = env.project().join("t.jsonl");
    let mut lines = String::new();
    for number in 0..9 {
        let tool = json!({ "type": "assistant", "message": { "role": "assistant", "id": format!("m{number}"),
            "content": [{ "type": "tool_use", "id": "t", "name": "Bash", "input": {} }] } });
        lines += &format!("{tool}\n");
        fs::write(&transcript, &lines).unwrap();
        let fields = json!({ "transcript_path": transcript, "stop_hook_active": number > 0,
            "last_assistant_message": "Still at it." });
        env.hook("Stop", fields).held();
        let block = json!({ "type": "user", "isMeta": true, "message": { "role": "user",
            "content": "Stop hook feedback:\nno" } });
        lines += &format!("{block}\n");
    }
}

/// The host calls one registration once per stop; a second registration gets the same payload.
#[test]
fn a_stop_through_the_same_registration_is_new_and_through_another_it_is_the_same() {
    let env = gated().with("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "100");
    let counter = || fs::read_to_string(env.tmp().join("taskmaster/s")).unwrap();
    let fields = json!({ "stop_hook_active": true, "last_assistant_message": "No." });
    let event = payload(&env.project(), "Stop", fields).to_string();
    env.hook_bytes(event.as_bytes()).held();
    env.hook_bytes(event.as_bytes()).held();
    assert_eq!(
        counter(),
        "2\n",
        "the agent answered at once, with the same words"
    );
    let mut plugin = env.command();
    plugin.arg("hook").env("CLAUDE_PLUGIN_ROOT", "/plugin");
    finish(&mut plugin, event.as_bytes()).held();
    assert_eq!(counter(), "2\n");
}

fn line(role: &str, content: &Value) -> String {
    json!({ "type": role, "isSidechain": false, "message": { "role": role, "content": content } })
        .to_string()
        + "\n"
}

#[test]
fn talk_after_a_kept_promise_passes_if_the_person_chose_that() {
    let tool = json!([{ "type": "tool_use", "id": "t", "name": "Bash", "input": {} }]);
    for (setting, passes) in [("", false), ("[gate]\ntalk = \"pass\"\n", true)] {
        let env = gated();
        config(&env, setting);
        let transcript = env.project().join("t.jsonl");
        let mut written = line("user", &json!("do it"));
        let mut say = |env: &TestEnv, lines: &str, words: &str| {
            written += lines;
            written += &line("assistant", &json!(words));
            fs::write(&transcript, &written).unwrap();
            let fields = json!({ "transcript_path": transcript, "last_assistant_message": words });
            env.hook("Stop", fields)
        };
        let prompt = |text: &str| {
            env.hook("UserPromptSubmit", json!({ "prompt": text })).ok();
            line("user", &json!(text))
        };
        say(&env, "", "Hello.").held();
        assert_eq!(say(&env, "", TOKEN).let_go(), "");
        for thanks in ["thanks!", "thanks again!"] {
            let prompt = prompt(thanks);
            let ran = say(&env, &prompt, &format!("You are welcome: {thanks}"));
            assert_eq!(!ran.ok().contains("block"), passes, "{setting}");
            if !passes {
                break;
            }
        }
        let work = prompt("one more thing") + &line("assistant", &tool);
        say(&env, &work, "Did it.").held();
        let prompt = prompt("thanks?");
        say(&env, &prompt, "Not yet.").held();
    }
}

#[test]
fn check_reads_stdin_and_the_hosts_own_folder() {
    let env = TestEnv::new();
    let check = |input: &str| {
        let mut command = env.command();
        command.args(["gate", "check", "--session", "s", "-"]);
        finish(&mut command, input.as_bytes())
    };
    assert_eq!(
        check(&format!("Done.\n{TOKEN}\n")).ok(),
        format!("{TOKEN} was said: stdin, line 2 of the final message\n")
    );
    let missed = check(&format!("`{TOKEN}`")).failed();
    assert!(missed.contains("token in backticks"), "{missed}");
    let transcript = line("user", &json!(TOKEN)) + &line("assistant", &json!("Not done."));
    check(&transcript).failed();
    let transcript = line("user", &json!("go")) + &line("assistant", &json!(TOKEN));
    check(&transcript).ok();

    let folder = env.root().join("elsewhere");
    fs::create_dir_all(folder.join("projects/p")).unwrap();
    fs::write(folder.join("projects/p/s.jsonl"), &transcript).unwrap();
    env.run(&["gate", "check", "--session", "s"]).failed();
    let moved = env.with("CLAUDE_CONFIG_DIR", folder.to_str().unwrap());
    moved.run(&["gate", "check", "--session", "s"]).ok();
}

/// Some hosts send no message with a stop, and write no record of our holds.
#[test]
fn without_the_message_the_newest_line_of_the_transcript_counts() {
    let env = gated().with("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "3");
    let transcript = env.project().join("t.jsonl");
    let mut written = line("user", &json!("do it"));
    let mut number = 0;
    let mut stop = |env: &TestEnv, lines: &str| {
        written += lines;
        fs::write(&transcript, &written).unwrap();
        let fields = json!({ "transcript_path": transcript, "stop_hook_active": number > 0 });
        number += 1;
        env.hook("Stop", fields)
    };
    let said = |words: &str| line("assistant", &json!(words));
    let tool = json!([{ "type": "tool_use", "id": "t", "name": "Bash", "input": {} }]);
    for words in ["one", "two"] {
        stop(&env, &said(words)).held();
    }
    // The tool use is seen, so the host's count begins anew.
    stop(&env, &(line("assistant", &tool) + &said("three"))).held();
    for words in ["four", "five"] {
        stop(&env, &said(words)).held();
    }
    assert!(stop(&env, &said("six")).let_go().contains("let go after 3"));
    assert_eq!(stop(&env, &said(TOKEN)).let_go(), "");
}
