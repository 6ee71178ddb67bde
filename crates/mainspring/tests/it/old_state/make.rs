//! Makes the fixtures, with the build that they are about.

use std::fs;
use std::process::{Command, Stdio};

use mainspring_testkit::github::Check;
use mainspring_testkit::process::wait_until;
use serde_json::{Value, json};

use super::{NextEvent, Story, fixture, outcome, place, read};
use crate::claim::world::world;
use crate::env::{TestEnv, payload};

use crate::taskie::{Taskie, write};
use crate::tasks::STEPS;

/// Run `MAINSPRING_TEST_PROGRAM=<an earlier build> cargo nextest run -p mainspring
/// --run-ignored only make_the_stories`, after giving [`super::FIXTURE`] a new name.
#[test]
#[ignore = "writes the fixture, by another build"]
fn make_the_stories_of_an_earlier_build() {
    let stop = |words: &str| next("Stop", json!({ "last_assistant_message": words }));
    let asked = || next("UserPromptSubmit", json!({ "prompt": "go on" }));
    for (name, env, next) in [
        (
            "gate-held",
            gate_held(),
            vec![stop("c"), stop("TASKMASTER_DONE::s")],
        ),
        ("gate-gave-up", gate_gave_up(), vec![stop("c"), asked()]),
        (
            "loop",
            loop_of_two(),
            vec![stop("b"), stop("<issue-complete>DONE</issue-complete>")],
        ),
        ("loop-page", loop_page(), vec![stop("b")]),
        ("review", reviewed(), vec![stop("c")]),
        ("review-under-way", review_under_way(), vec![stop("b")]),
        ("claim", claimed(), vec![asked(), stop("b")]),
        (
            "tasks",
            hydrated(),
            vec![next("PostToolUse", skill("fresh")), stop("b")],
        ),
        ("orders", ordered(), vec![stop("b")]),
        ("installed", installed(), vec![stop("b")]),
    ] {
        let files = kept(&env);
        let then = outcome(&place(&files), &next);
        let story = Story { files, next, then };
        let text = serde_json::to_string_pretty(&story).unwrap();
        write(&fixture().join(format!("{name}.json")), &(text + "\n"));
    }
}

fn next(event: &str, fields: Value) -> NextEvent {
    NextEvent {
        event: event.into(),
        fields,
    }
}

/// The story's files, without those of other programs or of this computer.
fn kept(env: &TestEnv) -> std::collections::BTreeMap<String, String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let of_the_story = |name: &String| {
        !name.contains("/.git/") && !name.ends_with("/lock") && !name.ends_with(".gitignore")
    };
    read(env)
        .into_iter()
        .filter(|(name, _)| of_the_story(name))
        .map(|(name, text)| (name, text.replace(boot.trim(), "an-earlier-boot")))
        .collect()
}

/// The fixture's loop must not become stale before the test runs.
fn patient(env: &TestEnv) {
    let config = env.home().join(".config/mainspring/config.toml");
    write(&config, "[loop]\nttl = \"1000000h\"\n");
}

fn gate_held() -> TestEnv {
    let env = TestEnv::new();
    env.agent("s", &["gate", "on"]).ok();
    env.stop("a").held();
    env.stop("b").held();
    env
}

/// The gate gives up while a loop holds the stop, so its file says that it gave up.
fn gate_gave_up() -> TestEnv {
    let env = TestEnv::new();
    patient(&env);
    write(
        &env.project().join("mainspring.toml"),
        "[gate]\nenabled = true\nmax = 2\n",
    );
    env.stop("a").held();
    env.agent("s", &["loop", "start"]).ok();
    env.stop("b").held();
    env
}

fn loop_of_two() -> TestEnv {
    let env = TestEnv::new();
    patient(&env);
    env.agent("s", &["loop", "start", "--mode", "grind"]).ok();
    env.stop("a").held();
    env.agent("s", &["loop", "push", "--mode", "issue", "--max", "5"])
        .ok();
    env.stop("aa").held();
    env
}

fn loop_page() -> TestEnv {
    let env = TestEnv::new();
    patient(&env);
    env.run(&["trust"]).ok();
    let page =
        "---\nactive: true\nmode: loop\niteration: 3\nmax_iterations: 9\n---\n\nDo it all.\n";
    write(&env.project().join(".claude/idle-loop.local.md"), page);
    env.stop("a").held();
    env
}

fn planned() -> Taskie {
    let taskie = Taskie::with_state(json!({"next_phase": "plan-review", "kept": [1.50, null]}));
    let _ = taskie.run(&["trust"], b"").ok();
    taskie
}

fn stop_of(taskie: &Taskie, words: &str) -> Command {
    let mut command = taskie.command();
    let event = payload(
        &taskie.env.project(),
        "Stop",
        json!({ "last_assistant_message": words }),
    );
    let file = taskie.env.root().join("event.json");
    fs::write(&file, event.to_string()).unwrap();
    command.arg("hook").stdin(fs::File::open(file).unwrap());
    command
}

/// One review is done and answered, and the next is due.
fn reviewed() -> TestEnv {
    let taskie = planned();
    let output = stop_of(&taskie, "a").output().unwrap();
    assert!(
        String::from_utf8(output.stdout)
            .unwrap()
            .contains("plan-review-1.md")
    );
    taskie.post_review();
    taskie.file("plan-post-review-1.md", "# Answered\n");
    taskie.env
}

/// The hook was killed while its reviewer worked.
fn review_under_way() -> TestEnv {
    let taskie = planned();
    taskie.set("MOCK_CLAUDE_DELAY", "300");
    let mut hook = stop_of(&taskie, "a").stdout(Stdio::null()).spawn().unwrap();
    wait_until("the reviewer starts", || !taskie.calls().is_empty());
    hook.kill().unwrap();
    hook.wait().unwrap();
    assert!(
        taskie
            .env
            .project_state()
            .join("intent-review-demo.json")
            .exists()
    );
    taskie.env
}

/// A pull request is open, its checks have passed, and the message about it is unread.
fn claimed() -> TestEnv {
    let world = world().unwrap();
    let _ = world.env.agent("s", &["claim", "42"]).ok();
    let head = world.work();
    world.edit(json!({ "phase": "ready_for_pr", "summary": "Fix" }));
    world.stop("done").held();
    world
        .widgets()
        .set_check(&head, Check::completed("test", "SUCCESS"));
    assert!(world.idle().ok().contains("Checks passed"));
    fs::remove_dir_all(world.env.project().join(".git")).unwrap();
    world.into_env()
}

fn skill(name: &str) -> Value {
    json!({
        "tool_name": "Skill", "tool_input": { "skill": name },
        "tool_response": { "success": true, "commandName": name }, "tool_use_id": name,
    })
}

fn hydrated() -> TestEnv {
    let env = TestEnv::new();
    for name in ["steps", "fresh"] {
        write(
            &env.project()
                .join(format!(".claude/skills/{name}/fsm.json")),
            STEPS,
        );
    }
    let _ = env.hook("PostToolUse", skill("steps")).ok();
    env.agent("s", &["tasks", "start", "1"]).ok();
    env
}

fn ordered() -> TestEnv {
    let env = gate_held();
    patient(&env);
    env.agent("s", &["loop", "start"]).ok();
    env.run(&["stop", "gate"]).ok();
    env.run(&["observe"]).ok();
    env.stop("x").let_go();
    env
}

fn installed() -> TestEnv {
    let env = TestEnv::new();
    write(
        &env.home().join(".claude/settings.json"),
        "{\n  \"theirs\": 1\n}\n",
    );
    env.run(&["install", "--yes"]).ok();
    env.run(&["trust"]).ok();
    env.run(&["pulse", "3"]).ok();
    env.stop("a").held();
    env
}
