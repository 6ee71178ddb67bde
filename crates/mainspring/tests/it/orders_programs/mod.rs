//! A person's orders apply to every path that can start a program, hold a stop or wake an
//! agent. Every program that we know is replaced by a stand-in that only records its start.

mod beyond;
mod everything;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::env::{Ran, TestEnv, finish, payload};
use crate::taskie::{TASKS, write};

/// A running loop, as `jwz` prints it.
const MESSAGE: &str = r#"[{"id":"1","body":"{\"schema\":1,\"event\":\"STATE\",\"run_id\":\"loop-1-1\",\"updated_at\":\"2099-01-01T00:00:00Z\",\"stack\":[{\"id\":\"a\",\"mode\":\"issue\",\"iter\":4,\"max\":9}]}"}]"#;

/// A trusted project in which every program is a stand-in.
struct Place {
    env: TestEnv,
}

impl Place {
    fn new() -> Self {
        let env = TestEnv::new();
        let bin = env.root().join("bin");
        fs::create_dir(&bin).unwrap();
        let log = env.root().join("started");
        let script = |name: &str, says: &str| {
            let text = format!(
                "#!/bin/sh\necho {name} \"$@\" >> {}\n{says}\n",
                log.display()
            );
            write(&bin.join(name), &text);
            fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        };
        script("gh", "echo '{}'");
        script("claude", "echo 1.0.0");
        script(
            "git",
            "case \"$*\" in *get-regexp*remote*) printf 'remote.origin.url\\nhttps://github.com/acme/widgets.git\\0' ;; esac",
        );
        script("jwz", &format!("[ \"$1\" = read ] && echo '{MESSAGE}'"));
        let path = format!("{}:/usr/bin:/bin", bin.display());
        let place = Self {
            env: env.with("PATH", &path).with("USER", "ada"),
        };
        place.env.trust();
        place
    }

    /// The programs that were started since the last call of this.
    fn started(&self) -> Vec<String> {
        let log = self.env.root().join("started");
        let text = fs::read_to_string(&log).unwrap_or_default();
        let _ = fs::remove_file(&log);
        text.lines().map(str::to_owned).collect()
    }

    fn file(&self, path: &str, text: &str) {
        write(&self.env.project().join(path), text);
    }

    fn order(&self, order: &[&str]) {
        match order {
            [".mainspring-off"] => self.file(".mainspring-off", ""),
            args => drop(self.env.run(args).ok()),
        }
        assert_eq!(self.started(), [""; 0], "an order starts nothing");
    }

    fn resume(&self, order: &[&str]) {
        match order {
            [".mainspring-off"] => {
                fs::remove_file(self.env.project().join(".mainspring-off")).unwrap();
            }
            ["observe"] => drop(self.env.run(&["observe", "off"]).ok()),
            _ => drop(self.env.run(&["resume"]).ok()),
        }
    }

    /// Runs the binary as a host does: in the environment of its session.
    fn host(&self, args: &[&str], event: &Value) -> Ran {
        let mut command = self.env.command();
        command.args(args).env("CLAUDE_CODE_SESSION_ID", "s");
        finish(&mut command, event.to_string().as_bytes())
    }

    fn event(&self, event: &str, fields: Value) -> Value {
        payload(&self.env.project(), event, fields)
    }

    fn hook(&self, event: &str, fields: Value) -> Ran {
        self.host(&["hook"], &self.event(event, fields))
    }
}

fn jwz_loop(place: &Place) {
    // So that the session is known.
    let rests = json!({ "notification_type": "idle_prompt" });
    place.env.hook("Notification", rests).ok();
    fs::create_dir(place.env.project().join(".jwz")).unwrap();
}

fn due_review(place: &Place) {
    place.file(".taskie/plans/demo/plan.md", "# Plan\n\n## Overview\n");
    place.file(".taskie/plans/demo/tasks.md", TASKS);
    let state = json!({
        "max_reviews": 8, "current_task": "1", "phase": "new-plan", "phase_iteration": 0,
        "next_phase": "plan-review", "review_model": "opus", "consecutive_clean": 0, "tdd": false,
    });
    place.file(".taskie/plans/demo/state.json", &state.to_string());
}

/// A plan without a state: git has to tell how far it is.
fn bare_plan(place: &Place) {
    place.file(".taskie/plans/demo/plan.md", "# Plan\n\n## Overview\n");
}

fn claim(place: &Place, phase: &str, pr: Option<u64>) {
    let claim = json!({
        "schema_version": 1, "item_id": "", "issue_number": 42, "branch": "fix-42",
        "agent_id": "ada-1", "phase": phase, "summary": "Fix it", "status": "In Progress",
        "pr_number": pr, "last_check_poll": null, "last_synced_status": "In Progress",
    });
    place.file(".agent-claim.json", &claim.to_string());
}

fn ready(place: &Place) {
    claim(place, "ready_for_pr", None);
}

fn with_pull_request(place: &Place) {
    claim(place, "checks_running", Some(7));
}

fn merged(place: &Place) {
    claim(place, "merged_detected", Some(7));
}

/// A message that is a reason to wake the agent.
fn mail(place: &Place) {
    with_pull_request(place);
    // This creates the folder for it.
    place.env.run(&["pulse", "1"]).ok();
    place.env.run(&["pulse", "off"]).ok();
    let mail = json!({ "issue": 42, "owner": "s", "mail": [
        { "topic": "ci", "weight": "wake", "at": 0, "text": "CI failed" }
    ]});
    write(
        &place.env.project_state().join("claim.json"),
        &mail.to_string(),
    );
}

fn gate(place: &Place) {
    place.env.run(&["gate", "on", "--project"]).ok();
}

fn pulse(place: &Place) {
    place.env.run(&["pulse", "3"]).ok();
}

fn board(place: &Place) {
    place.file("mainspring.toml", "[claim]\nproject = 1\n");
    place.env.trust();
}

/// A check that a person trusted. It runs git, because its key is taken over the tree.
fn checked(place: &Place) {
    let settings = "[[check]]\nname = \"tests\"\nrun = [\"claude\"]\n";
    place.file("mainspring.toml", settings);
    place.env.trust();
    place.started();
}

fn nothing(_: &Place) {}

/// What a path does without an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    Starts(&'static str),
    Holds,
    Tells,
}

/// One path to a program, a hold or a message to the agent.
struct Way {
    what: &'static str,
    machine: &'static str,
    prepare: fn(&Place),
    run: fn(&Place) -> Ran,
    does: Does,
}

#[rustfmt::skip]
const EVENTS: &[Way] = &[
    Way { what: "a stop, with a loop in jwz", machine: "loop", prepare: jwz_loop, run: stop, does: Does::Starts("jwz") },
    Way { what: "a stop, with a due review", machine: "review", prepare: due_review, run: stop, does: Does::Starts("claude") },
    Way { what: "a stop, with a check", machine: "check", prepare: checked, run: stop, does: Does::Starts("git") },
    Way { what: "a stop, with work handed over", machine: "claim", prepare: ready, run: stop, does: Does::Starts("git") },
    Way { what: "a stop, with the gate on", machine: "gate", prepare: gate, run: stop, does: Does::Holds },
    Way { what: "a stop, with pulse", machine: "pulse", prepare: pulse, run: stop, does: Does::Holds },
    Way { what: "a stop, with mail", machine: "claim", prepare: mail, run: stop, does: Does::Holds },
    Way { what: "an idle agent, with a pull request", machine: "claim", prepare: with_pull_request, run: idle, does: Does::Starts("git") },
    Way { what: "a start, with a board", machine: "claim", prepare: board, run: start, does: Does::Starts("git") },
    Way { what: "a start, with a loop in jwz", machine: "loop", prepare: jwz_loop, run: start, does: Does::Starts("jwz") },
    Way { what: "an end, with a loop in jwz", machine: "loop", prepare: jwz_loop, run: end, does: Does::Starts("jwz") },
    Way { what: "a prompt, with a loop in jwz", machine: "loop", prepare: jwz_loop, run: prompt, does: Does::Starts("jwz") },
    Way { what: "a prompt, with mail", machine: "claim", prepare: mail, run: prompt, does: Does::Tells },
    Way { what: "a typed command, with a loop in jwz", machine: "loop", prepare: jwz_loop, run: expansion, does: Does::Starts("jwz") },
    Way { what: "compat idle", machine: "loop", prepare: jwz_loop, run: compat_idle, does: Does::Starts("jwz") },
    Way { what: "compat taskie", machine: "review", prepare: due_review, run: compat_taskie, does: Does::Starts("claude") },
    Way { what: "compat agent-sync on-stop", machine: "claim", prepare: ready, run: sync_stop, does: Does::Starts("git") },
    Way { what: "compat agent-sync on-idle", machine: "claim", prepare: with_pull_request, run: sync_idle, does: Does::Starts("git") },
    Way { what: "compat agent-sync session-start", machine: "claim", prepare: board, run: sync_start, does: Does::Starts("git") },
    Way { what: "compat taskmaster", machine: "gate", prepare: nothing, run: compat_taskmaster, does: Does::Holds },
];

fn stop(place: &Place) -> Ran {
    place.hook("Stop", json!({ "last_assistant_message": "done" }))
}

fn idle(place: &Place) -> Ran {
    place.hook(
        "Notification",
        json!({ "notification_type": "idle_prompt", "message": "waiting" }),
    )
}

fn start(place: &Place) -> Ran {
    place.hook("SessionStart", json!({ "source": "startup" }))
}

fn end(place: &Place) -> Ran {
    place.hook("SessionEnd", json!({ "reason": "clear" }))
}

fn prompt(place: &Place) -> Ran {
    place.hook("UserPromptSubmit", json!({ "prompt": "go on" }))
}

fn expansion(place: &Place) -> Ran {
    place.hook(
        "UserPromptExpansion",
        json!({ "command_name": "help", "command_source": "project" }),
    )
}

fn compat_idle(place: &Place) -> Ran {
    place.host(&["compat", "idle"], &place.event("Stop", json!({})))
}

fn compat_taskie(place: &Place) -> Ran {
    place.host(&["compat", "taskie"], &place.event("Stop", json!({})))
}

fn compat_taskmaster(place: &Place) -> Ran {
    let transcript = place.env.root().join("transcript.jsonl");
    write(&transcript, &"{}\n".repeat(40));
    let event = place.event("Stop", json!({ "transcript_path": transcript }));
    place.host(&["compat", "taskmaster"], &event)
}

fn sync_stop(place: &Place) -> Ran {
    place.host(
        &["compat", "agent-sync", "on-stop"],
        &place.event("Stop", json!({})),
    )
}

fn sync_idle(place: &Place) -> Ran {
    place.host(
        &["compat", "agent-sync", "on-idle"],
        &place.event("Notification", json!({})),
    )
}

fn sync_start(place: &Place) -> Ran {
    let event = place.event("SessionStart", json!({ "source": "startup" }));
    place.host(&["compat", "agent-sync", "session-start"], &event)
}

/// Every order that covers this machine.
fn orders(machine: &'static str) -> [Vec<&'static str>; 6] {
    [
        vec!["stop"],
        vec!["stop", machine],
        vec!["pause", "1h"],
        vec!["pause", "1h", machine],
        vec!["observe"],
        vec![".mainspring-off"],
    ]
}

/// Was the agent held?
fn held(ran: &Ran) -> bool {
    // A drop-in spaces its answer as the public script does.
    let answer = serde_json::from_str::<Value>(&ran.stdout).unwrap_or_default();
    ran.code == Some(2) || answer["decision"] == "block" || told(ran)
}

/// Was the agent told anything?
fn told(ran: &Ran) -> bool {
    ran.stdout.contains("additionalContext")
}

fn starts(started: &[String], program: &str) -> bool {
    started.iter().any(|line| line.starts_with(program))
}

#[test]
fn without_an_order_every_event_does_what_it_is_there_for() {
    for way in EVENTS {
        let place = Place::new();
        (way.prepare)(&place);
        let ran = (way.run)(&place);
        let started = place.started();
        let did = match way.does {
            Does::Starts(program) => starts(&started, program),
            Does::Holds => held(&ran),
            Does::Tells => told(&ran),
        };
        assert!(did, "{}: {ran:?} {started:?}", way.what);
    }
}

#[test]
fn under_an_order_no_event_starts_holds_or_says_anything() {
    for way in EVENTS {
        for order in orders(way.machine) {
            let place = Place::new();
            (way.prepare)(&place);
            place.order(&order);
            let ran = (way.run)(&place);
            let what = format!("{} under {order:?}: {ran:?}", way.what);
            assert_eq!(place.started(), [""; 0], "{what}");
            assert!(!held(&ran) && !told(&ran), "{what}");
            assert_eq!(ran.code, Some(0), "{what}");
        }
    }
}

/// A command that starts a program.
struct Verb {
    agent: &'static [&'static str],
    person: &'static [&'static str],
    machine: &'static str,
    prepare: fn(&Place),
    starts: &'static str,
    refused: Refused,
}

/// How an agent's command ends under an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refused {
    /// It fails, and says why.
    Wholly,
    /// It works without the program.
    Program,
}

#[rustfmt::skip]
const VERBS: &[Verb] = &[
    Verb { agent: &["claim", "42"], person: &["claim", "42"], machine: "claim", prepare: nothing, starts: "gh", refused: Refused::Wholly },
    Verb { agent: &["claim", "status", "--now"], person: &["claim", "status", "--now"], machine: "claim", prepare: with_pull_request, starts: "gh", refused: Refused::Wholly },
    Verb { agent: &["claim", "abort"], person: &["claim", "abort"], machine: "claim", prepare: with_pull_request, starts: "gh", refused: Refused::Wholly },
    Verb { agent: &["claim", "done"], person: &["claim", "done", "--yes"], machine: "claim", prepare: merged, starts: "gh", refused: Refused::Wholly },
    Verb { agent: &["claim", "list"], person: &["claim", "list"], machine: "claim", prepare: nothing, starts: "git", refused: Refused::Wholly },
    Verb { agent: &["claim", "release", "42"], person: &["claim", "release", "42"], machine: "claim", prepare: nothing, starts: "git", refused: Refused::Wholly },
    Verb { agent: &["handoff", "--summary", "Fix it", "--push"], person: &["handoff", "--summary", "Fix it", "--push"], machine: "claim", prepare: ready, starts: "git", refused: Refused::Wholly },
    Verb { agent: &["plan", "review", "--now"], person: &["plan", "review", "--now"], machine: "review", prepare: due_review, starts: "claude", refused: Refused::Wholly },
    Verb { agent: &["plan", "route"], person: &["plan", "route"], machine: "review", prepare: bare_plan, starts: "git", refused: Refused::Program },
    Verb { agent: &["loop", "status"], person: &["loop", "status"], machine: "loop", prepare: jwz_loop, starts: "jwz", refused: Refused::Wholly },
    Verb { agent: &["loop", "list"], person: &["loop", "list"], machine: "loop", prepare: jwz_loop, starts: "jwz", refused: Refused::Wholly },
    Verb { agent: &["loop", "abort"], person: &["loop", "abort"], machine: "loop", prepare: jwz_loop, starts: "jwz", refused: Refused::Wholly },
    Verb { agent: &["loop", "push"], person: &["loop", "push"], machine: "loop", prepare: jwz_loop, starts: "jwz", refused: Refused::Wholly },
    Verb { agent: &["loop", "adopt", "--session", "s"], person: &["loop", "adopt", "--session", "s"], machine: "loop", prepare: jwz_loop, starts: "jwz", refused: Refused::Wholly },
    Verb { agent: &["loop", "start", "--store", "jwz"], person: &["loop", "start", "--store", "jwz"], machine: "loop", prepare: jwz_loop, starts: "jwz", refused: Refused::Wholly },
    Verb { agent: &["status"], person: &["status"], machine: "loop", prepare: jwz_loop, starts: "jwz", refused: Refused::Program },
    Verb { agent: &["graph", "loop"], person: &["graph", "loop"], machine: "loop", prepare: jwz_loop, starts: "jwz", refused: Refused::Program },
    Verb { agent: &["check"], person: &["check"], machine: "check", prepare: checked, starts: "git", refused: Refused::Program },
    Verb { agent: &["doctor"], person: &["doctor"], machine: "claim", prepare: nothing, starts: "gh", refused: Refused::Program },
    Verb { agent: &["doctor"], person: &["doctor"], machine: "review", prepare: nothing, starts: "claude", refused: Refused::Program },
];

#[test]
fn under_an_order_no_command_of_an_agents_starts_the_machines_program() {
    for verb in VERBS {
        for order in orders(verb.machine) {
            let place = Place::new();
            (verb.prepare)(&place);
            place.order(&order);
            let ran = place.env.agent("s", verb.agent);
            let started = place.started();
            let what = format!("{:?} under {order:?}: {ran:?} {started:?}", verb.agent);
            assert!(!starts(&started, verb.starts), "{what}");
            if verb.refused == Refused::Wholly {
                let why = format!("nothing is started for {}: ", verb.machine);
                assert!(ran.failed().contains(&why), "{what}");
                assert_eq!(started, [""; 0], "{what}");
            }
        }
    }
}

#[test]
fn a_persons_command_starts_it_under_every_order_and_an_agents_without_one() {
    for verb in VERBS {
        for order in orders(verb.machine) {
            let place = Place::new();
            (verb.prepare)(&place);
            place.order(&order);
            let ran = match verb.person {
                ["claim", "done", ..] => place.env.in_terminal(verb.person),
                person => place.env.run(person),
            };
            let started = place.started();
            let what = format!("{:?} under {order:?}: {ran:?} {started:?}", verb.person);
            assert!(starts(&started, verb.starts), "{what}");
        }
        let place = Place::new();
        (verb.prepare)(&place);
        let ran = place.env.agent("s", verb.agent);
        let started = place.started();
        let what = format!("{:?}: {ran:?} {started:?}", verb.agent);
        assert!(starts(&started, verb.starts), "{what}");
    }
}
