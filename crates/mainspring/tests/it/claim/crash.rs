//! The process is killed at every system call while GitHub loses a reply: there is one pull
//! request and one close.
//!
//! All points share one GitHub and one git server; each has its own issue, branch, checkout and
//! home. With `MAINSPRING_CLAIM_SWEEP=all`, every call of the process is tried; without it,
//! some of those that touch files or children.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use mainspring_testkit::github::{Fault, IssueState, on};
use serde_json::{Value, json};

use super::world::{World, world};
use crate::env::{MAINSPRING, Ran, finish};

const CREATE: &str = "POST /repos/{owner}/{repo}/pulls";

/// One point: its own issue, in a copy of the checkout.
struct Point {
    issue: u64,
    place: PathBuf,
    home: PathBuf,
}

impl Point {
    fn new(world: &World, issue: u64, phase: &str, pr: Option<u64>) -> Self {
        let place = world.env.root().join(format!("point-{issue}"));
        let copied = Command::new("cp")
            .arg("-r")
            .arg(world.env.project())
            .arg(&place)
            .status()
            .unwrap();
        assert!(copied.success());
        let home = world.env.root().join(format!("home-{issue}"));
        let state = home.join(".local/state/mainspring");
        fs::create_dir_all(&state).unwrap();
        fs::set_permissions(&state, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        let trusted = world
            .env
            .command()
            .args(["trust", "--yes"])
            .env("HOME", &home)
            .current_dir(&place)
            .output();
        assert!(trusted.unwrap().status.success());
        let claim = json!({
            "schema_version": 1, "item_id": "", "issue_number": issue, "branch": branch(issue),
            "agent_id": "ada-1", "phase": phase, "summary": "Fix", "status": "In Progress",
            "pr_number": pr, "last_check_poll": null, "last_synced_status": "In Progress",
        });
        fs::write(place.join(".agent-claim.json"), claim.to_string()).unwrap();
        Self { issue, place, home }
    }

    /// The user has let the issue be closed.
    fn consented(self, world: &World) -> Self {
        // So that there is a folder for it.
        for args in [["pulse", "1"], ["pulse", "off"]] {
            let mut command = world.env.command();
            command.args(args).env("HOME", &self.home);
            finish(command.current_dir(&self.place), b"").ok();
        }
        let projects = self.home.join(".local/state/mainspring/projects");
        let folder = fs::read_dir(projects).unwrap().next().unwrap().unwrap();
        let memory = json!({ "issue": self.issue, "consent": "given" });
        fs::write(folder.path().join("claim.json"), memory.to_string()).unwrap();
        self
    }

    /// A stop, under strace if something is injected.
    fn stop(&self, world: &World, turn: usize, inject: Option<(&Path, &str)>) -> Ran {
        let stop = json!({
            "session_id": "s", "cwd": self.place, "hook_event_name": "Stop",
            "stop_hook_active": turn > 0, "last_assistant_message": format!("stop {turn}"),
        });
        self.hook(world, &stop, inject)
    }

    /// What may come between a kill and the next stop of the same session.
    fn between(&self, world: &World, index: usize) {
        let event = match index % 4 {
            0 => json!({"hook_event_name": "UserPromptSubmit", "prompt": "How far are you?"}),
            1 => json!({"hook_event_name": "SessionEnd", "reason": "other"}),
            2 => json!({"hook_event_name": "SessionStart", "source": "startup", "session_id": "t"}),
            _ => return,
        };
        let mut all = json!({"session_id": "s", "cwd": self.place});
        for (key, value) in event.as_object().unwrap() {
            all[key] = value.clone();
        }
        drop(self.hook(world, &all, None));
    }

    fn hook(&self, world: &World, event: &Value, inject: Option<(&Path, &str)>) -> Ran {
        let mut command = match inject {
            None => Command::new(MAINSPRING),
            Some((trace, inject)) => {
                let mut strace = Command::new("strace");
                strace.args(["-qq", "-o"]).arg(trace);
                if !inject.is_empty() {
                    strace.args(["-e", &format!("inject={inject}")]);
                }
                strace.arg(MAINSPRING);
                strace
            }
        };
        command
            .arg("hook")
            .env_clear()
            .envs(world.github.env())
            .env("MOLTNET_PROJECT_NUMBER", "1")
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", &self.home)
            .current_dir(&self.place);
        finish(&mut command, event.to_string().as_bytes())
    }

    fn claim(&self) -> Option<Value> {
        let text = fs::read_to_string(self.place.join(".agent-claim.json")).ok()?;
        Some(serde_json::from_str(&text).unwrap())
    }

    fn remove(&self) {
        fs::remove_dir_all(&self.place).unwrap();
        fs::remove_dir_all(&self.home).unwrap();
    }
}

fn branch(issue: u64) -> String {
    format!("fix-{issue}")
}

/// The system calls of a healthy stop, with the number of each.
fn calls(world: &World, point: &Point) -> BTreeMap<String, usize> {
    let trace = world.env.root().join("healthy");
    drop(point.stop(world, 0, Some((&trace, ""))));
    let mut counts = BTreeMap::new();
    for line in fs::read_to_string(trace).unwrap().lines() {
        if let Some((name, _)) = line.split_once('(')
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && !matches!(name, "execve" | "" | "exit_group")
        {
            *counts.entry(name.to_owned()).or_insert(0) += 1;
        }
    }
    counts
}

/// The points to try.
fn points(calls: &BTreeMap<String, usize>) -> Vec<(String, usize)> {
    let all = std::env::var_os("MAINSPRING_CLAIM_SWEEP").is_some();
    let matters = [
        "openat",
        "rename",
        "fdatasync",
        "flock",
        "futex",
        "clone3",
        "vfork",
        "unlink",
    ];
    let mut points = Vec::new();
    for (name, count) in calls {
        if all || matters.contains(&name.as_str()) {
            points.extend((1..=*count).map(|k| (name.clone(), k)));
        }
    }
    let step = if all {
        1
    } else {
        points.len().div_ceil(16).max(1)
    };
    points.into_iter().step_by(step).collect()
}

fn prepare(world: &World, issue: u64) {
    world.widgets().add_issue(issue, "Fix");
    world
        .board()
        .add_item(world.widgets(), issue, "In Progress");
    world.bare.commit(&branch(issue), "Work");
}

fn status(world: &World, issue: u64) -> String {
    world.board().item(issue).values["Status"].clone()
}

fn strace_is_there() -> bool {
    Command::new("strace")
        .arg("-V")
        .output()
        .is_ok_and(|output| output.status.success())
}

/// Tries every point of one path and reports the result of each.
#[expect(
    clippy::print_stdout,
    reason = "the number of points and their results"
)]
fn sweep(
    world: &World,
    phase: &str,
    fault: &'static str,
    mut make: impl FnMut(u64) -> Point,
    check: impl Fn(&Point, usize) -> Result<(), String>,
) {
    let first = make(1_000);
    let calls = calls(world, &first);
    first.remove();
    let points = points(&calls);
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    let mut fired = 0;
    for (index, (call, k)) in points.iter().enumerate() {
        let point = make(1_001 + index as u64);
        world.github.fault(on(fault), Fault::DropAfterCommit);
        let trace = world.env.root().join("trace");
        let inject = format!("{call}:signal=SIGKILL:when={k}");
        drop(point.stop(world, 0, Some((&trace, &inject))));
        fired += usize::from(
            fs::read_to_string(&trace)
                .unwrap()
                .contains("killed by SIGKILL"),
        );
        point.between(world, index);
        let mut stops = 0;
        let end = loop {
            match check(&point, stops) {
                Ok(()) => break format!("right after {stops} more stops"),
                Err(problem) if stops == 2 => panic!("killed at {call} #{k}: {problem}"),
                Err(_) => {
                    stops += 1;
                    drop(point.stop(world, stops, None));
                }
            }
        };
        *ends.entry(end).or_insert(0) += 1;
        world.github.clear_faults();
        point.remove();
    }
    // Because of threads, the number of calls may differ by one or two between runs.
    assert!(
        fired * 10 >= points.len() * 8,
        "{fired} of {} fired",
        points.len()
    );
    println!("{phase}: {} points, {fired} fired: {ends:?}", points.len());
}

#[test]
fn a_pull_request_is_created_once_wherever_the_hook_is_killed() {
    let Some(world) = world() else { return };
    if !strace_is_there() {
        return;
    }
    let make = |issue| {
        prepare(&world, issue);
        Point::new(&world, issue, "ready_for_pr", None)
    };
    sweep(&world, "ready_for_pr", CREATE, make, |point, _| {
        let claim = point.claim().ok_or("the claim file is gone")?;
        let pulls: Vec<u64> = world
            .widgets()
            .pulls()
            .iter()
            .filter(|pull| pull.head == branch(point.issue))
            .map(|pull| pull.number)
            .collect();
        // A session that started has looked at it.
        let opened = ["pr_created", "checks_running"].contains(&claim["phase"].as_str().unwrap());
        match pulls.as_slice() {
            [one] if opened && claim["pr_number"] == *one => {}
            [] | [_] => return Err(format!("{pulls:?} {claim}")),
            more => panic!("{} pull requests for one claim: {more:?}", more.len()),
        }
        match status(&world, point.issue).as_str() {
            "In Review" => Ok(()),
            other => Err(format!("the card says {other}")),
        }
    });
}

#[test]
fn an_issue_is_closed_once_wherever_the_hook_is_killed() {
    let Some(world) = world() else { return };
    if !strace_is_there() {
        return;
    }
    let make = |issue| {
        prepare(&world, issue);
        Point::new(&world, issue, "done", Some(7)).consented(&world)
    };
    sweep(&world, "done", "closeIssue", make, |point, _| {
        let issue = world.widgets().issue(point.issue);
        assert!(
            issue.closes <= 1 && issue.comments.len() <= 1,
            "twice: {issue:?}"
        );
        if !matches!(issue.state, IssueState::Closed { .. }) {
            return Err("it is open".into());
        }
        if issue.comments.len() != 1 || !issue.comments[0].body.starts_with("Completed in #7") {
            return Err(format!("{:?}", issue.comments));
        }
        match (status(&world, point.issue).as_str(), point.claim()) {
            ("Done", None) => Ok(()),
            (card, claim) => Err(format!("the card says {card}, the file {claim:?}")),
        }
    });
}
