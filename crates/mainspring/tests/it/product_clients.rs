//! The product as its users see it, in the real client.

use std::path::Path;

use mainspring_testkit::claude::Claude;
use mainspring_testkit::clients::{self, Client};
use mainspring_testkit::model::{Cue, Model, Turn};
use mainspring_testkit::process::{PATIENCE, Running};
use serde_json::Value;

use crate::env::MAINSPRING;

/// Runs a program in the client's environment; returns its stdout.
fn run(claude: &Claude, program: &str, args: &[&str]) -> String {
    let done = Running::start(claude.command(program).args(args)).wait(PATIENCE);
    assert!(
        done.succeeded(),
        "{args:?}: {}{}",
        done.stdout_text(),
        done.stderr_text()
    );
    done.stdout_text()
}

fn mainspring(claude: &Claude, args: &[&str]) -> String {
    run(claude, MAINSPRING, args)
}

fn held(claude: &Claude) -> usize {
    let log = mainspring(claude, &["log"]);
    log.lines().filter(|line| line.contains(" held  ")).count()
}

#[test]
fn an_installation_reaches_the_agent_once_and_an_uninstallation_not_at_all() {
    let model = Model::play([
        Turn::say("Hello."),
        Turn::say("I read beat one."),
        Turn::say("I read beat two."),
        Turn::say("Alone again."),
    ]);
    let Some(claude) = Claude::new(&model) else {
        return;
    };
    let claude = claude.in_repository();
    mainspring(&claude, &["install", "--scope", "local", "--yes"]);
    mainspring(&claude, &["install", "--scope", "local", "--yes"]);
    mainspring(&claude, &["pulse", "2"]);
    let answer = claude.run("say hello").expect_success();
    assert_eq!(answer.answer(), "I read beat two.");
    assert!(model.saw_text("Mainspring is connected (beat 2 of 2). "));
    assert!(
        model.saw_text("A child process said: mainspring"),
        "installing trusts"
    );
    assert_eq!(held(&claude), 2, "every event came once");

    mainspring(&claude, &["uninstall", "--scope", "local", "--yes"]);
    assert!(
        !claude
            .project()
            .join(".claude/settings.local.json")
            .exists()
    );
    mainspring(&claude, &["pulse", "2"]);
    let answer = claude.run("say hello").expect_success();
    assert_eq!(answer.answer(), "Alone again.");
    assert_eq!(held(&claude), 2);
}

#[test]
fn what_install_puts_into_the_users_settings_reaches_hooks_and_agent() {
    let model = Model::play([
        Turn::call(
            "Bash",
            serde_json::json!({
                "command": "echo cap=$CLAUDE_CODE_STOP_HOOK_BLOCK_CAP tools=$CLAUDE_CODE_ENABLE_TODO_TOOLS",
                "description": "look",
            }),
        ),
        Turn::say("Seen."),
    ]);
    let Some(claude) = Claude::new(&model) else {
        return;
    };
    let claude = claude.in_repository();
    mainspring(&claude, &["install", "--yes"]);
    claude.run("look").expect_success();
    assert!(
        model.saw_text("cap=100 tools=1"),
        "{:?}",
        model
            .requests()
            .last()
            .map(mainspring_testkit::model::Request::tool_results)
    );
}

#[test]
fn a_person_stops_it_from_another_terminal_while_the_agent_works() {
    let stopped = Cue::default();
    let model = Model::play([Turn::say("One."), Turn::say("Two.").on(&stopped)]);
    let Some(claude) = Claude::new(&model) else {
        return;
    };
    let claude = claude.in_repository();
    mainspring(&claude, &["install", "--scope", "local", "--yes"]);
    mainspring(&claude, &["pulse", "9"]);
    let asked = claude.ask("go on for ever").start();
    model.wait_for_text("Mainspring is connected (beat 1 of 9)");
    mainspring(&claude, &["stop"]);
    stopped.give();
    let answer = asked.wait().expect_success();
    assert_eq!(answer.answer(), "Two.");
    assert_eq!(held(&claude), 1);
}

#[test]
fn the_terminal_shows_feedback_and_a_receipt_and_no_error() {
    let model = Model::play([
        Turn::say("Hello."),
        Turn::say("I read it."),
        Turn::say("And again."),
    ]);
    let Some(claude) = Claude::new(&model) else {
        return;
    };
    let claude = claude.in_repository();
    mainspring(&claude, &["install", "--scope", "local", "--yes"]);
    mainspring(&claude, &["pulse", "2"]);
    let terminal = claude.interactive();
    terminal.enter("say hello");
    let screen = terminal.wait_for("let go after 2 held stops (pulse 2)");
    assert!(
        screen.contains("Stop hook feedback: Mainspring is connected (beat 1 of 2)"),
        "{screen}"
    );
    assert_eq!(
        screen.matches("`mainspring stop` ends it").count(),
        1,
        "{screen}"
    );
    assert!(!screen.contains("Stop hook error"), "{screen}");
}

fn repository() -> &'static Path {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    crates.and_then(Path::parent).unwrap()
}

/// The client with our program on its PATH, where plugins search for it.
fn with_program(model: &Model) -> Option<Claude> {
    let folder = Path::new(MAINSPRING).parent().unwrap();
    Some(Claude::new(model)?.in_repository().path_first(folder))
}

#[test]
fn the_plugin_is_installed_from_the_marketplace_and_its_hooks_run() {
    let model = Model::play([Turn::say("Hello."), Turn::say("I read it.")]);
    let Some(claude) = with_program(&model) else {
        return;
    };
    let Client::Installed(client) = clients::claude() else {
        return;
    };
    let client = client.to_str().unwrap();
    run(
        &claude,
        client,
        &[
            "plugin",
            "marketplace",
            "add",
            repository().to_str().unwrap(),
        ],
    );
    run(
        &claude,
        client,
        &["plugin", "install", "mainspring@mainspring"],
    );
    run(&claude, client, &["plugin", "install", "taskie@mainspring"]);
    mainspring(&claude, &["trust", "--yes"]);
    mainspring(&claude, &["pulse", "1"]);
    let answer = claude.run("say hello").expect_success();
    assert_eq!(answer.answer(), "I read it.");
    let findings: Value = serde_json::from_str(&{
        let done =
            Running::start(claude.command(MAINSPRING).args(["doctor", "--json"])).wait(PATIENCE);
        done.stdout_text()
    })
    .unwrap();
    let hooks = findings["findings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["about"] == "hooks");
    assert_eq!(hooks.unwrap()["what"], "registered by the plugin");
}

#[test]
fn a_plugin_folder_is_loaded_and_its_commands_are_there() {
    let model = Model::play([Turn::say("Hello."), Turn::say("I read it.")]);
    let Some(claude) = with_program(&model) else {
        return;
    };
    let claude = claude
        .plugin_dir(repository().join("plugins/mainspring"))
        .plugin_dir(repository().join("plugins/taskie"));
    mainspring(&claude, &["trust", "--yes"]);
    mainspring(&claude, &["pulse", "1"]);
    let answer = claude.run("/taskie:new-plan a small plan").expect_success();
    assert_eq!(answer.answer(), "I read it.");
    assert!(
        model.saw_text("actions/new-plan.md"),
        "the command reached the model"
    );
}

#[test]
fn a_user_without_a_second_terminal_stops_and_resumes_in_the_client() {
    let model = Model::play([
        Turn::say("First."),
        Turn::say("Second."),
        Turn::say("Third."),
        Turn::say("Fourth."),
        Turn::say("Fifth."),
    ]);
    let Some(claude) = with_program(&model) else {
        return;
    };
    let claude = claude.plugin_dir(repository().join("plugins/mainspring"));
    mainspring(&claude, &["loop", "start", "--max", "1"]);
    let terminal = claude.interactive();
    terminal.enter("/mainspring:stop");
    terminal.wait_for("nothing here holds the agent any more");
    terminal.enter("do it");
    terminal.wait_for("did not check this stop");
    assert_eq!(held(&claude), 0, "{}", mainspring(&claude, &["log"]));
    assert_eq!(model.requests().len(), 1, "no model is in the order's path");

    terminal.enter("/mainspring:resume");
    terminal.wait_for("everything here is resumed");
    terminal.enter("go on");
    terminal.wait_for("Third.");
    assert_eq!(held(&claude), 1, "{}", mainspring(&claude, &["log"]));
}
