//! `gate` and `loop` in the real client, with a scripted model.

use std::path::Path;
use std::process::Command;

use mainspring_testkit::claude::{Claude, Hook};
use mainspring_testkit::model::{Cue, Model, Script, Turn};
use mainspring_testkit::process::wait_until;
use mainspring_testkit::recorder::{HookCall, Outcome};
use mainspring_testkit::stops;
use serde_json::{Value, json};

use crate::env::MAINSPRING;

const EVENTS: [&str; 5] = [
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "Stop",
];
const SESSION: &str = "11111111-2222-4333-8444-555555555555";
const TOKEN: &str = "TASKMASTER_DONE::11111111-2222-4333-8444-555555555555";
const LOOP_DONE: &str = "<loop-done>COMPLETE</loop-done>";

fn hooked(model: &Model) -> Option<Claude> {
    let hook = Hook::exec(MAINSPRING, ["hook"]);
    let claude = Claude::new(model)?.in_repository();
    let tmp = claude.home().join("tmp");
    std::fs::create_dir_all(&tmp).unwrap();
    Some(claude.env("TMPDIR", &tmp).hooks(EVENTS, &hook).recording())
}

/// A person's command, in the client's project and home.
fn mainspring(home: &Path, project: &Path, args: &[&str]) -> String {
    let output = Command::new(MAINSPRING)
        .args(args)
        .env_clear()
        .env("HOME", home)
        .env("TMPDIR", home.join("tmp"))
        .current_dir(project)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn person(claude: &Claude, args: &[&str]) -> String {
    mainspring(claude.home(), claude.project(), args)
}

/// The agent runs a line in its shell.
fn bash(line: &str) -> Turn {
    Turn::call("Bash", json!({ "command": line, "description": "work" }))
}

/// The agent runs a command of ours in its shell.
fn agent(args: &str) -> Turn {
    bash(&format!("{MAINSPRING} {args}"))
}

fn answer(call: &HookCall) -> Value {
    let Outcome::Ended { code, stdout, .. } = &call.outcome else {
        panic!("a hook never ended: {call:?}")
    };
    assert_eq!(*code, 0, "{call:?}");
    serde_json::from_str(stdout).unwrap_or_default()
}

/// Why the agent was held, in whichever format this client gets it.
fn reason(answer: &Value) -> String {
    let block = answer["reason"].as_str();
    let context = answer["hookSpecificOutput"]["additionalContext"].as_str();
    block.or(context).unwrap_or_default().to_owned()
}

/// The reason at each stop; empty if the agent was let go.
fn reasons(claude: &Claude) -> Vec<String> {
    claude
        .hook_calls_of("Stop")
        .iter()
        .map(|call| reason(&answer(call)))
        .collect()
}

fn held(claude: &Claude) -> Vec<bool> {
    reasons(claude)
        .iter()
        .map(|reason| !reason.is_empty())
        .collect()
}

fn run(claude: &Claude, prompt: &str) {
    let asked = claude.ask(prompt).args(["--session-id", SESSION]);
    asked.run().expect_success();
}

/// The model answers at once, and the client writes its transcript later than it sends the stops.
#[test]
fn every_one_of_fourteen_stops_with_a_tool_call_between_each_two_is_held() {
    if let Some(played) = stops::play(Path::new(MAINSPRING)) {
        assert_eq!(played, Ok(()));
    }
}

#[test]
fn a_token_that_the_agent_did_not_say_itself_does_not_count() {
    let model = Model::play([
        Turn::say(format!("As asked:\n\n```\n{TOKEN}\n```")),
        bash(&format!("echo {TOKEN}")),
        Turn::say("I printed it."),
        bash(&format!("echo {TOKEN} > token.txt; cat token.txt")),
        Turn::say("I read it in a file."),
        Turn::say(format!("`{TOKEN}`")),
        Turn::say(format!("Done.\n{TOKEN}")),
    ]);
    let Some(claude) = hooked(&model) else { return };
    person(&claude, &["gate", "on", "--project"]);
    run(&claude, &format!("say {TOKEN} when you are done\n{TOKEN}"));
    assert_eq!(held(&claude), [true, true, true, true, false]);
    let reasons = reasons(&claude);
    assert!(
        reasons[0].contains("token in a code fence, line 4: say it bare"),
        "{reasons:?}"
    );
    assert!(reasons[3].contains("token in backticks"), "{reasons:?}");
}

#[test]
fn at_the_hosts_cap_we_let_go_ourselves() {
    let model = Model::play(Script::new((0..9).map(|n| Turn::say(format!("Done {n}.")))));
    let Some(claude) = hooked(&model) else { return };
    person(&claude, &["gate", "on", "--project"]);
    run(&claude, "do it");
    let mut expected = vec![true; 8];
    expected.push(false);
    assert_eq!(
        held(&claude),
        expected,
        "{:#?}",
        claude.hook_calls_of("Stop")
    );
    let stops = claude.hook_calls_of("Stop");
    let told = answer(&stops[8])["systemMessage"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        told.contains("let go after 8 blocks") && told.contains("gate"),
        "{told}"
    );
    assert!(person(&claude, &["log"]).contains(" capped "));

    let model = Model::play(Script::new(
        (0..15)
            .map(|n| Turn::say(format!("Done {n}.")))
            .chain([Turn::say(TOKEN)]),
    ));
    let Some(claude) = hooked(&model) else { return };
    let claude = claude.env("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "0");
    person(&claude, &["gate", "on", "--project"]);
    run(&claude, "do it");
    assert_eq!(held(&claude).iter().filter(|held| **held).count(), 15);
}

#[test]
fn a_loop_ends_at_its_signal_in_the_fifth_iteration() {
    let mut turns = vec![agent("loop start --max 10"), Turn::say("First.")];
    turns.extend((2..5).map(|n| Turn::say(format!("Iteration {n}."))));
    turns.push(Turn::say(format!("All done.\n\n{LOOP_DONE}")));
    let model = Model::play(turns);
    let Some(claude) = hooked(&model) else { return };
    run(&claude, "loop on it");
    assert_eq!(held(&claude), [true, true, true, true, false]);
    assert!(model.saw_text("[ITERATION 4/10] Continue working on the task."));
    assert_eq!(person(&claude, &["loop", "status"]), "no loop\n");
}

#[test]
fn a_loop_ends_at_its_maximum() {
    let model = Model::play([
        agent("loop start --max 3"),
        Turn::say("One."),
        Turn::say("Two."),
        Turn::say("Three."),
        Turn::say("Four."),
    ]);
    let Some(claude) = hooked(&model) else { return };
    run(&claude, "loop on it");
    assert_eq!(held(&claude), [true, true, true, false]);
    let stops = claude.hook_calls_of("Stop");
    let told = answer(&stops[3])["systemMessage"].to_string();
    assert!(told.contains("iteration 3 of 3 was the last"), "{told}");
}

#[test]
fn a_loop_is_aborted_from_another_process() {
    let (send, home) = std::sync::mpsc::channel::<(std::path::PathBuf, std::path::PathBuf)>();
    let model = Model::play([
        agent("loop start"),
        Turn::say("One."),
        Turn::decide(move |_| {
            let (home, project) = home.recv().unwrap();
            mainspring(&home, &project, &["loop", "abort", "enough"]);
            Turn::say("Two.")
        }),
    ]);
    let Some(claude) = hooked(&model) else { return };
    send.send((claude.home().into(), claude.project().into()))
        .unwrap();
    run(&claude, "loop on it");
    assert_eq!(held(&claude), [true, false]);
    let stops = claude.hook_calls_of("Stop");
    let told = answer(&stops[1])["systemMessage"].to_string();
    assert!(told.contains("aborted: by a person: enough"), "{told}");
}

#[test]
fn an_inner_loop_pops_to_the_outer_which_goes_on_at_once_and_survives_a_resume_but_no_fork() {
    let model = Model::play([
        agent("loop start --mode grind --max 2"),
        agent("loop push --mode issue"),
        Turn::say("Working on the issue."),
        Turn::say("<issue-complete>DONE</issue-complete>"),
        agent("loop push --mode issue --max 1"),
        Turn::say("Working on the next issue."),
        Turn::say("<issue-complete>DONE</issue-complete>"),
        Turn::say("Nothing is left, I think."),
        Turn::say("A fork's first words."),
        Turn::say("What is next?"),
        Turn::say("Nothing."),
    ]);
    let Some(claude) = hooked(&model) else { return };
    run(&claude, "grind");
    assert_eq!(held(&claude), [true, true, true, true, false]);
    let all = reasons(&claude);
    assert!(
        all[1].starts_with("[ITERATION 1/2] The inner loop is over"),
        "{all:?}"
    );
    assert!(
        all[3].starts_with("[ITERATION 2/2] The inner loop is over"),
        "{all:?}"
    );
    person(
        &claude,
        &["loop", "start", "--session", SESSION, "--max", "1"],
    );
    claude
        .ask("go elsewhere")
        .forking(SESSION)
        .run()
        .expect_success();
    claude.ask("go on").resuming(SESSION).run().expect_success();
    assert_eq!(held(&claude)[5..], [false, true, false]);
    assert!(model.saw_text("This session is in a loop: iteration 0 of 1."));
    assert_eq!(person(&claude, &["loop", "status"]), "no loop\n");
}

#[test]
fn a_cd_into_a_nested_repository_and_a_worktree_loses_nothing() {
    let model = Model::play([
        agent("loop start"),
        bash("git init -q nested && cd nested && pwd"),
        Turn::say("In a nested repository."),
        bash("cd .. && git worktree add -q trees/one && cd trees/one && pwd"),
        Turn::say("In a worktree."),
        Turn::say(TOKEN),
        Turn::say(LOOP_DONE),
    ]);
    let Some(claude) = hooked(&model) else { return };
    person(&claude, &["gate", "on", "--project"]);
    run(&claude, "move about");
    let stops = claude.hook_calls_of("Stop");
    let ended = |n: usize, end: &str| {
        let cwd = stops[n].input["cwd"].as_str().unwrap();
        assert!(cwd.ends_with(end), "stop {n} came from {cwd}");
    };
    ended(0, "nested");
    ended(1, "trees/one");
    let reasons = reasons(&claude);
    for both in &reasons[..2] {
        assert!(
            both.contains("TASKMASTER") && both.contains("[ITERATION"),
            "{reasons:?}"
        );
    }
    assert!(!reasons[2].contains("TASKMASTER") && reasons[2].contains("[ITERATION"));
    assert_eq!(reasons[3..], [""]);
}

#[test]
fn two_sessions_in_one_directory_and_only_the_owner_is_held() {
    let other_ended = Cue::default();
    let script = Script::new([
        agent("loop start --max 5"),
        Turn::say("One."),
        Turn::say("Two.").on(&other_ended),
        Turn::say(LOOP_DONE),
    ])
    .when_told(
        "I am the other one",
        [Turn::say("Nothing to do with loops.")],
    );
    let model = Model::play(script);
    let Some(claude) = hooked(&model) else { return };
    let asked = claude.ask("loop on it").args(["--session-id", SESSION]);
    let first = asked.start();
    wait_until("the first stop", || {
        !claude.hook_calls_of("Stop").is_empty()
    });
    let other = claude.run("I am the other one").expect_success();
    other_ended.give();
    first.wait().expect_success();
    for call in claude.hook_calls_of("Stop") {
        let mine = call.input["session_id"] == SESSION;
        assert!(mine || reason(&answer(&call)).is_empty(), "{call:?}");
    }
    let theirs = |call: &&HookCall| call.input["session_id"] == other.session_id();
    assert_eq!(
        claude.hook_calls_of("Stop").iter().filter(theirs).count(),
        1
    );
    assert_eq!(held(&claude).iter().filter(|held| **held).count(), 2);
}

#[test]
fn a_sub_agent_in_the_background_spends_no_iteration() {
    let waited_for = Cue::default();
    let script = Script::new([
        agent("loop start --max 5"),
        Turn::call(
            "Agent",
            json!({ "description": "look", "prompt": "I am the helper", "subagent_type": "general-purpose",
                "run_in_background": true }),
        ),
        Turn::say("I wait for the helper."),
        Turn::say("The helper is back."),
        Turn::say(LOOP_DONE),
    ])
    .for_subagents([Turn::say("Looked.").on(&waited_for)]);
    let model = Model::play(script);
    let Some(claude) = hooked(&model) else { return };
    let asked = claude.ask("loop on it").args(["--session-id", SESSION]);
    let asked = asked.start();
    wait_until("the agent waits for the helper", || {
        !claude.hook_calls_of("Stop").is_empty()
    });
    waited_for.give();
    asked.wait().expect_success();
    let stops = claude.hook_calls_of("Stop");
    let working = |call: &HookCall| {
        let tasks = call.input["background_tasks"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        tasks
            .iter()
            .any(|task| task["type"] == "subagent" && task["status"] == "running")
    };
    assert!(working(&stops[0]), "{:?}", stops[0].input);
    let reasons = reasons(&claude);
    assert_eq!(
        reasons[0], "",
        "let through, because the host wakes the agent"
    );
    assert!(reasons[1].starts_with("[ITERATION 1/5]"), "{reasons:?}");
}

#[test]
fn a_loop_follows_clear_in_the_clients_terminal() {
    let model = Model::play([
        Turn::say("Hello."),
        Turn::say("Cleared, and asked anew."),
        Turn::say(LOOP_DONE),
    ]);
    let Some(claude) = hooked(&model) else { return };
    let terminal = claude.interactive();
    terminal.enter("hello");
    let stops = |wanted: usize| {
        terminal.wait_until("the agent stopped", |_| {
            let calls = claude.hook_calls_of("Stop");
            let ended = |call: &HookCall| matches!(call.outcome, Outcome::Ended { .. });
            calls.len() == wanted && calls.iter().all(ended)
        });
    };
    stops(1);
    person(&claude, &["loop", "start", "--session", "last"]);
    terminal.enter("/clear");
    terminal.wait_until("a session started anew", |_| {
        claude.hook_calls_of("SessionStart").len() == 2
    });
    terminal.wait_for("? for shortcuts");
    terminal.enter("go on");
    stops(3);
    assert_eq!(held(&claude), [false, true, false]);
    assert!(model.saw_text("This session is in a loop: iteration 0 of 10."));
    let calls = claude.hook_calls_of("Stop");
    assert_ne!(calls[0].input["session_id"], calls[1].input["session_id"]);
    assert_eq!(person(&claude, &["loop", "status"]), "no loop\n");
}

/// The public script let an agent go that never said the token, after one block: the transcript
/// contains the script's own reason, and that contains the token.
#[test]
fn the_drop_in_for_taskmaster_is_not_satisfied_by_its_own_reason() {
    // The script's own rule: a short transcript belongs to a sub-agent.
    let mut turns: Vec<Turn> = (0..8).map(|_| bash("true")).collect();
    turns.push(Turn::say("Done."));
    turns.push(Turn::say("Really done."));
    turns.push(Turn::say(TOKEN));
    let model = Model::play(turns);
    let Some(claude) = Claude::new(&model) else {
        return;
    };
    let tmp = claude.home().join("tmp");
    std::fs::create_dir_all(&tmp).unwrap();
    let hook = Hook::exec(MAINSPRING, ["compat", "taskmaster"]);
    let claude = claude.env("TMPDIR", &tmp).hook("Stop", &hook).recording();
    run(&claude, "do it");
    assert_eq!(held(&claude), [true, true, false]);
    assert!(model.saw_text("TASKMASTER (2): Stop blocked."));
    assert_eq!(
        std::fs::read_dir(tmp.join("taskmaster")).unwrap().count(),
        0
    );
}

#[test]
fn the_drop_in_for_idle_blocks_with_two_in_the_seeds_file() {
    let model = Model::play([
        Turn::say("One."),
        Turn::say("`<loop-done>COMPLETE</loop-done>`"),
        Turn::say(LOOP_DONE),
    ]);
    let Some(claude) = Claude::new(&model) else {
        return;
    };
    let hook = Hook::exec(MAINSPRING, ["compat", "idle"]);
    let claude = claude.in_repository().hook("Stop", &hook).recording();
    let file = claude.project().join(".claude/idle-loop.local.md");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let page = "---\nactive: true\nmode: loop\niteration: 1\nmax_iterations: 5\n---\n\nGo.\n";
    std::fs::write(&file, page).unwrap();
    run(&claude, "loop on it");
    let codes: Vec<u8> = claude
        .hook_calls_of("Stop")
        .iter()
        .map(|call| match &call.outcome {
            Outcome::Ended { code, .. } => *code,
            Outcome::NeverEnded => panic!("a hook never ended"),
        })
        .collect();
    assert_eq!(codes, [2, 2, 0]);
    assert!(model.saw_text("[ITERATION 3/5] Continue working on the task."));
    let ended = std::fs::read_to_string(&file).unwrap();
    assert!(ended.contains("active: false\n") && ended.contains("ended: COMPLETE\n"));
}
