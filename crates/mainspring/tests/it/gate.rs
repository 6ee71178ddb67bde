//! `gate`, through the binary.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::env::TestEnv;

const TOKEN: &str = "TASKMASTER_DONE::s";

fn gated() -> TestEnv {
    let env = TestEnv::new();
    env.agent("s", &["gate", "on"]).ok();
    env
}

fn counter(env: &TestEnv) -> Option<String> {
    fs::read_to_string(env.tmp().join("taskmaster/s")).ok()
}

#[test]
fn it_is_off_until_somebody_switches_it_on() {
    let env = TestEnv::new();
    assert_eq!(env.stop("bye").let_go(), "");
    let projects = env.state().join("projects");
    assert!(!projects.exists(), "and nothing was decided");

    env.agent("s", &["gate", "on"]).ok();
    env.stop("bye").held();
    assert_eq!(env.stop_of("other", "bye").let_go(), "", "for one session");
    env.run(&["gate", "off", "--session", "s"]).ok();
    assert_eq!(env.stop("bye again").let_go(), "");

    env.run(&["gate", "on", "--project"]).ok();
    env.stop_of("other", "bye").held();
    assert_eq!(
        env.stop("no").let_go(),
        "",
        "what the session said comes first"
    );
}

#[test]
fn a_gate_that_is_switched_on_again_asks_for_the_token_anew() {
    let env = gated();
    env.stop("bye").held();
    env.stop("bye again").held();
    assert_eq!(counter(&env).as_deref(), Some("2\n"));
    env.agent("s", &["gate", "on"]).ok();
    assert_eq!(counter(&env).as_deref(), Some("2\n"), "it was on");
    env.stop(TOKEN).let_go();
    env.run(&["gate", "off", "--session", "s"]).ok();
    assert_eq!(env.stop("off").let_go(), "");
    env.agent("s", &["gate", "on"]).ok();
    let reason = env.stop("what was said is long ago").held();
    assert!(reason.starts_with("TASKMASTER (1):"), "{reason}");
}

#[test]
fn the_configuration_switches_it_on_and_shapes_it() {
    let env = TestEnv::new();
    let config = "[gate]\nenabled = true\nmax = 3\nprefix = \"ALL_DONE\"\n";
    fs::write(env.project().join("mainspring.toml"), config).unwrap();
    env.trust();
    let skill = env.home().join(".claude/skills/completion-checklist");
    fs::create_dir_all(&skill).unwrap();
    fs::write(skill.join("SKILL.md"), "").unwrap();
    let reason = env.stop("bye").held();
    assert_eq!(
        reason,
        "TASKMASTER (1/3): Stop blocked. Follow the taskmaster completion checklist. \
         Done signal: ALL_DONE::s"
    );
    env.stop("bye 2").held();
    let note = env.stop("bye 3").let_go();
    assert!(note.contains("let go at stop 3 of 3"), "{note}");
    env.stop("bye 4").held();
    assert_eq!(env.stop("ALL_DONE::s").let_go(), "");

    let other = env.with("TASKMASTER_MAX", "1");
    assert!(other.stop_of("t", "bye").let_go().contains("stop 1 of 1"));
}

#[test]
fn the_token_lets_go_and_the_count_is_gone() {
    let env = gated();
    assert!(
        env.stop("bye")
            .held()
            .starts_with("TASKMASTER (1): Stop blocked.")
    );
    assert_eq!(counter(&env).as_deref(), Some("1\n"));
    assert!(env.stop("bye!").held().starts_with("TASKMASTER (2):"));
    assert_eq!(counter(&env).as_deref(), Some("2\n"));
    let dir = env.tmp().join("taskmaster");
    let mode = fs::metadata(&dir).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);

    let done = format!("All of it is done.\n\n{TOKEN}\n");
    assert_eq!(env.stop(&done).let_go(), "");
    assert_eq!(counter(&env), None);
    assert_eq!(env.stop("Woken by the host.").let_go(), "", "it holds");
    env.hook(
        "UserPromptSubmit",
        json!({ "prompt": "<task-notification>x" }),
    )
    .ok();
    assert_eq!(env.stop("Woken again.").let_go(), "", "no person spoke");
    env.hook("UserPromptSubmit", json!({ "prompt": "one more thing" }))
        .ok();
    env.stop("bye").held();
}

#[test]
fn what_the_agent_nearly_said_is_named() {
    let env = gated();
    for (words, named) in [
        (
            format!("```\n{TOKEN}\n```"),
            "token in a code fence, line 2: say it bare",
        ),
        (
            format!("`{TOKEN}`"),
            "token in backticks, line 1: say it bare",
        ),
        (
            format!("> {TOKEN}"),
            "token in a quote, line 1: say it bare",
        ),
        (format!("{TOKEN}0"), "token with another id, line 1"),
        (format!("I say {TOKEN} now"), "among other words, line 1"),
        (format!("**{TOKEN}**"), "token in bold or italics, line 1"),
        (
            format!("{TOKEN}."),
            "token with punctuation after it, line 1",
        ),
        (format!("- {TOKEN}"), "token in a list item, line 1"),
        (format!("2) {TOKEN}"), "token in a list item, line 1"),
        (
            format!("{TOKEN}\u{200b}"),
            "token with an invisible character, line 1",
        ),
        (format!("__{TOKEN}__"), "token between underscores, line 1"),
        (
            TOKEN.replace('_', "\\_"),
            "token with a backslash in it, line 1",
        ),
        (TOKEN.to_lowercase(), "token in the wrong case, line 1"),
        (
            TOKEN.replace("::", "::\u{200b}"),
            "token with an invisible character, line 1",
        ),
        (
            TOKEN.replace("::s", "::S"),
            "token in the wrong case, line 1",
        ),
    ] {
        let reason = env.stop(&words).held();
        assert!(reason.contains(named), "{words:?}: {reason}");
    }
}

#[test]
fn a_session_without_an_id_is_never_held() {
    let env = TestEnv::new();
    env.run(&["gate", "on", "--project"]).ok();
    for id in [
        json!(""),
        json!("null"),
        json!(null),
        json!(7),
        json!("x".repeat(300)),
    ] {
        let ran = env.hook(
            "Stop",
            json!({ "session_id": id, "last_assistant_message": "x" }),
        );
        assert_eq!(ran.let_go(), "", "{id}");
    }
}

#[test]
fn no_session_id_leaves_the_counters_directory() {
    let env = TestEnv::new();
    env.run(&["gate", "on", "--project"]).ok();
    for id in ["../../escaped", "/etc/x", "a/b", ".."] {
        env.stop_of(id, "bye").held();
    }
    let names: Vec<String> = fs::read_dir(env.tmp().join("taskmaster"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.len(), 4);
    assert!(names.iter().all(|name| name.starts_with('#')), "{names:?}");
    assert!(!env.root().join("escaped").exists());
}

/// What is at the path of the counter's directory.
type Trap = fn(&TestEnv, &std::path::Path);

#[test]
fn a_directory_that_is_not_safe_is_not_used() {
    let elsewhere = |env: &TestEnv| fs::create_dir(env.root().join("elsewhere")).unwrap();
    let traps: [(&str, Trap); 3] = [
        ("a link", |env, dir| {
            std::os::unix::fs::symlink(env.root().join("elsewhere"), dir).unwrap();
        }),
        ("writable by others", |_, dir| {
            fs::create_dir(dir).unwrap();
            fs::set_permissions(dir, fs::Permissions::from_mode(0o777)).unwrap();
        }),
        ("a file", |_, dir| fs::write(dir, "x").unwrap()),
    ];
    for (name, trap) in traps {
        let env = TestEnv::new();
        elsewhere(&env);
        trap(&env, &env.tmp().join("taskmaster"));
        env.run(&["gate", "on", "--project"]).ok();
        env.stop("bye").held();
        let second = env.stop("bye!").held();
        assert!(
            second.starts_with("TASKMASTER (2):"),
            "{name}: it counts elsewhere: {second}"
        );
        let written = fs::read_dir(env.root().join("elsewhere")).unwrap().count();
        assert_eq!(written, 0, "{name}");
    }
}

#[test]
fn what_cannot_be_read_lets_go_loudly_and_stays() {
    let env = gated();
    env.stop("bye").held();
    let file = env.tmp().join("taskmaster/s");
    fs::write(&file, "many").unwrap();
    let note = env.stop("bye!").let_go();
    assert!(
        note.contains("gate") && note.contains("does not hold a number"),
        "{note}"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), "many");
}

#[test]
fn a_sub_agent_that_works_spends_nothing_and_a_shell_changes_nothing() {
    let env = gated();
    let task = |kind: &str| json!([{ "type": kind, "status": "running" }]);
    let stop = |kind: &str, words: &str| {
        env.hook(
            "Stop",
            json!({ "background_tasks": task(kind), "last_assistant_message": words }),
        )
    };
    assert_eq!(stop("subagent", "waiting").let_go(), "");
    assert_eq!(stop("workflow", "waiting").let_go(), "");
    assert_eq!(counter(&env), None);
    stop("shell", "the server runs").held();
}

#[test]
fn a_recent_error_is_spoken_of() {
    let env = gated();
    let transcript = env.project().join("t.jsonl");
    let failed = json!({ "type": "user", "message": { "role": "user", "content": [
        { "type": "tool_result", "tool_use_id": "t", "is_error": true, "content": "no" } ] } });
    fs::write(&transcript, format!("{failed}\n")).unwrap();
    let fields = json!({ "transcript_path": transcript, "last_assistant_message": "bye" });
    let reason = env.hook("Stop", fields).held();
    assert!(reason.contains("recent errors"), "{reason}");
}

#[test]
fn check_tells_other_programs_whether_the_token_was_said() {
    let env = TestEnv::new();
    let said = env.project().join("said.txt");
    fs::write(&said, format!("Done.\n{TOKEN}\n")).unwrap();
    let out = env
        .run(&["gate", "check", "--session", "s", "said.txt"])
        .ok();
    assert!(out.contains("line 2"), "{out}");
    let out = env
        .run(&["gate", "check", "--session", "t", "said.txt"])
        .failed();
    assert!(out.contains("TASKMASTER_DONE::t was not said"), "{out}");

    let transcript = env.home().join(".claude/projects/p/s.jsonl");
    fs::create_dir_all(transcript.parent().unwrap()).unwrap();
    let line = |role: &str, text: &str| {
        json!({ "type": role, "isSidechain": false, "message": { "role": role, "id": "m",
            "content": [{ "type": "text", "text": text }] } })
    };
    // Only the person says it, so it does not count.
    fs::write(
        &transcript,
        format!("{}\n{}\n", line("user", TOKEN), line("assistant", "no")),
    )
    .unwrap();
    env.run(&["gate", "check", "--session", "s"]).failed();
    fs::write(
        &transcript,
        format!("{}\n{}\n", line("user", "go"), line("assistant", TOKEN)),
    )
    .unwrap();
    assert!(
        env.run(&["gate", "check", "--session", "s"])
            .ok()
            .contains("s.jsonl")
    );
}

#[test]
fn status_says_who_switched_it_and_the_token() {
    let env = gated();
    assert_eq!(
        env.agent("s", &["gate", "status"]).ok(),
        "project  off\nsession  on for s (its own switch)\ntoken    TASKMASTER_DONE::s\n"
    );
}

#[test]
fn at_the_ninth_block_it_lets_go_by_itself_and_says_so() {
    let env = gated();
    let stop = |n: u32| {
        let fields = json!({ "stop_hook_active": n > 0, "last_assistant_message": format!("{n}") });
        env.hook("Stop", fields)
    };
    for n in 0..8 {
        stop(n).held();
    }
    let note = stop(8).let_go();
    assert!(
        note.contains("let go after 8 blocks") && note.contains("gate"),
        "{note}"
    );
    let log = env.run(&["log"]).ok();
    assert!(log.lines().last().unwrap().contains("capped"), "{log}");

    for (cap, honoured) in [("3", 3), ("0", 20)] {
        let env = TestEnv::new().with("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", cap);
        env.agent("s", &["gate", "on"]).ok();
        for n in 0..20_u32 {
            let fields =
                json!({ "stop_hook_active": n > 0, "last_assistant_message": format!("{n}") });
            let answer = env.hook("Stop", fields).json();
            assert_eq!(
                answer["decision"] == "block",
                n < honoured,
                "cap {cap}, stop {n}"
            );
            if n == honoured {
                break;
            }
        }
    }
}

/// A busy host writes the transcript only after the first stop, so nothing in it is new then.
#[test]
fn a_transcript_that_begins_late_gives_no_hold_more() {
    let env = gated();
    let transcript = env.project().join("t.jsonl");
    let line = |role: &str, text: &str| json!({ "type": role, "isSidechain": false, "message": { "role": role, "content": text } });
    for n in 0..9 {
        if n > 0 {
            let said = [line("user", "do it"), line("assistant", "0")];
            fs::write(&transcript, format!("{}\n{}\n", said[0], said[1])).unwrap();
        }
        let fields = json!({ "transcript_path": transcript, "stop_hook_active": n > 0, "last_assistant_message": format!("{n}") });
        let answer = env.hook("Stop", fields).json();
        assert_eq!(answer["decision"] == "block", n < 8, "stop {n}");
    }
}

/// A person asks in another terminal, which has no session.
#[test]
fn status_says_what_is_in_force_where_nobody_is_at_work_yet() {
    let gate = |env: &TestEnv| {
        let status = env.run(&["status"]).ok();
        let line = status.lines().find(|line| line.starts_with("gate"));
        line.unwrap().to_owned()
    };
    let env = TestEnv::new();
    assert_eq!(
        gate(&env),
        "gate     -  holds every stop until the agent says its done token; to start: `mainspring gate on --project`"
    );
    env.run(&["gate", "on", "--project"]).ok();
    assert_eq!(
        gate(&env),
        "gate     waiting  every session here must say its done token (set by `mainspring gate on --project`)"
    );
    assert_eq!(env.run(&["status", "--line"]).ok(), "gate: waiting\n");
    // The person means the session that was here.
    env.stop("Done, I think.").held();
    assert_eq!(
        gate(&env),
        "gate     waiting  waits for TASKMASTER_DONE::s; stops held for it: 1"
    );
    assert!(
        env.run(&["status"])
            .ok()
            .contains("\nsession s, latest event ")
    );
    env.run(&["gate", "off", "--session", "last"]).ok();
    assert!(gate(&env).starts_with("gate     -"));

    let env = TestEnv::new();
    std::fs::write(
        env.project().join("mainspring.toml"),
        "[gate]\nenabled = true\n",
    )
    .unwrap();
    env.trust();
    assert!(gate(&env).ends_with("its done token (set by the configuration)"));
    env.run(&["gate", "off", "--project"]).ok();
    assert!(gate(&env).starts_with("gate     -"));
}
