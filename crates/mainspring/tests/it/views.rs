//! What people read: whole outputs.

use serde_json::Value;

use crate::env::TestEnv;

/// Times and temporary places, replaced by words.
macro_rules! assert_view {
    ($env:expr, $text:expr, @$expected:literal) => {
        let root = $env.root().display().to_string();
        insta::with_settings!({
            filters => vec![
                (r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z", "[time]"),
                (root.as_str(), "[root]"),
            ],
        }, {
            insta::assert_snapshot!($text, @$expected);
        });
    };
}

fn checked() -> TestEnv {
    let env = TestEnv::new();
    env.run(&["trust"]).ok();
    env.run(&["pulse", "2"]).ok();
    env.stop("one").held();
    env
}

#[test]
fn why_names_machine_rule_and_remedy() {
    let env = checked();
    assert_view!(env, env.run(&["why"]).ok(), @r"
    #2 stop held [time], s
    The agent was kept going by pulse.

      pulse  beating → beating, by rule beat
        because    beats left
        so         hold and count
        said       Mainspring is connected (beat 1 of 2). Say that you read this, and stop again.
        otherwise  answer once more, or `mainspring pulse off`
    ");
    let json: Value = serde_json::from_str(&env.run(&["why", "--json"]).ok()).unwrap();
    assert_eq!(json[0]["machines"][0]["rule"], "beat");
}

#[test]
fn log_has_a_line_per_decision_and_filters() {
    let env = checked();
    assert_view!(env, env.run(&["log"]).ok(), @r"
    [time] #1    -        command       mainspring pulse 2: the next session's next 2 stops here are held, one by one
    [time] #2    s        stop          held  pulse: beating → beating (beat)
    ");
    assert_eq!(env.run(&["log", "--machine", "gate"]).ok(), "");
    assert_eq!(env.run(&["log", "--session", "other"]).ok(), "");
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
        assert_eq!(record["v"], 1);
    }
}

#[test]
fn views_of_nothing_say_what_to_do() {
    let env = TestEnv::new();
    assert_view!(env, env.run(&["why"]).failed(), @r"
    error: nothing has been decided in this project yet
    hint: `mainspring pulse` checks that hooks reach us; `mainspring demo` shows what happens
    ");
    assert_view!(env, env.run(&["pulse", "off"]).failed(), @"error: no check is under way here");
    assert_view!(env, env.run(&["trust", "--list"]).ok(), @"no project is trusted; `mainspring trust` in one allows its effects");
}

#[test]
fn the_demo_plays_to_its_end() {
    let env = TestEnv::new();
    let played = env.run(&["demo", "pulse"]).ok();
    assert!(played.contains("the agent stops"), "{played}");
    assert!(!env.state().exists(), "the demo has a home of its own");
    let error = env.run(&["demo", "opera"]).failed();
    assert!(error.contains("hint: the scenes are"), "{error}");
}
