//! What we register for Claude Code, as the real clients of other hosts come by it: a list of
//! arguments that they drop, our plugin, a project's shared settings, and Gemini's migration. None
//! of them refuses a prompt, and a stop is held once.

use std::path::Path;
use std::process::Command;

use mainspring_testkit::hosts::{Host, HostClient};
use mainspring_testkit::model::{Model, Turn};
use mainspring_testkit::process::Finished;

use crate::env::MAINSPRING;

fn ours() -> &'static Path {
    Path::new(MAINSPRING).parent().unwrap()
}

/// A copy of the marketplace of plugins that the repository is: some clients write beside it.
fn marketplace(client: &HostClient) -> String {
    let copy = client.home.join("marketplace");
    std::fs::create_dir(&copy).unwrap();
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let copied = Command::new("cp")
        .arg("-r")
        .args([".claude-plugin", "plugins"].map(|name| repository.join(name)))
        .arg(&copy)
        .status();
    assert!(copied.unwrap().success());
    copy.to_str().unwrap().to_owned()
}

fn said_twice() -> Model {
    Model::play([Turn::say("Hello."), Turn::say("I read it.")])
}

/// The client, with our programs on its PATH.
fn client(host: Host, model: &Model) -> Option<HostClient> {
    let mut client = HostClient::new(host, model)?;
    client.path_first(ours());
    Some(client)
}

fn mainspring(client: &HostClient, args: &[&str]) -> String {
    client.person(MAINSPRING, args)
}

/// One stop is held, and the agent is let go at the next.
fn held_once(client: &HostClient, model: &Model, run: impl FnOnce(&HostClient) -> Finished) {
    mainspring(client, &["pulse", "1"]);
    let run = run(client);
    let name = client.host.name();
    assert!(
        run.succeeded(),
        "{name}: {}{}",
        run.stdout_text(),
        run.stderr_text()
    );
    assert!(model.saw_text("Mainspring is connected"), "{name}");
    model.assert_played_out();
    let log = mainspring(client, &["log"]);
    let held = log.lines().filter(|line| line.contains(" held  ")).count();
    assert_eq!(held, 1, "{name}: {log}");
}

/// The form of earlier builds: a host that drops the arguments calls our bare name.
fn with_dropped_arguments(host: Host) {
    let model = said_twice();
    let Some(client) = client(host, &model) else {
        return;
    };
    for event in [host.prompt(), host.stop()] {
        client.hook_with_args(event, MAINSPRING, &["hook"]);
    }
    held_once(&client, &model, |client| client.run("hello"));
}

#[test]
fn codex_drops_the_arguments_and_is_answered_all_the_same() {
    with_dropped_arguments(Host::Codex);
}

#[test]
fn gemini_drops_the_arguments_and_is_answered_all_the_same() {
    with_dropped_arguments(Host::Gemini);
}

#[test]
fn qwen_drops_the_arguments_and_is_answered_all_the_same() {
    with_dropped_arguments(Host::Qwen);
}

#[test]
fn copilot_drops_the_arguments_and_is_answered_all_the_same() {
    with_dropped_arguments(Host::Copilot);
}

#[test]
fn our_plugin_works_in_codex() {
    let model = said_twice();
    let Some(client) = client(Host::Codex, &model) else {
        return;
    };
    client.client(&["plugin", "marketplace", "add", &marketplace(&client)]);
    client.client(&["plugin", "add", "mainspring@mainspring"]);
    held_once(&client, &model, |client| client.run("hello"));
}

#[test]
fn our_plugin_works_in_qwen() {
    let model = said_twice();
    let Some(client) = client(Host::Qwen, &model) else {
        return;
    };
    let plugin = format!("{}:mainspring", marketplace(&client));
    client.client(&["extensions", "install", &plugin, "--consent"]);
    held_once(&client, &model, |client| client.run("hello"));
}

#[test]
fn our_plugin_works_in_copilot() {
    let model = said_twice();
    let Some(client) = client(Host::Copilot, &model) else {
        return;
    };
    let plugin = format!("{}/plugins/mainspring", marketplace(&client));
    held_once(&client, &model, |client| {
        client.run_with(&["--plugin-dir", &plugin], "hello")
    });
}

const SHARED: [&str; 6] = ["install", "--host", "claude", "--scope", "project", "--yes"];

#[test]
fn the_settings_that_a_project_shares_work_in_copilot() {
    let model = said_twice();
    let Some(client) = client(Host::Copilot, &model) else {
        return;
    };
    mainspring(&client, &SHARED);
    held_once(&client, &model, |client| {
        client.run_with(&["--trust-folder"], "hello")
    });
}

#[test]
fn what_gemini_migrates_from_claude_code_works() {
    let model = said_twice();
    let Some(client) = client(Host::Gemini, &model) else {
        return;
    };
    mainspring(&client, &SHARED);
    client.client(&["hooks", "migrate", "--from-claude"]);
    held_once(&client, &model, |client| client.run("hello"));
}
