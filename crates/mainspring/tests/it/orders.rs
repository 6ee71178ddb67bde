//! A person's orders, observation, and the messages around a hold.

use std::fs;

use serde_json::{Value, json};

use crate::env::TestEnv;

/// A project in which the next stops are held.
fn beating() -> TestEnv {
    let env = TestEnv::new();
    env.run(&["pulse", "9"]).ok();
    env
}

/// An event that is delivered twice gets its answer twice, but not past an order.
#[test]
fn an_order_is_obeyed_by_the_very_event_that_was_just_held() {
    for order in [
        &["stop"][..],
        &["pause", "1h"],
        &["stop", "pulse"],
        &["observe"],
    ] {
        let env = beating();
        env.stop("one").held();
        env.run(order).ok();
        let _ = env.stop("one").let_go();
    }
    let env = beating();
    env.stop("one").held();
    fs::write(env.project().join(".mainspring-off"), "").unwrap();
    let _ = env.stop("one").let_go();
}

#[test]
fn what_was_stopped_stays_stopped_until_a_person_resumes() {
    for (stop, resume) in [
        (&["stop"][..], &["resume"][..]),
        (&["stop", "pulse"], &["resume", "pulse"]),
        (&["pause", "1h"], &["resume"]),
        (&["pause", "1h", "pulse"], &["resume"]),
    ] {
        let env = beating();
        env.stop("one").held();
        env.run(stop).ok();
        let ordered = match stop[0] {
            "stop" => "you stopped pulse",
            _ => "you paused pulse",
        };
        for words in ["two", "three"] {
            let said = env.stop(words).let_go();
            assert!(
                said.contains(ordered) && said.contains("`mainspring resume`"),
                "{said}"
            );
        }
        let why = env.run(&["why"]).ok();
        assert!(why.contains("by rule suspended"), "{why}");
        assert!(env.run(&["status"]).ok().contains("`mainspring resume"));
        env.run(resume).ok();
        let reason = env.stop("four").held();
        assert!(
            reason.contains("beat 2 of 9"),
            "its state was kept: {reason}"
        );
        assert!(!env.project_state().join("orders.json").exists());
        let again = env.run(&["debug", "replay"]).ok();
        assert!(again.ends_with("all the same\n"), "{again}");
    }
}

#[test]
fn a_brake_on_one_machine_leaves_the_others_alone() {
    let env = beating();
    env.run(&["stop", "loop"]).ok();
    env.stop("one").held();
    env.run(&["stop"]).ok();
    env.run(&["resume", "pulse"]).ok();
    env.stop("two").held();
}

#[test]
fn a_pause_ends_by_itself() {
    let env = beating();
    env.run(&["pause", "1ms"]).ok();
    std::thread::sleep(std::time::Duration::from_millis(5));
    env.stop("one").held();
}

/// A project in which session `s` is live.
fn visited() -> TestEnv {
    let env = TestEnv::new();
    let _ = env.stop("hello").let_go();
    env
}

/// What promises a hold says that an order is in the way, and which command ends it.
#[test]
fn whoever_starts_something_under_an_order_reads_that_nothing_is_held() {
    let typed = [
        (&["gate", "on"][..], "gate"),
        (&["gate", "on", "--session", "s"], "gate"),
        (&["loop", "start", "--session", "next"], "loop"),
        (&["loop", "push"], "loop"),
        (&["loop", "adopt", "--session", "s"], "loop"),
        (&["pulse", "1"], "pulse"),
    ];
    for (order, line) in [
        (
            &["stop"][..],
            "\nbut everything is stopped here: `mainspring resume` undoes that\n",
        ),
        (&["pause", "1h"], ": `mainspring resume` ends the pause\n"),
        (
            &["observe"],
            "\nbut Mainspring only observes here: no stop is held until `mainspring observe off`\n",
        ),
    ] {
        let env = visited();
        env.run(order).ok();
        for (command, _) in typed {
            let said = env.run(command).ok();
            assert!(said.ends_with(line), "{order:?} {command:?}: {said}");
        }
        let off = env.run(&["gate", "off"]).ok();
        assert!(!off.contains("\nbut "), "{off}");
    }
    let env = visited();
    fs::write(env.project().join(".mainspring-off"), "").unwrap();
    for (command, _) in typed {
        let said = env.run(command).ok();
        let line = "/.mainspring-off switches everything off here: delete that file to go on\n";
        assert!(said.ends_with(line), "{command:?}: {said}");
    }
    let env = visited();
    env.run(&["stop", "loop"]).ok();
    for (command, machine) in typed {
        let said = env.run(command).ok();
        let line = "\nbut loop is stopped here: `mainspring resume loop` undoes that\n";
        assert_eq!(said.ends_with(line), machine == "loop", "{said}");
    }
}

#[test]
fn an_order_that_stays_in_force_is_named_by_the_one_that_ends() {
    let env = TestEnv::new();
    env.run(&["stop"]).ok();
    let stopped = "but everything is stopped here: `mainspring resume` undoes that\n";
    let said = env.run(&["observe"]).ok();
    assert!(
        said.ends_with(&format!("would have happened\n{stopped}")),
        "{said}"
    );
    assert!(env.run(&["stop"]).ok().contains("`mainspring observe off`"));
    assert_eq!(
        env.run(&["observe", "off"]).ok(),
        format!("no longer only observing\n{stopped}")
    );
    env.run(&["observe"]).ok();
    let said = env.run(&["resume"]).ok();
    assert!(
        said.starts_with("everything here is resumed\nbut Mainspring only observes"),
        "{said}"
    );
    assert_eq!(env.run(&["observe", "off"]).ok(), "the machines act\n");
}

#[test]
fn an_agent_gives_no_orders() {
    let env = beating();
    for args in [&["stop"][..], &["pause", "1h"], &["resume"], &["observe"]] {
        let error = env.agent("s", args).failed();
        assert!(error.contains("an agent cannot give orders"), "{error}");
    }
    env.stop("one").held();
}

#[test]
fn orders_that_make_no_sense_say_so() {
    let env = beating();
    for (command, said) in [
        (&["resume"][..], "nothing is stopped or paused here"),
        (
            &["resume", "loop"],
            "loop is neither stopped nor paused here",
        ),
    ] {
        let nothing = format!("nothing changed: {said}\n");
        assert_eq!(env.run(command).ok(), nothing);
    }
    assert_eq!(env.run(&["stop", "opera"]).code, Some(2));
    assert_eq!(env.run(&["pause", "soon"]).code, Some(2));
}

#[test]
fn a_file_switches_a_project_off_and_nobody_forgets_it() {
    let env = beating();
    let off = env.project().join(".mainspring-off");
    fs::write(&off, "").unwrap();
    let said = env.stop("one").let_go();
    assert!(said.contains("because .mainspring-off is here"), "{said}");
    assert!(env.run(&["resume"]).failed().contains("delete that file"));
    assert!(env.run(&["status"]).ok().contains("off by .mainspring-off"));
    fs::remove_file(&off).unwrap();
    env.stop("two").held();
}

#[test]
fn orders_that_cannot_be_read_let_go_and_stay() {
    let env = beating();
    let path = env.project_state().join("orders.json");
    fs::write(&path, "{").unwrap();
    assert!(env.stop("one").let_go().contains("orders.json"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "{");
}

#[test]
fn observing_holds_nothing_changes_nothing_and_records_what_it_would_have_done() {
    let env = beating();
    let state = fs::read(env.project_state().join("pulse.json")).unwrap();
    env.run(&["observe"]).ok();
    for words in ["one", "two"] {
        let said = env.stop(words).let_go();
        assert!(
            said.contains("would have kept the agent going for pulse"),
            "{said}"
        );
    }
    assert_eq!(
        fs::read(env.project_state().join("pulse.json")).unwrap(),
        state
    );
    let why = env.run(&["why"]).ok();
    assert!(why.contains("Only observing"), "{why}");
    assert!(
        why.contains("Mainspring is connected (beat 1 of 9)"),
        "{why}"
    );
    assert!(env.run(&["log"]).ok().contains("stop          observed"));
    assert!(
        env.run(&["status", "--line"])
            .ok()
            .ends_with("· observing\n")
    );
    env.run(&["observe", "off"]).ok();
    env.stop("three").held();
    let again = env.run(&["debug", "replay"]).ok();
    assert!(again.ends_with("all the same\n"), "{again}");
}

#[test]
fn a_run_of_holds_is_announced_once_and_ends_with_a_receipt() {
    let env = TestEnv::new();
    env.run(&["trust", "--yes"]).ok();
    env.run(&["pulse", "2"]).ok();
    let stop = |words: &str, active: bool| {
        let fields = json!({ "last_assistant_message": words, "stop_hook_active": active });
        env.hook("Stop", fields).json()
    };
    let first = stop("one", false);
    assert_eq!(
        first["systemMessage"],
        "mainspring: pulse keeps the agent going. `mainspring why` tells more, `mainspring stop` ends it"
    );
    assert_eq!(stop("two", true)["systemMessage"], Value::Null);
    let last = stop("three", true);
    let receipt = last["systemMessage"].as_str().unwrap();
    assert!(
        receipt.starts_with("mainspring: let go after 2 held stops (pulse 2), "),
        "{receipt}"
    );
}

/// Also if the prompt is far away, and if an earlier turn, which the person broke off, was held.
#[test]
fn the_receipt_of_a_machine_that_starts_nothing_counts_from_the_prompt() {
    let env = TestEnv::new();
    env.agent("s", &["gate", "on"]).ok();
    let transcript = env.home().join("s.jsonl");
    let prompt = |minutes: i64| {
        let at = jiff::Timestamp::now() - jiff::SignedDuration::from_mins(minutes);
        let line = json!({
            "type": "user", "promptId": minutes.to_string(), "timestamp": at.to_string(),
            "origin": {"kind": "human"}, "message": {"role": "user", "content": "go"},
        });
        format!("{line}\n")
    };
    let read = json!({
        "type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t", "content": "x".repeat(64 << 10)},
        ]},
    });
    let stop = |words: &str, active: bool| {
        let fields = json!({
            "last_assistant_message": words, "stop_hook_active": active,
            "transcript_path": transcript,
        });
        env.hook("Stop", fields)
    };
    fs::write(&transcript, prompt(300)).unwrap();
    stop("one", false).held();
    let long = format!("{read}\n").repeat(40);
    fs::write(&transcript, [prompt(300), prompt(40), long].concat()).unwrap();
    stop("two", false).held();
    let receipt = stop("TASKMASTER_DONE::s", true).let_go();
    let begins = "let go after 1 held stop (gate 1), 4";
    let at = receipt.find(begins).unwrap_or_else(|| panic!("{receipt}"));
    let time = &receipt[at + begins.len() - 1..];
    assert!(
        time.starts_with("40m") || time.starts_with("41m"),
        "{receipt}"
    );
}

#[test]
fn how_the_agent_is_told_to_go_on_is_a_setting_and_by_default_the_hosts_own() {
    let answer = |mut command: std::process::Command, env: &TestEnv| {
        let payload = crate::env::payload(&env.project(), "Stop", json!({}));
        let answer = crate::env::finish(&mut command, payload.to_string().as_bytes()).json();
        if answer["decision"] == "block" {
            "block"
        } else {
            "context"
        }
    };
    let hold = |env: &TestEnv, session: Option<&str>| {
        let mut command = env.command();
        command.arg("hook");
        if let Some(session) = session {
            command.env("CLAUDE_CODE_SESSION_ID", session);
        }
        answer(command, env)
    };
    // In another host that an agent of Claude Code's started.
    let nested = |env: &TestEnv| {
        let host = env.root().join("codex");
        fs::copy("/bin/sh", &host).unwrap();
        let mut command = std::process::Command::new(host);
        let plain = env.command();
        command
            .env_clear()
            .envs(
                plain
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .env("CLAUDE_CODE_SESSION_ID", "the session around this host")
            .current_dir(env.project())
            .args(["-c", "\"$@\"; exit $?", "x", crate::env::MAINSPRING, "hook"]);
        answer(command, env)
    };
    for (setting, elsewhere, claude) in [
        (None, "block", "context"),
        (Some("auto"), "block", "context"),
        (Some("block"), "block", "block"),
        (Some("context"), "context", "context"),
    ] {
        let env = beating();
        if let Some(setting) = setting {
            let text = format!("[host]\ncontinue_as = \"{setting}\"\n");
            fs::write(env.project().join("mainspring.toml"), text).unwrap();
            env.trust();
        }
        assert_eq!(hold(&env, None), elsewhere, "{setting:?}");
        let env = beating().with("MAINSPRING_CONTINUE_AS", setting.unwrap_or("auto"));
        assert_eq!(hold(&env, Some("s")), claude, "{setting:?}");
        assert_eq!(nested(&env), elsewhere, "{setting:?}");
    }
}
