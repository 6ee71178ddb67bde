//! Registering with the host, and undoing it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::env::{MAINSPRING, TestEnv};

fn user_file(env: &TestEnv) -> PathBuf {
    env.home().join(".claude/settings.json")
}

fn read(path: &PathBuf) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// A file as a person has it: another order, tabs, a hook of theirs, a mode of their own.
const THEIRS: &str = "{\n\t\"zeta\": [1, 2],\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}]\n\t},\n\t\"env\": {\"FOO\": \"1\"}\n}\n";

fn with_theirs() -> TestEnv {
    let env = TestEnv::new();
    fs::create_dir_all(env.home().join(".claude")).unwrap();
    fs::write(user_file(&env), THEIRS).unwrap();
    fs::set_permissions(user_file(&env), fs::Permissions::from_mode(0o640)).unwrap();
    env
}

#[test]
fn only_our_entries_are_added_and_uninstall_brings_back_every_byte() {
    let env = with_theirs();
    env.run(&["install", "--yes"]).ok();
    let settings = read(&user_file(&env));
    let keys: Vec<&String> = settings.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["zeta", "model", "hooks", "env", "statusLine"]);
    assert_eq!(
        settings["hooks"]["Stop"][0]["hooks"][0]["command"],
        "say done"
    );
    let stop = &settings["hooks"]["Stop"][1]["hooks"][0];
    assert_eq!(stop["command"], env!("CARGO_BIN_EXE_mainspring-hook"));
    assert_eq!(stop["args"], json!([]));
    assert_eq!(stop["timeout"], 3000);
    assert!(stop["statusMessage"].is_string());
    let watch = &settings["hooks"]["Stop"][1]["hooks"][1];
    assert_eq!(watch["command"], format!("{MAINSPRING} claim watch"));
    assert_eq!(watch.get("args"), None);
    assert_eq!(watch["asyncRewake"], true);
    assert_eq!(
        settings["env"],
        json!({"FOO": "1", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "100", "CLAUDE_CODE_ENABLE_TODO_TOOLS": "1"})
    );
    let text = fs::read_to_string(user_file(&env)).unwrap();
    // Entries that are not ours stay as they were written: their order, their indentation, and
    // what is on one line.
    for theirs in [
        "{\n\t\"zeta\": [1, 2],\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]},\n\t\t\t{",
        "\n\t\"env\": {\"FOO\": \"1\", \"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP\": \"100\", \"CLAUDE_CODE_ENABLE_TODO_TOOLS\": \"1\"},\n",
    ] {
        assert!(text.contains(theirs), "{text}");
    }
    let mode = fs::metadata(user_file(&env)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);

    let again = env.run(&["install", "--yes"]).ok();
    assert_eq!(again.lines().count(), 3, "nothing to restart: {again}");
    env.run(&["install", "--yes", "--scope", "local"]).ok();
    env.run(&["uninstall", "--yes", "--scope", "local"]).ok();
    assert_eq!(fs::read_to_string(user_file(&env)).unwrap(), text);

    env.run(&["uninstall", "--yes"]).ok();
    assert_eq!(fs::read_to_string(user_file(&env)).unwrap(), THEIRS);
    assert!(
        env.run(&["uninstall", "--yes"])
            .failed()
            .contains("no entry of ours")
    );
}

#[test]
fn what_a_person_changed_in_between_stays() {
    let env = with_theirs();
    env.run(&["install", "--yes"]).ok();
    let mut settings = read(&user_file(&env));
    settings["model"] = "haiku".into();
    settings["env"]["CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"] = "30".into();
    fs::write(user_file(&env), settings.to_string()).unwrap();
    env.run(&["uninstall", "--yes"]).ok();
    let after = read(&user_file(&env));
    assert_eq!(after["model"], "haiku");
    assert_eq!(
        after["env"],
        json!({"FOO": "1", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "30"})
    );
    assert!(!after.to_string().contains("mainspring"), "{after}");
}

/// The second installation must not take an edit for its own.
#[test]
fn what_a_person_changed_before_installing_again_stays() {
    let env = with_theirs();
    env.run(&["install", "--yes"]).ok();
    let text = fs::read_to_string(user_file(&env)).unwrap();
    let edited = text.replace("opus", "haiku").replace("3000", "30");
    fs::write(user_file(&env), edited).unwrap();
    env.run(&["install", "--yes"]).ok();
    let text = fs::read_to_string(user_file(&env)).unwrap();
    assert!(text.contains("3000") && text.contains("haiku"), "{text}");
    env.run(&["uninstall", "--yes"]).ok();
    let after = fs::read_to_string(user_file(&env)).unwrap();
    assert_eq!(after, THEIRS.replace("opus", "haiku"));
}

#[test]
fn taking_us_out_of_a_changed_file_leaves_the_rest_as_it_is_written() {
    let env = with_theirs();
    env.run(&["install", "--yes"]).ok();
    let text = fs::read_to_string(user_file(&env)).unwrap();
    fs::write(user_file(&env), text.replace("opus", "haiku")).unwrap();
    env.run(&["uninstall", "--yes"]).ok();
    let after = fs::read_to_string(user_file(&env)).unwrap();
    assert_eq!(after, THEIRS.replace("opus", "haiku"));
}

/// What a person may write: comments, trailing commas, CRLF, a byte order mark, tabs.
#[test]
fn a_file_is_changed_around_everything_that_a_person_may_write() {
    for text in [
        "// mine\n{\n  /* the */ \"model\": \"opus\", // large\n  \"env\": {},\n}\n",
        "{\r\n\t\"model\": \"opus\",\r\n\t\"hooks\": {\"Stop\": []}\r\n}",
        "\u{feff}{\n    \"hooks\": {\n        // none yet\n    }\n}\n\n",
        "{\"model\":\"opus\"}",
        "",
        "// nothing yet\n",
    ] {
        let env = TestEnv::new();
        fs::create_dir_all(env.home().join(".claude")).unwrap();
        fs::write(user_file(&env), text).unwrap();
        env.run(&["install", "--yes"]).ok();
        let with_us = fs::read_to_string(user_file(&env)).unwrap();
        assert!(with_us.contains(MAINSPRING), "{with_us}");
        for word in [
            "// mine",
            "/* the */",
            "// large",
            "// none yet",
            "// nothing yet",
        ] {
            assert_eq!(with_us.contains(word), text.contains(word), "{with_us}");
        }
        assert_eq!(with_us.contains("\r\n"), text.contains("\r\n"), "{with_us}");
        env.run(&["uninstall", "--yes"]).ok();
        assert_eq!(fs::read_to_string(user_file(&env)).unwrap(), text);
    }
}

#[test]
fn a_comment_that_was_written_in_between_stays() {
    let env = with_theirs();
    env.run(&["install", "--yes"]).ok();
    let text = fs::read_to_string(user_file(&env)).unwrap();
    fs::write(
        user_file(&env),
        text.replace("\"opus\",", "\"opus\", // the large one"),
    )
    .unwrap();
    env.run(&["uninstall", "--yes"]).ok();
    let after = fs::read_to_string(user_file(&env)).unwrap();
    assert_eq!(
        after,
        THEIRS.replace("\"opus\",", "\"opus\", // the large one")
    );
}

#[test]
fn a_dry_run_shows_the_change_and_makes_none() {
    let env = with_theirs();
    let shown = env.run(&["install", "--dry-run"]).ok();
    assert!(
        shown.contains("+ \t\t\t\t\t\t\"timeout\": 3000,"),
        "{shown}"
    );
    assert!(shown.lines().any(|line| line.starts_with("  ")), "{shown}");
    assert_eq!(fs::read_to_string(user_file(&env)).unwrap(), THEIRS);
    assert!(!env.state().join("installs").exists());
}

#[test]
fn a_file_that_we_made_is_gone_again() {
    let env = TestEnv::new();
    env.run(&["install", "--yes"]).ok();
    assert!(user_file(&env).exists());
    env.run(&["uninstall", "--yes"]).ok();
    assert!(!user_file(&env).exists());
}

#[test]
fn a_project_that_is_installed_for_is_trusted_and_a_user_wide_one_is_not() {
    let env = TestEnv::new();
    env.run(&["install", "--yes"]).ok();
    assert!(
        env.run(&["trust", "--list"])
            .ok()
            .contains("no project is trusted")
    );
    for scope in ["project", "local"] {
        let env = TestEnv::on_path();
        env.run(&["install", "--scope", scope, "--yes"]).ok();
        let trusted = env.run(&["trust", "--list"]).ok();
        assert!(
            trusted.contains(env.project().to_str().unwrap()),
            "{trusted}"
        );
        env.run(&["uninstall", "--scope", scope, "--yes"]).ok();
        assert!(
            env.run(&["trust", "--list"])
                .ok()
                .contains("no project is trusted")
        );
        assert!(!env.project().join(".claude/settings.json").exists());
    }
}

#[test]
fn an_old_registration_is_replaced_and_never_doubled() {
    let env = TestEnv::new();
    fs::create_dir_all(env.home().join(".claude")).unwrap();
    let old = json!({"hooks": {"Stop": [{"hooks": [
        {"type": "command", "command": "/gone/mainspring", "args": ["hook"], "timeout": 720},
        {"type": "command", "command": "/gone/mainspring", "args": ["claim", "watch"]},
    ]}]}});
    fs::write(user_file(&env), old.to_string()).unwrap();
    env.run(&["install", "--yes"]).ok();
    let text = fs::read_to_string(user_file(&env)).unwrap();
    assert!(!text.contains("/gone/"), "{text}");
    let lengthy = text.replace(' ', "");
    assert_eq!(lengthy.matches("\"timeout\":3000").count(), 1, "{text}");
    let records: Vec<_> = fs::read_dir(env.state().join("installs"))
        .unwrap()
        .map(|entry| entry.unwrap().path().join("installed.json"))
        .collect();
    assert_eq!(records.len(), 1);
    let record = fs::read_to_string(&records[0]).unwrap();
    assert!(record.contains("\"stop_timeout\":3000"), "{record}");
}

#[test]
fn what_cannot_be_read_is_refused_and_named() {
    for (text, said) in [
        ("{\"model\": }", "the file was not changed"),
        ("[]", "is not a JSON object"),
        ("{\"hooks\": []}", "hooks is not an object"),
        ("{\"hooks\": {\"Stop\": {}}}", "hooks.Stop is not a list"),
    ] {
        let env = TestEnv::new();
        fs::create_dir_all(env.home().join(".claude")).unwrap();
        fs::write(user_file(&env), text).unwrap();
        let error = env.run(&["install", "--yes"]).failed();
        assert!(error.contains(said), "{error}");
        assert_eq!(fs::read_to_string(user_file(&env)).unwrap(), text);
    }
}

#[test]
fn a_linked_settings_file_is_changed_where_it_is() {
    let env = TestEnv::new();
    fs::create_dir_all(env.home().join(".claude")).unwrap();
    let dotfiles = env.root().join("dotfiles.json");
    fs::write(&dotfiles, "{}\n").unwrap();
    std::os::unix::fs::symlink(&dotfiles, user_file(&env)).unwrap();
    env.run(&["install", "--yes"]).ok();
    assert!(fs::symlink_metadata(user_file(&env)).unwrap().is_symlink());
    assert!(
        fs::read_to_string(&dotfiles)
            .unwrap()
            .contains("mainspring")
    );
    env.run(&["uninstall", "--yes"]).ok();
    assert_eq!(fs::read_to_string(&dotfiles).unwrap(), "{}\n");
}

#[test]
fn without_a_person_there_is_nobody_to_ask_and_an_agent_may_not() {
    let env = TestEnv::new();
    let error = env.run(&["install"]).failed();
    assert!(error.contains("--yes"), "{error}");
    let error = env.agent("s", &["install", "--yes"]).failed();
    assert!(error.contains("an agent cannot install"), "{error}");
    assert!(!user_file(&env).exists());
}

#[test]
fn a_variable_can_be_declined_and_the_entries_printed() {
    let env = TestEnv::new();
    env.run(&["install", "--yes", "--without", "cap"]).ok();
    let settings = read(&user_file(&env));
    assert_eq!(
        settings["env"],
        json!({"CLAUDE_CODE_ENABLE_TODO_TOOLS": "1"})
    );
    let printed: Value = env.run(&["install", "--print", "--without", "cap"]).json();
    assert_eq!(printed["hooks"], settings["hooks"]);
}

#[test]
fn in_a_terminal_it_asks_shows_and_writes_only_on_yes() {
    let env = TestEnv::new();
    for (answers, written) in [(["n", "", "n", "n"], false), (["n", "", "n", ""], true)] {
        let mut command = env.command();
        command.args(["install"]).env("TERM", "xterm");
        // A shell runs it, so that the last output stays on the screen.
        let mut shell = std::process::Command::new("/bin/sh");
        shell
            .env_clear()
            .envs(
                command
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .current_dir(env.project())
            .args(["-c", &format!("{MAINSPRING} install; read -r _")]);
        let terminal = mainspring_testkit::tmux::Terminal::start(&shell);
        terminal.wait_for("Raise that to 100? [Y/n]");
        terminal.enter(answers[0]);
        terminal.wait_for("Switch them on? [Y/n]");
        terminal.enter(answers[1]);
        terminal.wait_for("in Claude Code's status line? [Y/n]");
        terminal.enter(answers[2]);
        let screen = terminal.wait_for("Write this? [Y/n]");
        assert!(
            !screen.contains("\\u"),
            "colours, not their codes: {screen}"
        );
        terminal.enter(answers[3]);
        if written {
            terminal.wait_for("`mainspring trust` asks again later. [y/N]");
            terminal.enter("y");
            terminal.wait_for("registered for every project; ");
            terminal.wait_for("was held");
            let list = env.run(&["trust", "--list"]).ok();
            assert!(list.contains(env.project().to_str().unwrap()), "{list}");
            let settings = read(&user_file(&env));
            assert_eq!(
                settings["env"],
                json!({"CLAUDE_CODE_ENABLE_TODO_TOOLS": "1"})
            );
        } else {
            let screen = terminal.wait_for("nothing was changed");
            assert!(!screen.contains("error"), "a no is an answer: {screen}");
            assert!(!user_file(&env).exists());
        }
    }
}

#[test]
fn a_drop_in_is_registered_and_its_project_trusted_in_one_step() {
    for (script, events) in [
        ("taskmaster", &["Stop"][..]),
        ("idle", &["Stop"]),
        ("taskie", &["Stop"]),
        ("fsm", &["PostToolUse"]),
        ("agent-sync", &["SessionStart", "Stop", "Notification"]),
    ] {
        let env = TestEnv::new();
        let file = env.project().join(".claude/settings.local.json");
        let install = ["install", "--compat", script, "--yes"];
        let said = env.run(&install).ok();
        assert!(said.contains("which is trusted now"), "{said}");
        let hooks = &read(&file)["hooks"];
        for event in events {
            let line = hooks[event][0]["hooks"][0]["command"].as_str().unwrap();
            let ours = format!("{MAINSPRING} compat {script}");
            assert!(line.starts_with(&ours), "{line}");
        }
        assert_eq!(hooks.as_object().unwrap().len(), events.len());
        let written = fs::read_to_string(&file).unwrap();
        env.run(&install).ok();
        assert_eq!(fs::read_to_string(&file).unwrap(), written, "twice is once");
        env.run(&["uninstall", "--scope", "local", "--yes"]).ok();
        assert!(!file.exists());
        let list = env.run(&["trust", "--list"]).ok();
        assert!(list.contains("no project is trusted"), "{list}");
    }
}

#[test]
fn a_drop_in_is_refused_where_we_are_registered_already() {
    for scope in ["user", "local"] {
        let env = TestEnv::new();
        env.run(&["install", "--scope", scope, "--yes"]).ok();
        let refused = env.run(&["install", "--compat", "idle", "--yes"]).failed();
        let ends = format!("mainspring uninstall --scope {scope}");
        assert!(
            refused.contains("a second time") && refused.contains(&ends),
            "{refused}"
        );
    }
}

#[test]
fn the_event_before_a_tool_is_registered_while_a_setting_needs_it() {
    let env = with_theirs();
    env.run(&["install", "--yes"]).ok();
    let usual = fs::read_to_string(user_file(&env)).unwrap();
    assert!(read(&user_file(&env))["hooks"]["PreToolUse"].is_null());
    let on = ["config", "set", "tasks.guard_files", "true"];
    let said = env.run(&on).ok();
    let hint = "`mainspring install` registers the event that tasks.guard_files needs\n";
    assert!(said.ends_with(hint), "{said}");
    let doctor = env.run(&["doctor"]).stdout;
    assert!(doctor.contains("guard_files is on, but"), "{doctor}");
    env.run(&["install", "--yes"]).ok();
    let settings = read(&user_file(&env));
    let guard = &settings["hooks"]["PreToolUse"][0]["hooks"][0];
    assert_eq!(guard["command"], env!("CARGO_BIN_EXE_mainspring-hook"));
    let doctor = env.run(&["doctor"]).stdout;
    assert!(!doctor.contains("guard_files"), "{doctor}");
    let said = env.run(&on).ok();
    assert!(!said.contains("mainspring install"), "{said}");
    let text = fs::read_to_string(user_file(&env)).unwrap();
    env.run(&["install", "--yes"]).ok();
    assert_eq!(fs::read_to_string(user_file(&env)).unwrap(), text, "again");
    env.run(&["config", "set", "tasks.guard_files", "false"])
        .ok();
    env.run(&["install", "--yes"]).ok();
    assert_eq!(fs::read_to_string(user_file(&env)).unwrap(), usual, "off");
    env.run(&on).ok();
    env.run(&["install", "--yes"]).ok();
    env.run(&["uninstall", "--yes"]).ok();
    assert_eq!(fs::read_to_string(user_file(&env)).unwrap(), THEIRS);
}

/// A project's setting counts in the step that trusts the project.
#[test]
fn a_projects_setting_that_needs_the_event_gets_it() {
    let env = TestEnv::new();
    fs::write(
        env.project().join("mainspring.toml"),
        "[tasks]\nguard_files = true\n",
    )
    .unwrap();
    let local = env.project().join(".claude/settings.local.json");
    env.run(&["install", "--yes"]).ok();
    assert!(read(&user_file(&env))["hooks"]["PreToolUse"].is_null());
    env.run(&["uninstall", "--yes"]).ok();
    env.run(&["install", "--scope", "local", "--yes"]).ok();
    assert!(read(&local)["hooks"]["PreToolUse"].is_array());
    env.run(&["uninstall", "--scope", "local", "--yes"]).ok();
    assert!(!local.exists());
    env.run(&["install", "--yes"]).ok();
    let said = env.run(&["trust", "--yes"]).ok();
    assert!(said.contains("`mainspring install` registers"), "{said}");
    env.run(&["install", "--yes"]).ok();
    assert!(read(&user_file(&env))["hooks"]["PreToolUse"].is_array());
}

#[test]
fn a_damaged_backup_is_not_brought_back() {
    for damage in ["", "{\"evil\":true}", "\0\0\0"] {
        let env = with_theirs();
        env.run(&["install", "--yes"]).ok();
        let installs = fs::read_dir(env.state().join("installs")).unwrap();
        let backups = installs.map(|entry| entry.unwrap().path().join("before.json"));
        let backups: Vec<_> = backups.filter(|path| path.exists()).collect();
        assert_eq!(backups.len(), 1);
        fs::write(&backups[0], damage).unwrap();
        env.run(&["uninstall", "--yes"]).ok();
        let after = fs::read_to_string(user_file(&env)).unwrap();
        assert!(after.contains("opus"), "{damage:?}: {after}");
        assert!(!after.contains(MAINSPRING), "{damage:?}: {after}");
    }
}
