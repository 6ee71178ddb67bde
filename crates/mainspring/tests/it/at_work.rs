//! What runs is seen in every view, and ends when a person says so.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};

use mainspring_testkit::process::wait_until;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::env::{Ran, payload};
use crate::taskie::{Taskie, write};

/// A program that says that it started, and then does not end by itself.
fn endless(taskie: &Taskie, name: &str) {
    let script = format!(
        "#!/bin/sh\nprintf '# half a review' > {review}\necho {name} >> {log}\nsleep 60\n",
        review = taskie.dir().join("plan-review-2.md").display(),
        log = taskie.env.root().join("started").display(),
    );
    let program = taskie.env.root().join("bin").join(name);
    write(&program, &script);
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
}

fn started(taskie: &Taskie) -> usize {
    let log = fs::read_to_string(taskie.env.root().join("started"));
    log.unwrap_or_default().lines().count()
}

/// The processes of the endless program that live.
fn living(taskie: &Taskie) -> usize {
    running(&taskie.env.root().join("bin/").to_string_lossy())
}

/// The processes with this in their command line.
fn running(marker: &str) -> usize {
    numbers_of(marker).len()
}

fn numbers_of(marker: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap();
    let numbers = processes.filter_map(|entry| {
        let entry = entry.ok()?;
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let is_it = String::from_utf8_lossy(&line).contains(marker);
        is_it.then(|| entry.file_name().to_string_lossy().into_owned())
    });
    numbers.collect()
}

/// Starts an event and does not wait for its answer.
fn begin(taskie: &Taskie, event: &str, fields: Value) -> Child {
    let event = payload(&taskie.env.project(), event, fields);
    let mut child = taskie
        .command()
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

fn ended(child: Child) -> Ran {
    Ran::of(child.wait_with_output().unwrap())
}

/// A plan whose second review is due after a clean one, with a reviewer that does not end.
fn second_review() -> Taskie {
    let taskie = Taskie::with_state(json!({"next_phase": "plan-review"}));
    taskie.verdict("PASS");
    let first = begin(
        &taskie,
        "Stop",
        json!({"last_assistant_message": "written"}),
    );
    let _ = ended(first).held();
    taskie.post_review();
    endless(&taskie, "claude");
    taskie
}

fn stopping(taskie: &Taskie) -> Child {
    let hook = begin(taskie, "Stop", json!({"last_assistant_message": "done"}));
    wait_until("the reviewer starts", || started(taskie) == 1);
    hook
}

#[test]
fn a_reviewer_at_work_is_in_every_view() {
    let taskie = second_review();
    let hook = stopping(&taskie);
    let show = |args: &[&str]| taskie.run(args, b"").ok();
    let what = "plan review 2 of 8, sonnet, ";
    for args in [&["status"][..], &["why"], &["plan", "status"]] {
        let text = show(args);
        assert!(text.contains(what), "{args:?}: {text}");
        assert!(text.contains("s of 10m, streak 1"), "{args:?}: {text}");
        assert!(
            text.contains("`mainspring stop review` ends it"),
            "{args:?}: {text}"
        );
    }
    let line = show(&["status", "--line"]);
    assert!(line.starts_with("plan review 2 of 8, sonnet, "), "{line}");
    assert!(line.ends_with("s\n"), "{line}");
    let status: Value = serde_json::from_str(&show(&["status", "--json"])).unwrap();
    let work = &status["at_work"][0];
    assert_eq!(
        (
            &work["machine"],
            &work["what"],
            &work["number"],
            &work["of"]
        ),
        (
            &json!("review"),
            &json!("plan review"),
            &json!(2),
            &json!(8)
        )
    );
    assert_eq!(work["who"], "sonnet");
    assert!(work["deadline"].as_u64() > work["since"].as_u64());
    let plan: Value = serde_json::from_str(&show(&["plan", "status", "--json"])).unwrap();
    assert_eq!(plan["at_work"]["what"], "plan review");
    let _ = taskie.run(&["stop"], b"").ok();
    let _ = ended(hook).let_go();
    let after = show(&["status", "--line"]);
    assert!(!after.contains("2 of 8, sonnet"), "{after}");
}

#[test]
fn stop_and_pause_end_a_reviewer_and_nothing_is_consumed() {
    for order in [
        &["stop"][..],
        &["stop", "review"],
        &["pause", "1h"],
        &["pause", "1h", "review"],
        &[".mainspring-off"],
    ] {
        let taskie = second_review();
        let before = taskie.state_now();
        let hook = stopping(&taskie);
        let off = taskie.env.project().join(".mainspring-off");
        match order {
            [".mainspring-off"] => write(&off, ""),
            args => drop(taskie.run(args, b"").ok()),
        }
        let note = ended(hook).let_go();
        assert!(note.contains("cancelled"), "{order:?}: {note}");
        assert!(note.contains("plan review 2 of 8"), "{order:?}: {note}");
        wait_until("its processes are gone", || living(&taskie) == 0);
        assert_eq!(taskie.state_now(), before, "{order:?}");
        assert!(!taskie.has("plan-review-2.md"), "half a review is none");
        let status = taskie.run(&["plan", "status", "--json"], b"").json();
        let reviews = status["reviews"].as_array().unwrap();
        assert_eq!(reviews[1]["result"], json!({"not_done": "cancelled"}));
        assert_eq!(status["spent"], 250_000, "{order:?}: only the first");
    }
}

#[test]
fn a_cancelled_review_runs_again_after_resume_under_the_same_number() {
    let taskie = second_review();
    let hook = stopping(&taskie);
    let _ = taskie.run(&["stop", "review"], b"").ok();
    let _ = ended(hook).let_go();
    let own = taskie.env.root().join("bin/claude");
    let review = taskie.dir().join("plan-review-2.md");
    let said = r#"{"type":"result","structured_output":{"verdict":"FAIL"}}"#;
    let script = format!(
        "#!/bin/sh\necho '# R' > {}\necho '{said}'\n",
        review.display()
    );
    write(&own, &script);
    let _ = taskie.run(&["resume"], b"").ok();
    let event = payload(
        &taskie.env.project(),
        "Stop",
        json!({"last_assistant_message": "b"}),
    );
    let reason = taskie.run(&["hook"], event.to_string().as_bytes()).held();
    assert!(reason.contains("plan-review-2.md"), "{reason}");
}

#[test]
fn an_order_that_names_another_machine_ends_nothing() {
    let taskie = second_review();
    let mut hook = stopping(&taskie);
    let _ = taskie.run(&["stop", "loop"], b"").ok();
    // Long enough for many looks at the orders.
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert!(hook.try_wait().unwrap().is_none(), "it still waits");
    assert!(living(&taskie) > 0);
    let _ = taskie.run(&["stop", "review"], b"").ok();
    let _ = ended(hook).let_go();
}

#[test]
fn a_person_who_started_a_review_under_an_order_ends_it_with_the_next_one() {
    let taskie = second_review();
    let _ = taskie.run(&["pause", "1h", "review"], b"").ok();
    let mut command = taskie.command();
    let command = command
        .args(["plan", "review", "--now"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let review = command.spawn().unwrap();
    wait_until("the reviewer starts in spite of the pause", || {
        started(&taskie) == 1
    });
    let _ = taskie.run(&["stop", "review"], b"").ok();
    let said = ended(review).failed();
    assert!(said.contains("cancelled"), "{said}");
    wait_until("its processes are gone", || living(&taskie) == 0);
}

/// A claim whose pull request is opened at the next stop, with programs that do not end.
fn ready_claim() -> Taskie {
    let taskie = Taskie::new();
    let claim = json!({
        "schema_version": 1, "item_id": "", "issue_number": 42, "branch": "fix-42",
        "agent_id": "ada-1", "phase": "ready_for_pr", "summary": "Fix it",
        "status": "In Progress", "pr_number": null, "last_check_poll": null,
        "last_synced_status": "In Progress",
    });
    write(
        &taskie.env.project().join(".agent-claim.json"),
        &claim.to_string(),
    );
    endless(&taskie, "git");
    endless(&taskie, "gh");
    taskie
}

/// A host that has waited long enough kills its hook.
#[test]
fn a_killed_hook_leaves_none_of_its_programs() {
    let taskie = ready_claim();
    let mut hook = begin(&taskie, "Stop", json!({"last_assistant_message": "done"}));
    wait_until("git starts", || started(&taskie) == 1);
    let programs = taskie.env.root().join("bin/");
    let git = numbers_of(&programs.to_string_lossy()).remove(0);
    let keeper = format!("__keeper\0{git}\0");
    wait_until("it takes longer than a moment", || running(&keeper) == 1);
    hook.kill().unwrap();
    hook.wait().unwrap();
    wait_until("git dies with it", || living(&taskie) == 0);
    wait_until("and so does who saw to it", || running(&keeper) == 0);
}

#[test]
fn stop_ends_what_claim_runs_too() {
    let taskie = ready_claim();
    let hook = begin(&taskie, "Stop", json!({"last_assistant_message": "done"}));
    wait_until("git starts", || started(&taskie) == 1);
    let line = taskie.run(&["status", "--line"], b"").ok();
    assert!(
        line.starts_with("claim: opening the pull request of #42, "),
        "{line}"
    );
    let _ = taskie.run(&["stop"], b"").ok();
    let note = ended(hook).let_go();
    assert!(note.contains("cancelled"), "{note}");
    wait_until("its processes are gone", || living(&taskie) == 0);
    let file = fs::read_to_string(taskie.env.project().join(".agent-claim.json")).unwrap();
    let kept: Value = serde_json::from_str(&file).unwrap();
    assert_eq!(kept["phase"], "ready_for_pr", "nothing is consumed");
}
