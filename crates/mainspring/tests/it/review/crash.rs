//! Many stops at once, and stops that are killed while a reviewer works.

use std::fs;
use std::io::Write as _;
use std::process::{Child, Stdio};

use mainspring_testkit::process::wait_until;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{stop, trusted};
use crate::env::{Ran, payload};
use crate::taskie::{Taskie, write};

/// Starts a stop and does not wait for it.
fn start(taskie: &Taskie, session: &str, words: &str) -> Child {
    let fields = json!({"session_id": session, "last_assistant_message": words});
    let event = payload(&taskie.env.project(), "Stop", fields);
    let mut command = taskie.command();
    let mut child = command
        .arg("hook")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(event.to_string().as_bytes()).unwrap();
    child
}

#[test]
fn many_stops_at_once_start_one_reviewer() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    let _ = taskie.env.agent("s", &["plan", "adopt"]).ok();
    taskie.set("MOCK_CLAUDE_DELAY", "2");
    let stops: Vec<Child> = (0..16)
        .map(|number| start(&taskie, "s", &format!("stop {number}")))
        .collect();
    let answers: Vec<Ran> = stops
        .into_iter()
        .map(|child| Ran::of(child.wait_with_output().unwrap()))
        .collect();
    let held = answers
        .iter()
        .filter(|answer| answer.stdout.contains("\"block\""));
    assert_eq!(held.count(), 1, "{answers:#?}");
    assert_eq!(taskie.calls().len(), 1);
    assert_eq!(taskie.state_now()["phase_iteration"], 1);
}

/// It takes long, so it only runs if it is asked for by name: every due review is done once,
/// however many stops happen at the same time.
#[test]
#[ignore = "minutes: `cargo nextest run --run-ignored=only sixty_four_stops`"]
fn sixty_four_stops_at_once_a_hundred_times_start_a_hundred_reviewers() {
    let taskie = trusted(json!({"next_phase": "plan-review", "max_reviews": 1_000}));
    let _ = taskie.env.agent("s", &["plan", "adopt"]).ok();
    taskie.set("MOCK_CLAUDE_DELAY", "0.2");
    let mut let_go = 0;
    for round in 1..=100 {
        let stops: Vec<Child> = (0..64)
            .map(|number| start(&taskie, "s", &format!("stop {round} {number}")))
            .collect();
        let answers: Vec<Ran> = stops
            .into_iter()
            .map(|child| Ran::of(child.wait_with_output().unwrap()))
            .collect();
        let held = |answer: &&Ran| answer.stdout.contains("\"block\"");
        assert_eq!(answers.iter().filter(held).count(), 1, "round {round}");
        assert_eq!(taskie.calls().len(), round);
        assert_eq!(taskie.state_now()["phase_iteration"], round);
        assert!(answers.iter().all(|answer| answer.code == Some(0)));
        let_go += answers.len() - 1;
        taskie.post_review();
    }
    let marker = taskie.env.root().join("bin/claude");
    assert_eq!(running(&marker.to_string_lossy()), 0, "nobody is left");
    eprintln!("64 stops at once, 100 times: 100 reviews, {let_go} let go, 0 processes left");
}

/// Processes whose command line holds this text.
fn running(text: &str) -> usize {
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| fs::read(entry.ok()?.path().join("cmdline")).ok())
        .filter(|line| String::from_utf8_lossy(line).contains(text))
        .count()
}

#[test]
fn a_killed_hook_takes_its_reviewer_along_and_the_review_is_done_again() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    let marker = taskie.env.root().join("grandchild");
    // The reviewer has created its file, and written nothing into it yet.
    let script = format!(
        "#!/bin/sh\n: > {file}\necho started >> {log}\nsh -c 'sleep 300; : {marker}' &\nsleep 300; : {marker}\n",
        file = taskie.dir().join("plan-review-1.md").display(),
        log = taskie.env.root().join("starts").display(),
        marker = marker.display()
    );
    let own = taskie.env.root().join("bin/claude");
    let normal = fs::read_to_string(&own).unwrap();
    write(&own, &script);
    let starts = || fs::read_to_string(taskie.env.root().join("starts")).unwrap_or_default();
    let mut hook = start(&taskie, "s", "one");
    wait_until("the reviewer starts", || starts().lines().count() == 1);
    let marker = marker.to_string_lossy().into_owned();
    wait_until("its child starts", || running(&marker) > 0);
    hook.kill().unwrap();
    hook.wait().unwrap();
    wait_until("they die with the hook", || running(&marker) == 0);
    write(&own, &normal);
    assert!(
        stop(&taskie, "s", "two")
            .held()
            .contains("plan-review-1.md")
    );
    assert_eq!(
        taskie.state_now()["phase_iteration"],
        1,
        "the same iteration"
    );
}

/// The reviewer writes half its review, or all of it and its verdict, and does not come to its end:
/// it is killed with its hook.
fn killed_in_mid_write(taskie: &Taskie, half: bool) {
    let own = taskie.env.root().join("bin/claude");
    let normal = fs::read_to_string(&own).unwrap();
    let waits = "touch \"${0%/*}/there\"; sleep 300\n";
    let before = if half {
        "if [ -z \"$MOCK_CLAUDE_OUTPUT\" ]"
    } else {
        "[ \"${MOCK_CLAUDE_EXIT_CODE:-0}\" = 0 ] ||"
    };
    write(&own, &normal.replace(before, &format!("{waits}{before}")));
    taskie.verdict("PASS");
    let mut hook = start(taskie, "s", "one");
    let there = taskie.env.root().join("bin/there");
    wait_until("the reviewer has written", || there.exists());
    assert!(taskie.has("plan-review-1.md"));
    hook.kill().unwrap();
    hook.wait().unwrap();
    write(&own, &normal);
}

#[test]
fn a_reviewer_killed_in_mid_write_leaves_no_review() {
    for half in [true, false] {
        let taskie = trusted(json!({"next_phase": "plan-review"}));
        killed_in_mid_write(&taskie, half);
        let held = stop(&taskie, "s", "two").held();
        assert!(held.contains("plan-review-1.md"), "{held}");
        assert!(taskie.has(".review-1.partial"), "what was written is kept");
        assert_eq!(taskie.calls().len(), 2, "it was done again");
        assert_eq!(
            taskie.fields(&["phase_iteration", "consecutive_clean", "review_model"]),
            json!({"phase_iteration": 1, "consecutive_clean": 1, "review_model": "sonnet"}),
            "it counts once"
        );
    }
}

/// What may come between a kill and the next stop of the same session.
type Between = fn(&Taskie);

fn event(taskie: &Taskie, name: &str, fields: Value) {
    let event = payload(&taskie.env.project(), name, fields);
    let _ = taskie.run(&["hook"], event.to_string().as_bytes()).ok();
}

const BETWEEN: &[Between] = &[
    |taskie| {
        let prompt = json!({"session_id": "s", "prompt": "How far are you?"});
        event(taskie, "UserPromptSubmit", prompt);
    },
    |taskie| {
        let end = json!({"session_id": "s", "reason": "other"});
        event(taskie, "SessionEnd", end);
    },
    |taskie| {
        let _ = stop(taskie, "another", "one").let_go();
    },
];

#[test]
fn a_review_is_paid_for_once_whatever_comes_between_the_kill_and_the_next_stop() {
    for between in BETWEEN {
        let taskie = trusted(json!({"next_phase": "plan-review"}));
        let _ = taskie.env.agent("s", &["plan", "adopt"]).ok();
        taskie.verdict("PASS");
        unseen_end(&taskie);
        between(&taskie);
        stop(&taskie, "s", "two").held();
        assert_eq!(taskie.calls().len(), 1, "it was not paid for twice");
        assert_eq!(taskie.state_now()["consecutive_clean"], 1);
    }
}

#[test]
fn a_half_written_review_is_set_aside_whatever_comes_between_the_kill_and_the_next_stop() {
    for between in BETWEEN {
        let taskie = trusted(json!({"next_phase": "plan-review"}));
        let _ = taskie.env.agent("s", &["plan", "adopt"]).ok();
        killed_in_mid_write(&taskie, true);
        between(&taskie);
        let held = stop(&taskie, "s", "two").held();
        assert!(held.contains("plan-review-1.md"), "{held}");
        assert!(taskie.has(".review-1.partial"), "what was written is kept");
        assert!(!taskie.has("plan-review-2.md"), "no number is skipped");
        assert_eq!(taskie.calls().len(), 2, "it was done again, once");
        assert_eq!(taskie.state_now()["phase_iteration"], 1);
    }
}

/// The one folder of an attempt.
fn attempt(taskie: &Taskie) -> Option<std::path::PathBuf> {
    let projects = taskie.env.state().join("projects");
    let project = fs::read_dir(projects).ok()?.next()?.ok()?.path();
    let attempt = fs::read_dir(project.join("reviews")).ok()?.next()?.ok()?;
    Some(attempt.path())
}

/// The reviewer ends, and its guard sees that; its hook is killed before it sees it.
pub(super) fn unseen_end(taskie: &Taskie) {
    let own = taskie.env.root().join("bin/claude");
    let normal = fs::read_to_string(&own).unwrap();
    let go = taskie.env.root().join("go");
    let waits = format!("while [ ! -e {} ]; do sleep 0.01; done", go.display());
    write(&own, &normal.replacen('\n', &format!("\n{waits}\n"), 1));
    let mut hook = start(taskie, "s", "one");
    wait_until("the reviewer starts", || {
        attempt(taskie).is_some_and(|dir| dir.join("leader.json").exists())
    });
    // The hook sees nothing of its reviewer's end.
    let stop_it = std::process::Command::new("kill")
        .args(["-STOP", &hook.id().to_string()])
        .status();
    assert!(stop_it.unwrap().success());
    fs::write(&go, "").unwrap();
    wait_until("the guard notes its end", || {
        attempt(taskie).is_some_and(|dir| dir.join("ended").exists())
    });
    hook.kill().unwrap();
    hook.wait().unwrap();
}

#[test]
fn a_verdict_whose_reviewer_had_ended_is_adopted() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    taskie.verdict("PASS");
    unseen_end(&taskie);
    stop(&taskie, "s", "two").held();
    assert_eq!(taskie.calls().len(), 1, "it was not paid for twice");
    assert_eq!(taskie.state_now()["consecutive_clean"], 1);
}

#[test]
fn findings_of_a_reviewer_that_had_ended_are_written_down_and_adopted() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    taskie.set("MOCK_CLAUDE_NO_FILE", "1");
    taskie.set(
        "MOCK_CLAUDE_FINDINGS",
        r#"[{"id":"F1","severity":"major","path":null,"line":null,"claim":"It leaks.","evidence":"x"}]"#,
    );
    unseen_end(&taskie);
    let held = stop(&taskie, "s", "two").held();
    assert!(held.contains("F1 (major), new: It leaks."), "{held}");
    assert!(taskie.has("plan-review-1.md"));
    assert_eq!(taskie.calls().len(), 1, "it was not paid for twice");
}

#[test]
fn a_reviewer_that_failed_while_its_hook_died_leaves_no_review() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    taskie.verdict("PASS");
    taskie.set("MOCK_CLAUDE_EXIT_CODE", "3");
    unseen_end(&taskie);
    taskie.set("MOCK_CLAUDE_EXIT_CODE", "0");
    taskie.verdict("FAIL");
    let held = stop(&taskie, "s", "two").held();
    assert!(held.contains("plan-review-1.md"), "{held}");
    assert_eq!(taskie.calls().len(), 2);
    assert_eq!(taskie.state_now()["consecutive_clean"], 0);
}

/// A verdict is about what its reviewer saw, also if another hook takes it over later.
#[test]
fn a_review_that_is_taken_over_is_about_what_its_reviewer_saw() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    taskie.verdict("PASS");
    unseen_end(&taskie);
    taskie.file("plan.md", "# Another plan\n\n## Overview\n");
    let answer = stop(&taskie, "s", "two").json();
    let note = answer["systemMessage"].as_str().unwrap_or_default();
    assert!(
        note.contains("plan.md changed: its PASS adds nothing"),
        "{note}"
    );
    assert_eq!(taskie.state_now()["consecutive_clean"], 0);
    assert_eq!(taskie.calls().len(), 1);
}

/// The desktop: a program that writes down what it is to show.
fn desktop(taskie: &Taskie) {
    let program = taskie.env.root().join("bin/notify-send");
    let script = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$@\" >> {}\n",
        taskie.env.root().join("shown").display()
    );
    write(&program, &script);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&program, mode).unwrap();
    super::config(taskie, "[notify]\ndesktop = true\n");
}

/// No test waits for a minute: the reviewer's run began earlier, by the times of its files.
#[test]
fn a_review_of_more_than_a_minute_is_told_on_the_desktop_and_a_shorter_one_is_not() {
    for (seconds, told) in [(50, false), (95, true)] {
        let taskie = trusted(json!({"next_phase": "plan-review"}));
        desktop(&taskie);
        taskie.verdict("PASS");
        unseen_end(&taskie);
        let leader = attempt(&taskie).unwrap().join("leader.json");
        let ended = attempt(&taskie).unwrap().join("ended");
        let ended = fs::metadata(ended).unwrap().modified().unwrap();
        let leader = fs::File::options().append(true).open(leader).unwrap();
        let began = ended - std::time::Duration::from_secs(seconds);
        leader.set_modified(began).unwrap();
        let answer = stop(&taskie, "s", "two").json();
        let note = answer["systemMessage"].as_str().unwrap_or_default();
        let line = format!("opus: PASS, {seconds} s, $0.25");
        assert!(note.contains(&line), "{note}");
        let notice = "The plan review of plan 'demo' is over: PASS";
        let terminal = answer["terminalSequence"].as_str().unwrap_or_default();
        assert_eq!(terminal.contains(notice), told, "{answer}");
        let shown = fs::read_to_string(taskie.env.root().join("shown")).unwrap_or_default();
        assert_eq!(shown.contains(notice), told, "{shown}");
    }
}

#[test]
fn what_is_in_the_output_of_a_reviewer_that_was_killed_is_no_verdict() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    taskie.verdict("FAIL");
    let own = taskie.env.root().join("bin/claude");
    let normal = fs::read_to_string(&own).unwrap();
    write(
        &own,
        &normal.replace(
            "[ \"${MOCK_CLAUDE_EXIT_CODE:-0}\"",
            "sleep 300\n[ \"${MOCK_CLAUDE_EXIT_CODE:-0}\"",
        ),
    );
    let mut hook = start(&taskie, "s", "one");
    wait_until("the review is written", || {
        let stdout = attempt(&taskie).map(|dir| dir.join("stdout.json"));
        let text = stdout.and_then(|path| fs::read_to_string(path).ok());
        text.is_some_and(|text| text.ends_with('}'))
    });
    hook.kill().unwrap();
    hook.wait().unwrap();
    let stdout = attempt(&taskie).unwrap().join("stdout.json");
    let clean = json!({"verdict": "PASS", "findings": [], "earlier": []});
    let late = json!({"type": "result", "structured_output": clean});
    fs::write(stdout, late.to_string()).unwrap();
    write(&own, &normal);
    stop(&taskie, "s", "two").held();
    assert_eq!(taskie.calls().len(), 2, "it was done again");
    assert_eq!(taskie.state_now()["consecutive_clean"], 0);
}

#[test]
fn a_due_review_that_is_edited_out_of_the_plan_is_told_to_the_person() {
    let taskie = trusted(json!({"next_phase": null}));
    let due = ["plan", "review", "restart", "plan"];
    let _ = taskie.env.agent("s", &due).ok();
    taskie.verdict("FAIL");
    stop(&taskie, "s", "one").held();
    taskie.state(json!({"next_phase": null}));
    let note = stop(&taskie, "s", "two").let_go();
    assert!(
        note.contains("somebody removed the plan review from plan 'demo'"),
        "{note}"
    );
    let again = stop(&taskie, "s", "three").let_go();
    assert!(!again.contains("somebody"), "said once: {again}");
}
