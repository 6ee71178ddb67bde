//! What the doctor finds, and what it says to do about it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::env::TestEnv;

/// Without `claude` and `gh`, which the machine may have or not.
fn alone() -> TestEnv {
    TestEnv::new().with("PATH", "/nonexistent")
}

/// The findings about one thing: level and text, and the exit code.
fn about(env: &TestEnv, thing: &str) -> (Vec<(String, String)>, i32) {
    let ran = env.run(&["doctor", "--json"]);
    let all: Value = serde_json::from_str(&ran.stdout).unwrap();
    let text = |one: &Value, field: &str| one[field].as_str().unwrap_or_default().to_owned();
    let all = all.as_array().unwrap().iter();
    let found = all
        .filter(|one| one["about"] == thing)
        .map(|one| {
            let fix = text(one, "fix");
            (text(one, "level"), format!("{} → {fix}", text(one, "what")))
        })
        .collect();
    (found, ran.code.unwrap())
}

fn says(env: &TestEnv, thing: &str, level: &str, words: &str) {
    let (found, _) = about(env, thing);
    let there = found
        .iter()
        .any(|(one, what)| one == level && what.contains(words));
    assert!(there, "{thing} should be {level} with {words:?}: {found:?}");
}

#[test]
fn a_set_up_without_us_is_an_error_and_names_the_command() {
    let env = alone();
    says(
        &env,
        "hooks",
        "error",
        "no hook of ours is registered → mainspring install",
    );
    assert_eq!(about(&env, "hooks").1, 1);
    env.run(&["install", "--yes"]).ok();
    says(&env, "hooks", "fine", "registered in");
    says(&env, "block cap", "fine", "100");
    says(&env, "task tools", "fine", "on");
    assert_eq!(
        about(&env, "hooks").1,
        3,
        "claude, gh and the PATH are missing here"
    );
    says(&env, "claude", "warning", "npm install");
    says(&env, "gh", "warning", "cli.github.com");
}

#[test]
fn a_registration_that_is_double_old_or_too_short_is_named() {
    let env = alone();
    env.run(&["install", "--yes"]).ok();
    env.run(&["install", "--yes", "--scope", "local"]).ok();
    says(&env, "hooks", "warning", "more than one settings file");
    env.run(&["uninstall", "--yes", "--scope", "local"]).ok();
    let file = env.home().join(".claude/settings.json");
    let good = fs::read_to_string(&file).unwrap();
    fs::write(&file, good.replace("\"timeout\": 720", "\"timeout\": 30")).unwrap();
    says(&env, "hooks", "warning", "Stop is given 30 s");
    let program = crate::env::MAINSPRING;
    fs::write(&file, good.replace(program, "/gone/mainspring")).unwrap();
    says(
        &env,
        "hooks",
        "error",
        "/gone/mainspring, which is not there → mainspring install",
    );
    let mut settings: Value = serde_json::from_str(&good).unwrap();
    settings["disableAllHooks"] = true.into();
    settings["enabledPlugins"] = json!({"mainspring@mainspring": true});
    settings["env"]["CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"] = "9".into();
    fs::write(&file, settings.to_string()).unwrap();
    let plugins = env.home().join(".claude/plugins");
    fs::create_dir_all(&plugins).unwrap();
    let list = json!({"plugins": {"mainspring@mainspring": [{}]}});
    fs::write(plugins.join("installed_plugins.json"), list.to_string()).unwrap();
    says(&env, "switched off", "error", "disableAllHooks");
    says(&env, "hooks", "warning", "registered twice: by the plugin");
    says(&env, "block cap", "warning", "after 9 blocks");
    fs::write(&file, "{ nonsense").unwrap();
    says(&env, "settings", "error", "settings.json");
}

#[test]
fn what_is_wrong_with_our_own_files_is_named_and_the_safe_part_put_right() {
    let env = alone();
    env.run(&["pulse", "3"]).ok();
    env.stop("one").held();
    let state = env.project_state();
    fs::write(state.join("pulse.json"), "{").unwrap();
    fs::write(state.join("orders.json"), "{").unwrap();
    fs::write(state.join("intent-pulse.json"), "{").unwrap();
    fs::write(state.join(".pulse.json.mainspring"), "half").unwrap();
    says(&env, "pulse", "error", "pulse.json");
    says(&env, "orders", "error", "orders.json");
    says(&env, "effects", "error", "intent-pulse.json");
    says(&env, "left over", "warning", "mainspring doctor --fix");
    fs::set_permissions(env.state(), fs::Permissions::from_mode(0o777)).unwrap();
    says(&env, "state", "error", "chmod 700");
    let fixed = env.run(&["doctor", "--fix"]).stdout;
    assert!(fixed.contains("fixed   state"), "{fixed}");
    assert!(fixed.contains("fixed   left over"), "{fixed}");
    says(&env, "state", "fine", "mainspring");
    let kept = fs::read_to_string(state.join("pulse.json")).unwrap();
    assert_eq!(kept, "{", "what a person may want is not touched");
}

#[test]
fn a_lock_a_clock_a_setting_and_an_order_are_looked_at() {
    let env = alone();
    env.run(&["pulse", "3"]).ok();
    let lock = fs::File::open(env.project_state().join("lock")).unwrap();
    lock.lock().unwrap();
    says(&env, "lock", "warning", "another process holds");
    drop(lock);
    env.run(&["stop"]).ok();
    says(&env, "orders", "warning", "stopped or paused");
    fs::write(
        env.project().join("mainspring.toml"),
        "[pulse]\nbeets = 1\n",
    )
    .unwrap();
    says(&env, "config", "warning", "did you mean pulse.beats?");
    says(&env, "journal", "fine", "2 records");
}

#[test]
fn the_settings_are_checked_with_line_and_column() {
    let env = TestEnv::new();
    let file = env.project().join("mainspring.toml");
    let checked = env.run(&["config", "check"]).ok();
    assert!(checked.contains("not there, which is fine"), "{checked}");
    fs::write(&file, "[pulse]\nbeats = 3\n").unwrap();
    assert!(
        env.run(&["config", "check"])
            .ok()
            .contains("mainspring.toml: 1 settings")
    );
    fs::write(&file, "[pulse]\nbeets = 3\n").unwrap();
    let warned = env.run(&["config", "check"]);
    assert_eq!(warned.code, Some(3));
    assert!(
        warned.stdout.contains("mainspring.toml: line 2, column 1: there is no setting pulse.beets; did you mean pulse.beats?"),
        "{warned:?}"
    );
    fs::write(&file, "[pulse]\nbeats = \"x\"\n").unwrap();
    let wrong = env.run(&["config", "check", file.to_str().unwrap()]);
    assert_eq!(wrong.code, Some(1));
    assert!(wrong.stdout.contains("line 2, column 9"), "{wrong:?}");
    assert!(
        env.run(&["config", "check", "nowhere.toml"])
            .failed()
            .contains("there is no file")
    );
    let schema: Value = env.run(&["config", "schema"]).json();
    assert_eq!(
        schema["properties"]["pulse"]["properties"]["beats"]["maximum"],
        100
    );
}

#[test]
fn a_loop_whose_client_is_gone_is_named() {
    let env = alone().with("CLAUDE_PID", "4194399");
    env.agent("s", &["loop", "start"]).ok();
    says(
        &env,
        "loop",
        "warning",
        "the client of its session s has ended",
    );
    let here = std::process::id().to_string();
    let env = alone().with("CLAUDE_PID", &here);
    env.agent("s", &["loop", "start"]).ok();
    let (found, _) = about(&env, "loop");
    assert!(found.iter().all(|(level, _)| level == "fine"), "{found:?}");
}
