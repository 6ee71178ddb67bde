//! The two ways to be registered, and both at once, in the real client: every event comes once,
//! and every command shows once.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use mainspring_testkit::claude::Claude;
use mainspring_testkit::clients::{self, Client};
use mainspring_testkit::model::{Model, Turn};
use mainspring_testkit::process::{PATIENCE, Running};
use serde_json::{Value, json};

use crate::env::MAINSPRING;

fn run(claude: &Claude, program: &Path, args: &[&str]) -> String {
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
    run(claude, Path::new(MAINSPRING), args)
}

/// Our commands, as a session that says one word shows them.
fn commands(claude: &Claude, client: &Path) -> Vec<String> {
    let args = ["-p", "hello", "--output-format", "stream-json", "--verbose"];
    let said = run(claude, client, &args);
    let lines = said
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut lists = lines.filter_map(|line| line.get("slash_commands").cloned());
    let list = lists.next().unwrap();
    let names = list.as_array().unwrap().iter().filter_map(Value::as_str);
    let ours = names.filter(|name| name.starts_with("mainspring:") || name.contains("completion-"));
    let mut ours: Vec<String> = ours.map(str::to_owned).collect();
    ours.sort();
    ours
}

const COMMANDS: [&str; 7] = [
    "mainspring:claim",
    "mainspring:completion-checklist",
    "mainspring:handoff",
    "mainspring:loop",
    "mainspring:pause",
    "mainspring:resume",
    "mainspring:stop",
];

fn held(claude: &Claude) -> usize {
    let log = mainspring(claude, &["log"]);
    log.lines().filter(|line| line.contains(" held  ")).count()
}

#[test]
fn by_install_by_the_plugin_and_by_both_every_event_and_command_comes_once() {
    let words = ["One.", "Two.", "Three.", "Four.", "Five.", "Six."];
    let model = Model::play(words.map(Turn::say));
    let Client::Installed(client) = clients::claude() else {
        return;
    };
    let Some(claude) = Claude::new(&model) else {
        return;
    };
    let ours = Path::new(MAINSPRING).parent().unwrap();
    let claude = claude.in_repository().path_first(ours);
    let said = mainspring(&claude, &["install", "--yes"]);
    assert!(
        said.contains("proved: a stop, sent as Claude Code sends it, was held"),
        "{said}"
    );
    mainspring(&claude, &["pulse", "1"]);
    assert_eq!(commands(&claude, &client), COMMANDS, "by install");
    assert_eq!(held(&claude), 1, "by install");

    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let repository = repository.canonicalize().unwrap();
    let add = ["plugin", "marketplace", "add", repository.to_str().unwrap()];
    run(&claude, &client, &add);
    run(
        &claude,
        &client,
        &["plugin", "install", "mainspring@mainspring"],
    );
    mainspring(&claude, &["pulse", "1"]);
    assert_eq!(commands(&claude, &client), COMMANDS, "by both");
    assert_eq!(held(&claude), 2, "by both");

    let said = mainspring(&claude, &["install", "--yes"]);
    assert!(said.contains("the plugin brings the hooks"), "{said}");
    mainspring(&claude, &["pulse", "1"]);
    assert_eq!(commands(&claude, &client), COMMANDS, "by the plugin");
    assert_eq!(held(&claude), 3, "by the plugin");

    mainspring(&claude, &["uninstall", "--all", "--yes"]);
    let list = run(&claude, &client, &["plugin", "list"]);
    assert!(!list.contains("mainspring@mainspring"), "{list}");
}

#[test]
fn a_guard_of_files_works_after_install_and_ends_with_its_setting() {
    let list = Arc::new(OnceLock::<PathBuf>::new());
    let look = || {
        let list = Arc::clone(&list);
        Turn::decide(move |_| Turn::call("Read", json!({ "file_path": list.get().unwrap() })))
    };
    let model = Model::play([look(), Turn::say("Denied."), look(), Turn::say("Read.")]);
    let Client::Installed(client) = clients::claude() else {
        return;
    };
    let Some(claude) = Claude::new(&model) else {
        return;
    };
    let ours = Path::new(MAINSPRING).parent().unwrap();
    let claude = claude.in_repository().path_first(ours);
    let file = claude.project().join(".claude/skills/ship/fsm.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, r#"[{"id":1,"subject":"the secret step"}]"#).unwrap();
    list.set(file).unwrap();
    mainspring(&claude, &["config", "set", "tasks.guard_files", "true"]);
    mainspring(&claude, &["install", "--yes"]);
    run(&claude, &client, &["-p", "look"]);
    assert!(!model.saw_text("the secret step"));
    assert!(model.saw_text("fsm.json"), "{:?}", model.requests());
    mainspring(&claude, &["config", "unset", "tasks.guard_files"]);
    mainspring(&claude, &["install", "--yes"]);
    run(&claude, &client, &["-p", "look"]);
    assert!(model.saw_text("the secret step"));
    model.assert_played_out();
}
