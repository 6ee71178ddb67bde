//! What people see in their own window: lines that fit, a pager for what is longer, and a demo
//! at a reader's pace.

use std::process::Command;

use crate::env::{MAINSPRING, Ran, TestEnv, finish};
use crate::json_views;

/// A command in a window of this size.
fn in_window(env: &TestEnv, columns: u32, rows: u32, args: &str, vars: &[(&str, &str)]) -> Ran {
    let line = format!("stty cols {columns} rows {rows}; {MAINSPRING} {args}");
    let plain = env.command();
    let own = plain
        .get_envs()
        .filter_map(|(name, value)| Some((name, value?)));
    let mut command = Command::new("script");
    command
        .args(["--quiet", "--return", "--command", &line, "/dev/null"])
        .env_clear()
        .envs(own)
        .env("SHELL", "/bin/sh")
        .env("NO_COLOR", "1")
        .envs(vars.iter().copied())
        .current_dir(env.project());
    let mut ran = finish(&mut command, b"");
    ran.stdout = ran.stdout.replace("\r\n", "\n");
    ran
}

fn held() -> TestEnv {
    let env = TestEnv::new();
    env.run(&["pulse", "9"]).ok();
    for beat in 1..7 {
        env.stop(&format!("beat {beat}")).held();
    }
    env
}

#[test]
fn lines_fit_the_window_and_go_on_in_their_column() {
    let env = held();
    let why = in_window(&env, 50, 60, "why", &[]).ok();
    assert!(why.lines().all(|line| line.chars().count() <= 50), "{why}");
    let said: Vec<&str> = why
        .lines()
        .skip_while(|line| !line.contains("said "))
        .take(2)
        .collect();
    assert!(said[1].starts_with("               "), "{why}");
    let plain = env.run(&["why"]).ok();
    let words = |text: &str| {
        text.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        words(&why)[3..],
        words(&plain)[3..],
        "but for how long ago it was"
    );
}

#[test]
fn every_text_for_a_person_fits_the_window() {
    let env = json_views::busy();
    for view in [
        "check",
        "doctor",
        "gate status",
        "log",
        "loop status",
        "plan route",
        "plan status",
        "debug replay",
        "debug self",
        "sessions",
        "debug simulate ../stop.json",
        "status",
        "tasks list --list s",
        "tasks next --list s",
        "why",
    ] {
        let text = in_window(&env, 60, 400, view, &[]).stdout;
        assert!(!text.is_empty(), "{view}");
        for line in text.lines() {
            // A word alone may be longer than the window, such as a path.
            let alone = line.split_whitespace().count() <= 1;
            assert!(alone || line.chars().count() <= 60, "{view}: {line:?}");
        }
        let whole = env.run(&view.split(' ').collect::<Vec<_>>()).stdout;
        assert!(
            whole.lines().any(|line| line.chars().count() > 60) || text.lines().count() < 5,
            "{view} shows nothing that must be broken: {whole}"
        );
    }
}

/// What a command says, and why it refuses, is broken between words; a program reads it as it is.
#[test]
fn results_and_errors_fit_the_window_and_json_is_not_touched() {
    let env = TestEnv::new();
    let fits = |text: &str| {
        let long = |line: &&str| line.chars().count() > 60 && line.trim().contains(' ');
        assert_eq!(text.lines().find(long), None, "{text}");
    };
    let error = in_window(&env, 60, 60, "config unset pulse.beats", &[]);
    assert_eq!(error.code, Some(1));
    fits(&error.stdout);
    assert!(error.stdout.contains("shows where each value"), "{error:?}");
    fits(&in_window(&env, 60, 60, "pause 5m", &[]).ok());
    fits(&in_window(&env, 60, 400, "config", &[]).ok());
    let json = in_window(&env, 60, 400, "config --json", &[]).ok();
    assert_eq!(json, env.run(&["config", "--json"]).ok());
}

#[test]
fn what_is_longer_than_the_window_goes_to_the_pager_and_nothing_else() {
    let env = held();
    let pager = [("TERM", "xterm"), ("PAGER", "sed s/^/paged:/")];
    let long = in_window(&env, 100, 10, "why -n 6", &pager).ok();
    assert!(
        long.lines().all(|line| line.starts_with("paged:")),
        "{long}"
    );
    let short = in_window(&env, 100, 60, "why", &pager).ok();
    assert!(!short.contains("paged:"), "{short}");
    let none = [("TERM", "xterm"), ("PAGER", "cat")];
    let plain = in_window(&env, 100, 10, "why -n 6", &none).ok();
    assert!(plain.contains("pulse kept the agent going"), "{plain}");
    let missing = [("TERM", "xterm"), ("PAGER", "no-such-pager")];
    let plain = in_window(&env, 100, 10, "why -n 6", &missing).ok();
    assert!(plain.contains("pulse kept the agent going"), "{plain}");
}

#[test]
fn one_scene_of_the_demo_plays_in_a_window_and_its_lines_fit() {
    let env = TestEnv::new();
    let fast = in_window(&env, 70, 60, "demo pulse --fast", &[]).ok();
    assert!(
        fast.contains("── pulse") && !fast.contains("── gate"),
        "{fast}"
    );
    let paced = in_window(&env, 70, 60, "demo pulse", &[]).ok();
    assert!(
        paced.lines().all(|line| line.chars().count() <= 70),
        "{paced}"
    );
    let words = |text: &str| {
        text.split_whitespace()
            .filter(|word| *word != "│")
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(words(&paced), words(&fast));
}
