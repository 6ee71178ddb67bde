//! What the doctor finds, and what it says to do about it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use mainspring_testkit::files::sealed;
use serde_json::{Value, json};

use crate::env::TestEnv;

/// An environment without `claude` and `gh`, which this computer may or may not have.
fn alone() -> TestEnv {
    TestEnv::new().with("PATH", "/nonexistent")
}

/// The findings about one subject, each with level and text, and the exit code.
fn about(env: &TestEnv, thing: &str) -> (Vec<(String, String)>, i32) {
    let ran = env.run(&["doctor", "--json"]);
    let all: Value = serde_json::from_str(&ran.stdout).unwrap();
    let text = |one: &Value, field: &str| one[field].as_str().unwrap_or_default().to_owned();
    let all = all["findings"].as_array().unwrap().iter();
    for one in all.clone().filter(|one| one["level"] != "fine") {
        assert!(one["fix"].is_string(), "what should a person type? {one}");
    }
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
        "mainspring's hooks are not registered → mainspring install",
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
    says(
        &env,
        "hooks",
        "warning",
        "registered in the user settings and in the local settings",
    );
    env.run(&["uninstall", "--yes", "--scope", "local"]).ok();
    let file = env.home().join(".claude/settings.json");
    let good = fs::read_to_string(&file).unwrap();
    fs::write(&file, good.replace("\"timeout\": 3000", "\"timeout\": 30")).unwrap();
    says(
        &env,
        "hooks",
        "warning",
        "Stop has a timeout of 30 s, too short",
    );
    let program = crate::env::MAINSPRING;
    fs::write(&file, good.replace(program, "/gone/mainspring")).unwrap();
    says(
        &env,
        "hooks",
        "error",
        "/gone/mainspring-hook, which does not exist → mainspring install",
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
    says(&env, "plugin", "fine", "the plugin does not load");
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
    for name in ["pulse.json", "orders.json", "intent-pulse.json"] {
        assert!(!state.join(name).exists(), "{fixed}");
        let names = fs::read_dir(&state).unwrap().map(|entry| entry.unwrap());
        let aside = names
            .map(|entry| entry.path())
            .find(|path| path.to_string_lossy().contains(&format!("{name}.aside-")));
        let kept = fs::read_to_string(aside.unwrap()).unwrap();
        assert_eq!(kept, "{", "what a person may want is kept");
    }
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
    env.trust();
    says(&env, "config", "warning", "did you mean pulse.beats?");
    says(&env, "journal", "fine", "2 records");
}

#[test]
fn the_settings_are_checked_with_line_and_column() {
    let env = TestEnv::new();
    let file = env.project().join("mainspring.toml");
    let checked = env.run(&["config", "check"]).ok();
    assert!(
        checked.contains("does not exist, which is fine"),
        "{checked}"
    );
    fs::write(&file, "[pulse]\nbeats = 3\n").unwrap();
    assert!(
        env.run(&["config", "check"])
            .ok()
            .contains("mainspring.toml: 1 setting\n")
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

/// Puts this script first on the PATH under this name.
fn program(env: &TestEnv, name: &str, script: &str) {
    let file = env.root().join("bin").join(name);
    fs::create_dir_all(env.root().join("bin")).unwrap();
    fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
}

fn with_programs() -> TestEnv {
    let env = TestEnv::new();
    let path = format!("{}:/usr/bin:/bin", env.root().join("bin").display());
    env.with("PATH", &path)
}

#[test]
fn programs_are_asked_for_their_version_and_their_rights() {
    let env = with_programs();
    says(&env, "program", "fine", " days old, ");
    program(&env, "claude", "echo '2.1.325 (Claude Code)'");
    says(
        &env,
        "claude",
        "fine",
        "2.1.325, a version that the tests run",
    );
    program(&env, "claude", "echo '1.0.0 (Claude Code)'");
    says(&env, "claude", "warning", "1.0.0 is older than 2.1.197");
    program(&env, "claude", "echo '2.1.400 (Claude Code)'");
    says(&env, "claude", "fine", "2.1.400; the tests run 2.1.325");
    program(&env, "claude", "echo 'no such library' >&2; exit 127");
    says(&env, "claude", "warning", "no such library");

    program(&env, "gh", "echo 'You are not logged in' >&2; exit 1");
    says(&env, "gh", "warning", "pull requests → gh auth login");
    program(&env, "gh", "echo \"  - Token scopes: 'gist', 'read:org'\"");
    says(&env, "gh", "warning", "gh auth refresh --scopes repo");
    program(&env, "gh", "echo \"  - Token scopes: 'gist', 'repo'\"");
    says(&env, "gh", "fine", "signed in");
    fs::write(
        env.project().join("mainspring.toml"),
        "[claim]\nproject = 3\n",
    )
    .unwrap();
    env.trust();
    says(&env, "gh", "warning", "gh auth refresh --scopes project");
    program(&env, "gh", "echo \"  - Token scopes: 'project', 'repo'\"");
    says(&env, "gh", "fine", "signed in");

    program(&env, "mainspring", "exit 0");
    says(
        &env,
        "program",
        "warning",
        "two versions are in use: the mainspring on the PATH is another one",
    );
}

#[test]
fn a_registration_that_lacks_something_or_calls_another_program_is_named() {
    let env = alone();
    env.run(&["install", "--yes"]).ok();
    let file = env.home().join(".claude/settings.json");
    let good = fs::read_to_string(&file).unwrap();
    let mut settings: Value = serde_json::from_str(&good).unwrap();
    let hooks = settings["hooks"].as_object_mut().unwrap();
    hooks.remove("SessionEnd");
    hooks.remove("PostToolUse");
    fs::write(&file, settings.to_string()).unwrap();
    says(
        &env,
        "hooks",
        "warning",
        "not registered for PostToolUse, SessionEnd → mainspring install",
    );
    fs::write(&file, good.replace("\"timeout\": 3000,", "")).unwrap();
    says(&env, "hooks", "warning", "Stop has no timeout, and");
    let other = env.root().join("old/mainspring");
    fs::create_dir_all(other.parent().unwrap()).unwrap();
    fs::write(&other, "").unwrap();
    fs::write(other.with_file_name("mainspring-hook"), "").unwrap();
    let old = good.replace(crate::env::MAINSPRING, other.to_str().unwrap());
    fs::write(&file, old).unwrap();
    says(
        &env,
        "hooks",
        "warning",
        "old/mainspring-hook, but this program is ",
    );
}

#[test]
fn loops_of_nobody_and_loops_that_stand_still_are_named() {
    let env = alone();
    env.run(&["loop", "start"]).ok();
    says(
        &env,
        "loop",
        "warning",
        "belongs to no session, and goes on only if one that you attend is alone here → mainspring loop adopt",
    );
    let file = env.project_state().join("loop.json");
    let text = fs::read_to_string(&file).unwrap();
    let mut state: Value = serde_json::from_str(&text).unwrap();
    state["updated_at"] = "2020-01-01T00:00:00Z".into();
    fs::write(&file, sealed(state)).unwrap();
    says(
        &env,
        "loop",
        "warning",
        "it has not advanced since 2020-01-01",
    );
    fs::write(&file, "{ no").unwrap();
    says(&env, "loop", "error", "→ mainspring loop abort");
}

#[test]
fn damaged_files_and_a_file_that_switches_everything_off_are_named() {
    let env = alone();
    env.run(&["trust", "--yes"]).ok();
    env.run(&["pulse", "3"]).ok();
    env.stop("one").held();
    fs::write(env.project().join(".mainspring-off"), "").unwrap();
    says(
        &env,
        "orders",
        "warning",
        ".mainspring-off switches everything off here → rm ",
    );
    fs::remove_file(env.project().join(".mainspring-off")).unwrap();

    let journal = env.project_state().join("journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.replace("\"v\":2", "\"v\": 2")).unwrap();
    says(&env, "journal", "warning", "damaged lines");
    fs::write(env.state().join("trusted/x.json"), "{ no").unwrap();
    says(&env, "trust", "error", "trusted/x.json");

    let env = alone();
    fs::create_dir_all(env.state().parent().unwrap()).unwrap();
    fs::write(env.state(), "").unwrap();
    says(&env, "state", "error", "is not a directory → mv ");
}

/// The client's locks are directories; a lock that was not touched for ten seconds is stale.
#[test]
fn locks_that_a_dead_client_left_on_its_task_lists_are_named_and_removed() {
    let env = alone();
    let lists = env.home().join(".claude/tasks");
    let [stale, task, fresh] = ["a/.lock.lock", "b/7.json.lock", "b/.lock.lock"].map(|lock| {
        let lock = lists.join(lock);
        fs::create_dir_all(&lock).unwrap();
        lock
    });
    let minute = std::time::Duration::from_secs(60);
    let now = std::time::SystemTime::now();
    for (lock, time) in [
        (&stale, now - minute),
        (&task, now - minute),
        (&fresh, now + 60 * minute),
    ] {
        let dir = fs::File::open(lock).unwrap();
        dir.set_modified(time).unwrap();
    }
    let (found, _) = about(&env, "task lists");
    let named: Vec<bool> = found
        .iter()
        .map(|(level, what)| level == "warning" && what.contains("rmdir "))
        .collect();
    assert_eq!(named, [true, true], "{found:?}");
    let fixed = env.run(&["doctor", "--fix"]).stdout;
    assert_eq!(fixed.matches("fixed   task lists").count(), 2, "{fixed}");
    assert!(!stale.exists() && !task.exists());
    assert!(fresh.exists(), "somebody may be at work");
}
