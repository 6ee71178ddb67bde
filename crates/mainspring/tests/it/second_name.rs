//! What hosts call: our second name, our bare name where a host dropped the arguments, and the
//! line that a shared settings file has. None of them may do harm anywhere.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::env::{MAINSPRING, Ran, TestEnv, finish, payload};

const HOOK: &str = env!("CARGO_BIN_EXE_mainspring-hook");

/// A stop, as raw bytes.
fn stop(env: &TestEnv) -> Vec<u8> {
    payload(&env.project(), "Stop", json!({}))
        .to_string()
        .into_bytes()
}

/// Another program in this environment.
fn other(env: &TestEnv, program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    let plain = env.command();
    let vars = plain
        .get_envs()
        .filter_map(|(name, value)| Some((name, value?)));
    command.env_clear().envs(vars).current_dir(env.project());
    command
}

fn beating() -> TestEnv {
    let env = TestEnv::on_path();
    env.run(&["pulse", "9"]).ok();
    env
}

#[test]
fn the_second_name_is_the_hook_without_an_argument() {
    let env = beating();
    let held = finish(&mut other(&env, HOOK), &stop(&env)).held();
    assert!(held.contains("beat 1 of 9"), "{held}");
    let version = finish(other(&env, HOOK).arg("--version"), b"").ok();
    assert_eq!(version, env.run(&["--version"]).ok());
}

#[test]
fn a_link_of_that_name_is_the_hook_too() {
    let env = beating();
    let link = env.root().join("mainspring-hook");
    std::os::unix::fs::symlink(MAINSPRING, &link).unwrap();
    let held = finish(&mut other(&env, &link), &stop(&env)).held();
    assert!(held.contains("beat 1 of 9"), "{held}");
}

#[test]
fn a_host_that_drops_our_arguments_is_answered_all_the_same() {
    let env = beating();
    let held = finish(&mut env.command(), &stop(&env)).held();
    assert!(held.contains("beat 1 of 9"), "{held}");
    let unknown = json!({"event": "AfterAgent", "nothing": "of ours"}).to_string();
    let ran = finish(&mut env.command(), unknown.as_bytes());
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran:?}");
}

/// In most hosts, 2 means to block.
#[test]
fn our_bare_name_never_exits_with_2() {
    let env = TestEnv::new();
    for input in [
        "",
        "\n",
        "not an event",
        "[1]",
        "{",
        "{\"hook_event_name\": 7}",
    ] {
        let ran = finish(&mut env.command(), input.as_bytes());
        assert!(matches!(ran.code, Some(0 | 1)), "{input:?}: {ran:?}");
    }
    let help = finish(&mut env.command(), b"");
    assert!(help.stderr.contains("Start here:"), "{help:?}");
    let ran = env.in_terminal(&[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
}

/// As with `ssh host mainspring`.
#[test]
fn our_bare_name_does_not_wait_for_a_stdin_that_nobody_closes() {
    let env = TestEnv::new();
    let mut command = env.command();
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let open = child.stdin.take();
    mainspring_testkit::process::wait_until("it gives up on an event", || {
        child.try_wait().unwrap().is_some()
    });
    drop(open);
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

/// The line that `install --scope project` writes, run as a host runs it.
fn shared_line(env: &TestEnv) -> String {
    env.run(&["install", "--scope", "project", "--yes"]).ok();
    let text = fs::read_to_string(env.project().join(".claude/settings.json")).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    assert!(!text.contains("\"args\""), "{text}");
    let home = env.root();
    assert!(!text.contains(home.to_str().unwrap()), "{text}");
    let stop = &settings["hooks"]["Stop"][0]["hooks"][0];
    assert_eq!(stop["timeout"], 3000);
    stop["command"].as_str().unwrap().to_owned()
}

fn in_shell(env: &TestEnv, line: &str, path: &str, vars: &[(&str, &str)]) -> Ran {
    let mut shell = other(env, "/bin/sh");
    shell
        .args(["-c", line])
        .env("PATH", path)
        .envs(vars.iter().copied());
    finish(&mut shell, &stop(env))
}

#[test]
fn a_shared_settings_file_works_with_mainspring_and_is_silent_without() {
    let env = beating();
    let line = shared_line(&env);
    let bin = Path::new(HOOK).parent().unwrap().to_str().unwrap();
    let held = in_shell(&env, &line, &format!("{bin}:/usr/bin:/bin"), &[]).held();
    assert!(held.contains("beat 1 of 9"), "{held}");
    let colleague = TestEnv::new();
    let said = in_shell(&colleague, &line, "/usr/bin:/bin", &[]).ok();
    assert_eq!(said, "");
}

/// Claude Code tells its hooks the session, the project, and the plugin that they are of.
fn claudes(env: &TestEnv) -> Vec<(&'static str, String)> {
    vec![
        ("CLAUDE_CODE_SESSION_ID", "s".to_owned()),
        ("CLAUDE_PROJECT_DIR", env.project().to_str().unwrap().into()),
    ]
}

#[test]
fn of_several_registrations_one_answers() {
    for (scopes, shared_answers, plugin_answers) in [
        (&[][..], true, true),
        (&["project"], true, false),
        (&["user"], false, false),
        (&["local"], false, false),
        (&["user", "project"], false, false),
    ] {
        let env = beating();
        for scope in scopes {
            env.run(&["install", "--scope", scope, "--yes"]).ok();
        }
        let answers = |program: &mut Command, plugin: bool| {
            program.envs(claudes(&env));
            if plugin {
                program.env("CLAUDE_PLUGIN_ROOT", "/plugins/mainspring");
            }
            !finish(program, &stop(&env)).ok().is_empty()
        };
        let shared = answers(other(&env, HOOK).arg("shared"), false);
        assert_eq!(shared, shared_answers, "shared, with {scopes:?}");
        let plugin = answers(&mut other(&env, HOOK), true);
        assert_eq!(plugin, plugin_answers, "plugin, with {scopes:?}");
        assert!(answers(&mut other(&env, HOOK), false), "own, {scopes:?}");
    }
}

/// Another host that reads a shared file does not read a person's settings of Claude Code.
#[test]
fn in_another_host_the_shared_file_answers_whatever_claude_code_has() {
    let env = beating();
    env.run(&["install", "--yes"]).ok();
    let held = finish(other(&env, HOOK).arg("shared"), &stop(&env)).held();
    assert!(held.contains("beat 1 of 9"), "{held}");
}
