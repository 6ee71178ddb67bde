//! Five machines in one session of the real client, with the real client as the reviewer, real
//! `gh` and real `git`, until all five are satisfied. Every decision on the way is in a file in
//! the repository.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use mainspring_testkit::claude::Claude;
use mainspring_testkit::github::{Check, IssueState};
use mainspring_testkit::model::{Model, Request, Script, Turn};
use mainspring_testkit::process::wait_until;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::claim::world::{BRANCH, ORIGIN, World, git, world};
use crate::env::{MAINSPRING, finish};
use crate::review_client::{REVIEWER, review};
use crate::tasks::{STEPS, put};

const SKILL: &str = "---\nname: ship\ndescription: Ship it\n---\nShip the thing, step by step.\n";
const LOOP_DONE: &str = "<loop-done>COMPLETE</loop-done>";

/// The client in a checkout of `acme/widgets`, which a person trusted, with the plugin as it is
/// shipped and a skill with a task list.
fn client(world: &World, model: &Model) -> Option<Claude> {
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/mainspring");
    let bin = Path::new(MAINSPRING).parent().unwrap();
    let mut claude = Claude::new(model)?
        .plugin_dir(plugin)
        .path_first(bin)
        .env("USER", "ada")
        .env("MOLTNET_PROJECT_NUMBER", "1")
        .env("MAINSPRING_CLAIM_WATCH", "1s")
        .setting("env", json!({ "CLAUDE_CODE_ENABLE_TODO_TOOLS": "1" }));
    for (name, value) in world.github.env() {
        claude = claude.env(name, value);
    }
    world.bare.clone_as(ORIGIN, claude.project());
    let skill = claude.project().join(".claude/skills/ship");
    put(&skill.join("SKILL.md"), SKILL);
    put(&skill.join("fsm.json"), STEPS);
    mainspring(&claude, &["trust", "--yes"]);
    Some(claude)
}

fn mainspring(claude: &Claude, args: &[&str]) -> String {
    let ran = finish(claude.command(MAINSPRING).args(args), b"");
    assert_eq!(ran.code, Some(0), "{args:?}: {ran:?}");
    ran.stdout
}

fn bash(command: &str) -> Turn {
    Turn::call("Bash", json!({ "command": command, "description": "work" }))
}

fn done(task: &str) -> Turn {
    Turn::call(
        "TaskUpdate",
        json!({ "taskId": task, "status": "completed" }),
    )
}

/// The agent says its token, which contains its session's id.
fn token(before: &'static str) -> Turn {
    Turn::decide(move |request: &Request| {
        Turn::say(format!(
            "{before}\n\nTASKMASTER_DONE::{}",
            request.session()
        ))
    })
}

/// The agent answers a review of its plan.
fn answer(iteration: u32) -> Turn {
    let file = format!(".taskie/plans/demo/plan-post-review-{iteration}.md");
    bash(&format!(
        "echo fixed > {file} && mainspring plan advance post-plan-review"
    ))
}

fn script() -> Script {
    let work = format!(
        "git switch -q {BRANCH} && git commit -q --allow-empty -m Fix && \
         mainspring handoff --summary 'Fix race condition' --push"
    );
    let main = vec![
        // Five machines are set up.
        Turn::call("Skill", json!({ "skill": "ship" })),
        bash("mainspring gate on && mainspring loop start --max 10 && mainspring claim 42"),
        bash(
            "mkdir -p .taskie/plans/demo && printf '# Plan\\n\\n## Overview\\n' > \
             .taskie/plans/demo/plan.md && mainspring plan init demo",
        ),
        done("1"),
        Turn::say("The plan is written."),
        // Gate and loop hold, and no reviewer is started meanwhile.
        Turn::say(format!("There is nothing to iterate.\n\n{LOOP_DONE}")),
        // The signal is remembered. The gate still holds.
        token("And this is my word."),
        // Neither gate nor loop holds any more: the reviewer runs and finds something.
        answer(1),
        done("2"),
        Turn::say("I have answered it."),
        // One clean review.
        answer(2),
        bash(&work),
        done("3"),
        Turn::say("It is handed over."),
        // After the second one, the pull request is opened in the same stop.
        Turn::say("The pull request is open."),
        // The agent is let go. CI passes, and the pull request is merged.
        Turn::say("CI is green."),
        Turn::say("Shall I close issue 42?"),
        // The person says yes: the command closes the issue, and the gate asks again.
        bash("mainspring claim done"),
        Turn::say("It is closed."),
        token("Yes, all of it is done."),
    ];
    let verdicts = ["FAIL", "PASS", "PASS"].into_iter().flat_map(review);
    Script::new(main).when_told(REVIEWER, verdicts)
}

#[test]
fn five_machines_at_once_until_all_are_satisfied() {
    let Some(world) = world() else { return };
    let model = Model::play(script());
    let Some(claude) = client(&world, &model) else {
        return;
    };
    let terminal = claude.interactive();

    terminal.enter("ship issue 42");
    model.wait_for_text("PR #44 created");
    terminal.wait_for("PR #44, ");
    // The watcher looks at the pull request before its check is reported.
    wait_until("the watcher's first look", || {
        mainspring(&claude, &["claim", "status", "--json"]).contains("checks_running")
    });
    let head = git(claude.project(), &["rev-parse", "HEAD"]);
    let green = Check::completed("test", "SUCCESS");
    world.widgets().set_check(&head, green);
    model.wait_for_text("CI passed! All 1 check green.");
    terminal.wait_for("CI is green.");
    world.widgets().merge(44);
    model.wait_for_text("PR #44 merged! Should I close issue #42?");
    terminal.wait_for("Shall I close issue 42?");
    // A message that is typed before the agent has stopped is not an answer to its question.
    wait_until("the agent has stopped", || {
        let last = mainspring(&claude, &["why", "--json", "-n", "1"]);
        last.contains("\"stop\"") && last.contains("merged_detected")
    });
    terminal.enter("yes");
    terminal.wait_for("Yes, all of it is done.");
    terminal.wait_for("let go after 1 held stop (gate 1), ");
    model.assert_played_out();
    assert!(model.saw_text("Updated task #3 status"));

    assert_all_satisfied(&world, &claude);
    let told = history(&claude);
    insta::with_settings!({
        description => "every decision of the session, in order",
        omit_expression => true,
        prepend_module_to_snapshot => false,
        snapshot_path => "../snapshots",
        filters => vec![
            (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "[session]"),
            (r"\b(\d+m )?\d+s\b", "[span]"),
            (r"\b\d+ s\b", "[span]"),
            (r"ada-\w+", "[agent]"),
            (r"loop-\d+-\d+", "[loop]"),
        ],
    }, {
        insta::assert_snapshot!("all_five_machines_in_one_session", told);
    });
}

fn assert_all_satisfied(world: &World, claude: &Claude) {
    let status: Value = serde_json::from_str(&mainspring(claude, &["status", "--json"])).unwrap();
    let machines = status["machines"].as_array().unwrap();
    let state: BTreeMap<&str, &Value> = machines
        .iter()
        .map(|machine| (machine["name"].as_str().unwrap(), &machine["state"]))
        .collect();
    assert_eq!(state["gate"], "said", "{status}");
    assert!(
        matches!(state["loop"].as_str(), None | Some("idle")),
        "{status}"
    );
    assert_eq!(state["review"], "idle", "{status}");
    assert!(
        matches!(state["claim"].as_str(), None | Some("unclaimed")),
        "{status}"
    );

    // The client itself clears a list some seconds after its last task was completed.
    let session = status["session"].as_str().unwrap();
    let list = claude.home().join(".claude/tasks").join(session);
    let tasks = (1..=3).filter_map(|id| {
        let text = std::fs::read_to_string(list.join(format!("{id}.json"))).ok()?;
        serde_json::from_str::<Value>(&text).ok()
    });
    let open = tasks.filter(|task| task["status"] != "completed");
    assert_eq!(open.count(), 0);
    let plan = claude.project().join(".taskie/plans/demo/state.json");
    let plan: Value = serde_json::from_str(&std::fs::read_to_string(plan).unwrap()).unwrap();
    assert_eq!(plan["next_phase"], "create-tasks", "{plan}");
    assert!(!claude.project().join(".agent-claim.json").exists());
    let issue = world.widgets().issue(42);
    assert!(matches!(issue.state, IssueState::Closed { .. }));
    assert_eq!((world.github.prs_created(), world.github.closes()), (1, 1));
}

/// Every record as `log` shows it and `why` explains it. The number of polls without news
/// depends on the computer, so they are left out.
fn history(claude: &Claude) -> String {
    let why: Value = serde_json::from_str(&mainspring(
        claude,
        &["why", "--json", "--event", "any", "-n", "1000"],
    ))
    .unwrap();
    let explained: BTreeMap<u64, &Value> = why["decisions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["seq"].as_u64().unwrap(), one))
        .collect();
    let mut told = String::new();
    let mut number = 0;
    for line in mainspring(claude, &["log", "--json", "-n", "1000"]).lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let verb = &record["entry"]["verb"];
        let seq = record["seq"].as_u64().unwrap();
        let text = if verb.is_object() {
            command(verb)
        } else {
            let notes = &record["entry"]["turn"]["ruling"]["settled"]["answer"]["notes"];
            explain(explained[&seq], notes)
        };
        if text.is_empty() {
            continue;
        }
        number += 1;
        let _ = write!(told, "{number}. {text}");
    }
    told
}

fn command(verb: &Value) -> String {
    let (command, did) = (text(&verb["command"]), text(&verb["did"]));
    if did.starts_with("CI has not started") {
        return String::new();
    }
    format!("mainspring {command}: {did}\n")
}

fn explain(one: &Value, notes: &Value) -> String {
    let quiet = matches!(text(&one["event"]), "idle" | "session_end");
    if quiet && text(&one["outcome"]) != "told" {
        return String::new();
    }
    let mut out = format!(
        "{} {}: {}\n",
        text(&one["event"]),
        text(&one["outcome"]),
        text(&one["sentence"])
    );
    for machine in one["machines"].as_array().unwrap() {
        let _ = writeln!(
            out,
            "   {}: {} → {} ({})",
            text(&machine["machine"]),
            text(&machine["from"]),
            text(&machine["to"]),
            text(&machine["rule"])
        );
        if let Some(said) = machine["said"].as_str() {
            let _ = writeln!(out, "     “{}”", said.replace('\n', " "));
        }
    }
    for note in notes.as_array().into_iter().flatten() {
        let _ = writeln!(out, "   to the person: {}", text(&note["text"]));
    }
    out
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
