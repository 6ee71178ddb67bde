//! The two ways to be registered, and both at once: the doctor is content with each, and nothing
//! answers or shows twice.

use std::fs;

use serde_json::{Value, json};

use super::Bench;
use crate::env::finish;

fn settings(bench: &Bench) -> Value {
    serde_json::from_str(&fs::read_to_string(bench.settings()).unwrap()).unwrap()
}

fn has_commands(bench: &Bench) -> bool {
    bench
        .env
        .home()
        .join(".claude/commands/mainspring")
        .exists()
}

#[test]
fn with_the_plugin_only_what_a_plugin_cannot_bring_is_added() {
    let bench = Bench::bare();
    bench.plugin();
    let said = bench.run(&["install", "--yes"]).ok();
    assert!(said.contains("the plugin brings the hooks"), "{said}");
    assert!(said.contains("proved: "), "{said}");
    let settings = settings(&bench);
    assert_eq!(settings.get("hooks"), None);
    assert_eq!(settings["env"]["CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"], "100");
    assert!(settings["statusLine"]["command"].is_string());
    assert!(!has_commands(&bench));
    assert_eq!(bench.findings(), Vec::<Value>::new());
}

/// The plugin has no event before a tool, so the settings get that one, and no other.
#[test]
fn with_the_plugin_a_guard_of_files_is_registered_by_itself() {
    let bench = Bench::bare();
    bench.plugin();
    bench.run(&["install", "--yes"]).ok();
    bench
        .run(&["config", "set", "tasks.guard_files", "true"])
        .ok();
    assert_eq!(bench.findings().len(), 1);
    let said = bench.run(&["install", "--yes"]).ok();
    assert!(said.contains("proved: "), "{said}");
    let hooks = settings(&bench)["hooks"].clone();
    let events: Vec<&String> = hooks.as_object().unwrap().keys().collect();
    assert_eq!(events, ["PreToolUse"]);
    assert_eq!(bench.findings(), Vec::<Value>::new());
    let doctor = bench.run(&["doctor"]).ok();
    assert!(doctor.contains("registered by the plugin"), "{doctor}");
    bench.run(&["uninstall", "--yes"]).ok();
    assert_eq!(settings(&bench).get("hooks"), None);
}

#[test]
fn a_plugin_that_comes_later_takes_over_at_the_next_install() {
    let bench = Bench::installed();
    assert!(has_commands(&bench));
    bench.plugin();
    assert_eq!(
        bench.findings(),
        Vec::<Value>::new(),
        "both at once are fine"
    );
    let doctor = bench.run(&["doctor"]).ok();
    assert!(
        doctor.contains("the plugin, which stays silent"),
        "{doctor}"
    );
    bench.run(&["install", "--yes"]).ok();
    assert_eq!(settings(&bench).get("hooks"), None);
    assert!(!has_commands(&bench));
    assert_eq!(bench.findings(), Vec::<Value>::new());
    bench.run(&["uninstall", "--yes"]).ok();
    let settings = settings(&bench);
    assert_eq!(settings.get("env"), None, "{settings}");
    assert_eq!(settings.get("statusLine"), None, "{settings}");
}

#[test]
fn with_both_one_of_them_answers() {
    let bench = Bench::installed();
    bench.plugin();
    bench.run(&["pulse", "9"]).ok();
    let stop = json!({
        "session_id": "s", "cwd": bench.env.project(), "hook_event_name": "Stop",
        "stop_hook_active": false,
    });
    let answers = |plugin: bool| {
        let mut command = bench.command();
        command
            .arg("hook")
            .env("CLAUDE_CODE_SESSION_ID", "s")
            .env("CLAUDE_PROJECT_DIR", bench.env.project());
        if plugin {
            command.env("CLAUDE_PLUGIN_ROOT", "/plugins/mainspring");
        }
        !finish(&mut command, stop.to_string().as_bytes())
            .ok()
            .is_empty()
    };
    assert!(!answers(true), "the plugin is silent");
    assert!(answers(false));
}

#[test]
fn a_plugin_that_is_switched_off_does_not_count() {
    let bench = Bench::bare();
    bench.plugin();
    bench.change(|settings| settings["enabledPlugins"] = json!({"mainspring@mainspring": false}));
    bench.run(&["install", "--yes"]).ok();
    assert!(settings(&bench)["hooks"]["Stop"].is_array());
}

#[test]
fn uninstalling_all_asks_the_client_to_remove_its_plugin() {
    let bench = Bench::bare();
    bench.plugin();
    bench.run(&["install", "--yes"]).ok();
    let told = bench.env.root().join("told");
    bench.program("claude", &format!("echo \"$@\" >> {}", told.display()));
    let shown = bench.run(&["uninstall", "--all", "--dry-run"]).ok();
    let command = "claude plugin uninstall mainspring@mainspring";
    assert!(shown.contains(command), "{shown}");
    assert!(!told.exists());
    let said = bench.run(&["uninstall", "--all", "--yes"]).ok();
    assert!(said.contains("the plugin is gone"), "{said}");
    let told = fs::read_to_string(told).unwrap();
    assert_eq!(told, "plugin uninstall mainspring@mainspring\n");
    bench.program("claude", "echo 'not now' >&2; exit 1");
    let failed = bench.run(&["uninstall", "--all", "--yes"]).failed();
    assert!(failed.contains("the plugin stays: not now"), "{failed}");
    assert!(failed.contains(command), "{failed}");
}
