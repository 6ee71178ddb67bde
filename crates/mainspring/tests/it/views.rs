//! What people read: complete outputs.

use serde_json::{Value, json};

use crate::env::TestEnv;

/// Times and temporary paths are replaced by words.
macro_rules! assert_view {
    ($env:expr, $text:expr, @$expected:literal) => {
        let root = $env.root().display().to_string();
        insta::with_settings!({
            filters => vec![
                (r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z", "[time]"),
                (r"\b\d+ (s|min) ago", "[ago]"),
                (root.as_str(), "[root]"),
            ],
        }, {
            insta::assert_snapshot!($text, @$expected);
        });
    };
}

fn checked() -> TestEnv {
    let env = TestEnv::new();
    env.run(&["trust", "--yes"]).ok();
    env.run(&["pulse", "2"]).ok();
    env.stop("one").held();
    env
}

#[test]
fn why_names_machine_rule_and_remedy() {
    let env = checked();
    assert_view!(env, env.run(&["why"]).ok(), @r"
    #2 stop held [ago], session s
    pulse kept the agent going.

      pulse  beating → beating, by rule beat
        saw        beat 0 of 2 given, for the next session
        because    beats left
        so         hold and count
        said       Mainspring is connected (beat 1 of 2). Say that you read this, and stop again.
        otherwise  answer once more, or `mainspring pulse off`

    A later stop at which no machine applied is not recorded: the agent was let go.
    ");
    let json: Value = serde_json::from_str(&env.run(&["why", "--json"]).ok()).unwrap();
    assert_eq!(json["decisions"][0]["machines"][0]["rule"], "beat");
}

#[test]
fn why_is_about_the_last_stop_unless_another_event_is_named() {
    let env = checked();
    env.agent("s", &["gate", "on"]).ok();
    env.hook("UserPromptSubmit", json!({"prompt": "go on"}))
        .ok();
    let why = env.run(&["why"]).ok();
    assert!(why.contains(" stop held "), "{why}");
    let any = env.run(&["why", "--event", "any", "-n", "9"]).ok();
    assert!(any.contains(" stop held "), "{any}");
    let error = env.run(&["why", "--event", "idle"]).failed();
    assert!(
        error.contains("no decision at a idle") || error.contains("idle"),
        "{error}"
    );
    assert!(error.contains("`mainspring why --event any`"), "{error}");
    let ran = env.run(&["why", "--event", "lunch"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("use one of session_start"), "{ran:?}");
}

/// After a let-go, the sentence says why in words, for each way to be let go.
#[test]
fn why_names_a_pause_a_damaged_file_and_a_machines_own_reason() {
    let env = checked();
    env.run(&["pause", "30m"]).ok();
    env.stop("two").let_go();
    let why = env.run(&["why"]).ok();
    assert!(why.contains("a person stopped or paused pulse"), "{why}");
    env.run(&["resume"]).ok();
    std::fs::write(env.project_state().join("pulse.json"), "{").unwrap();
    env.stop("three").let_go();
    let why = env.run(&["why"]).ok();
    assert!(
        why.contains("because the state of pulse cannot be used"),
        "{why}"
    );

    let env = TestEnv::new();
    env.run(&["pulse", "1"]).ok();
    env.stop("one").held();
    env.stop("two").let_go();
    let why = env.run(&["why"]).ok();
    assert!(
        why.contains("The agent was let go. pulse: every beat was given."),
        "{why}"
    );
}

#[test]
fn a_short_id_is_shown_and_every_command_takes_it() {
    let id = "0c7d0a0e-5ad2-4b0c-9d5e-111111111111";
    let env = TestEnv::new();
    env.run(&["pulse", "2"]).ok();
    env.stop_of(id, "one").held();
    let why = env.run(&["why"]).ok();
    assert!(why.contains("session 0c7d0a0e\n"), "{why}");
    let status = env.run(&["status"]).ok();
    assert!(
        status.contains("session 0c7d0a0e, latest event "),
        "{status}"
    );
    for view in [
        &["why", "--session", "0c7d0a0e"][..],
        &["log", "--session", "0c7d0a0e"],
    ] {
        assert!(env.run(view).ok().contains("pulse"), "{view:?}");
    }
    env.run(&["gate", "on", "--session", "0c7d0a0e"]).ok();
}

/// Not every arrow of the table, but what happens now, and when.
#[test]
fn status_says_what_a_stop_would_do_now_and_what_time_will_change() {
    let env = TestEnv::new();
    env.agent("s", &["loop", "start", "--max", "4"]).ok();
    env.stop("one").held();
    let status = env.run(&["status"]).ok();
    let next: Vec<&str> = status
        .lines()
        .filter(|line| line.contains("at a stop now:"))
        .collect();
    assert_eq!(next.len(), 1, "{status}");
    assert!(next[0].contains("to change that: "), "{status}");
    assert!(
        status.contains("in 1h 59m:  without progress it does not go on"),
        "{status}"
    );
    let view = env.run(&["status", "--json"]).json();
    let looping = view["machines"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["name"] == "loop")
        .unwrap();
    assert_eq!(looping["next"]["on"], "stop");
    assert!(looping["due"][0]["within"].as_u64().unwrap() > 7_000_000);
    env.run(&["pulse", "2"]).ok();
    let status = env.run(&["status"]).ok();
    assert!(status.contains("beats left → hold and count"), "{status}");
    assert!(
        !status.contains("start a child"),
        "that is for the last beat: {status}"
    );
}

#[test]
fn log_has_a_line_per_decision_and_filters() {
    let env = checked();
    assert_view!(env, env.run(&["log"]).ok(), @r"
    [time] #1    -        command       mainspring pulse 2: the next session's next 2 stops here are held, one by one
    [time] #2    s        stop          held  pulse: beating → beating (beat)
    ");
    let none = "no record matches\n";
    assert_eq!(env.run(&["log", "--machine", "gate"]).ok(), none);
    assert_eq!(env.run(&["log", "--session", "other"]).ok(), none);
    assert_eq!(env.run(&["log", "--machine", "gate", "--json"]).ok(), "");
    assert_eq!(env.run(&["log", "--session", "s"]).ok().lines().count(), 1);
    assert_eq!(
        env.run(&["log", "--since", "1h", "-n", "1"])
            .ok()
            .lines()
            .count(),
        1
    );
    let json = env.run(&["log", "--json"]).ok();
    for line in json.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        assert_eq!(record["v"], 2);
        assert_eq!(record["files"], Value::Null, "nobody sends contents");
    }
}

#[test]
fn log_and_why_print_our_own_phrases_and_nobody_elses_text() {
    let env = TestEnv::new();
    env.agent("s", &["loop", "start", "--max", "4"]).ok();
    env.run(&["loop", "abort"]).ok();
    let told = env.stop("one").let_go();
    assert!(told.contains("by a person"), "{told}");
    env.agent("s", &["loop", "start", "--max", "4"]).ok();
    env.run(&["loop", "abort", "my", "secret"]).ok();
    let told = env.stop("two").let_go();
    assert!(told.contains("by a person: my secret"), "{told}");
    for view in [&["log"][..], &["why", "-n", "2"]] {
        let text = env.run(view).ok();
        assert!(text.contains("aborted: by a person\n"), "{text}");
        assert!(text.contains("by a person: [text of 9 bytes"), "{text}");
        assert!(!text.contains("secret"), "{text}");
    }
}

/// A machine's log has all of its commands, whatever they are called, and no others.
#[test]
fn the_log_of_a_machine_has_the_commands_about_it() {
    let env = TestEnv::new();
    std::fs::create_dir_all(env.project().join(".taskie/plans/demo")).unwrap();
    let claim = r#"{"schema_version":1,"item_id":"","issue_number":42,"branch":"fix",
        "agent_id":"ada-1","phase":"coding","summary":"","status":"","pr_number":null}"#;
    std::fs::write(env.project().join(".agent-claim.json"), claim).unwrap();
    env.run(&["pulse", "1"]).ok();
    env.agent("s", &["gate", "on"]).ok();
    env.agent("s", &["loop", "start", "--max", "4"]).ok();
    env.agent("s", &["plan", "init", "demo"]).ok();
    env.agent("s", &["plan", "set", "tdd", "true"]).ok();
    env.agent("s", &["handoff", "--summary", "Fix it"]).ok();
    env.run(&["stop", "loop"]).ok();
    env.run(&["observe"]).ok();
    let commands = |machine: &str| -> Vec<String> {
        let log = env.run(&["log", "--machine", machine]).ok();
        let command = |line: &str| {
            let (_, rest) = line.split_once("mainspring ").unwrap();
            rest.split_once(": ").unwrap().0.to_owned()
        };
        let lines = log.lines().filter(|line| *line != "no record matches");
        lines.map(command).collect()
    };
    assert_eq!(commands("pulse"), ["pulse 1"]);
    assert_eq!(commands("gate"), ["gate on --session s"]);
    assert_eq!(commands("loop"), ["loop start", "stop loop"]);
    assert_eq!(commands("review"), ["plan init demo", "plan set tdd true"]);
    assert_eq!(commands("claim"), ["handoff"]);
    assert_eq!(commands("tasks"), [""; 0]);
}

#[test]
fn views_of_nothing_say_what_to_do() {
    let env = TestEnv::new();
    assert_view!(env, env.run(&["why"]).failed(), @r"
    error: nothing has been decided in this project yet
    hint: `mainspring pulse 1` checks that the hooks work; `mainspring demo` shows what they do
    ");
    assert_view!(env, env.run(&["pulse", "off"]).failed(), @r"
    error: no pulse is under way here
    hint: `mainspring pulse 1` begins one
    ");
    assert_view!(env, env.run(&["trust", "--list"]).ok(), @"no project is trusted; `mainspring trust` in one allows what it brings");
}

#[test]
fn a_graph_is_drawn_with_its_current_state_marked() {
    let env = TestEnv::new();
    env.agent("s", &["loop", "start", "--max", "4"]).ok();
    let svg = env.run(&["graph", "loop", "--format", "svg"]).ok();
    assert!(
        svg.starts_with("<svg ") && svg.ends_with("</svg>\n"),
        "{svg}"
    );
    assert_eq!(svg.matches('●').count(), 1, "{svg}");
    assert!(svg.contains(">● active</text>"), "{svg}");
    assert!(svg.contains(">idle</text>"), "{svg}");
}

/// The JSON says the same as the text.
#[test]
fn views_that_a_person_reads_are_json_too() {
    let env = checked();
    env.agent("s", &["gate", "on"]).ok();
    env.agent("s", &["loop", "start", "--max", "4"]).ok();
    env.agent("s", &["loop", "push", "--max", "2"]).ok();
    let gate: Value = env
        .run(&["gate", "status", "--json", "--session", "last"])
        .json();
    assert_eq!(gate["project"], "off");
    assert_eq!(gate["session"]["gate"], "on");
    assert_eq!(gate["session"]["token"], "TASKMASTER_DONE::s");
    let frames: Value = env.run(&["loop", "list", "--json"]).json();
    let most: Vec<&Value> = frames["frames"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["max"])
        .collect();
    assert_eq!(most, [4, 2]);
    let replayed: Value = env.run(&["debug", "replay", "--json"]).json();
    assert_eq!(
        (&replayed["same"], &replayed["differs"]),
        (&1.into(), &Value::Null)
    );
    let graph: Value = env.run(&["graph", "loop", "--json"]).json();
    assert_eq!(graph["machines"][0]["state"], "active");
    assert!(graph["machines"][0]["arrows"].as_array().unwrap().len() > 20);
    let graph: Value = env.run(&["graph", "gate", "--json"]).json();
    assert_eq!(
        graph["machines"][0]["state"], "waiting",
        "of the most recent session"
    );

    std::fs::write(env.project().join("mainspring.toml"), "[gate]\nmaxx = 1\n").unwrap();
    let checked = env.run(&["config", "check", "--json"]);
    assert_eq!(checked.code, Some(3));
    let checked: Value = serde_json::from_str(&checked.stdout).unwrap();
    let checked = &checked["files"];
    let warning = checked[0]["warnings"][0].as_str().unwrap();
    assert!(
        warning.contains("line 2, column 1") && warning.contains("gate.max"),
        "{warning}"
    );
    assert_eq!(checked[1]["settings"], Value::Null, "there is no such file");

    let list = env.home().join(".claude/tasks/s");
    std::fs::create_dir_all(&list).unwrap();
    for (id, waits) in [(1, "[]"), (2, "[\"1\"]")] {
        let task = format!(
            r#"{{"id":"{id}","subject":"T{id}","description":"","status":"pending","blocks":[],"blockedBy":{waits}}}"#
        );
        std::fs::write(list.join(format!("{id}.json")), task).unwrap();
    }
    let next: Value = env.run(&["tasks", "next", "--json"]).json();
    assert_eq!(next["tasks"].as_array().unwrap().len(), 1);
    assert_eq!(next["tasks"][0]["subject"], "T1");
    assert_eq!(env.run(&["tasks", "list"]).ok().lines().count(), 2);
}

#[test]
fn nothing_is_coloured_where_no_person_looks() {
    let env = checked();
    for args in [
        &["status"][..],
        &["why"],
        &["log"],
        &["doctor"],
        &["config"],
        &["--help"],
    ] {
        let ran = env.run(args);
        assert!(!ran.stdout.contains('\u{1b}'), "{args:?}: {}", ran.stdout);
    }
}

#[test]
fn the_demo_plays_to_its_end() {
    let env = TestEnv::new();
    let played = env.run(&["demo", "pulse"]).ok();
    assert!(played.contains("the agent stops"), "{played}");
    assert!(played.contains("A child process said"), "trusted: {played}");
    assert!(!env.state().exists(), "the demo has a home of its own");
    let error = env.run(&["demo", "opera"]).failed();
    assert!(error.contains("hint: the scenes are"), "{error}");
}
