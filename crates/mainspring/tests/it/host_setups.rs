//! Installed for a host, held in its real client, and uninstalled to the byte.

use std::fs;

use mainspring_testkit::clients::{self, Client};
use mainspring_testkit::hosts::{Host, HostClient};
use mainspring_testkit::model::{Model, Turn};
use mainspring_testkit::process::{PATIENCE, Running, wait_until};
use mainspring_testkit::tmux::Terminal;
use serde_json::{Value, json};

use crate::env::MAINSPRING;

fn mainspring(client: &HostClient, args: &[&str]) -> String {
    client.person(MAINSPRING, args)
}

/// The whole way: the plan, the registration, a stop that it holds, the same once more, and back.
fn journey(client: &HostClient, model: &Model) {
    let name = client.host.name();
    let file = client.settings();
    let before = fs::read(&file).ok();
    let plan = mainspring(client, &["install", "--host", name, "--dry-run"]);
    assert!(plan.lines().any(|line| line.starts_with('+')), "{plan}");
    assert_eq!(fs::read(&file).ok(), before, "{name}: a dry run wrote");
    let said = mainspring(client, &["install", "--host", name, "--yes"]);
    assert!(said.contains("proved:"), "{name}: {said}");
    let written = fs::read(&file).unwrap();
    let said = mainspring(client, &["install", "--host", name, "--yes"]);
    assert!(said.contains("is as it should be"), "{name}: {said}");
    assert_eq!(fs::read(&file).unwrap(), written, "{name}");
    mainspring(client, &["uninstall", "--host", name, "--yes"]);
    assert_eq!(fs::read(&file).ok(), before, "{name}: not as before");
    mainspring(client, &["install", "--host", name, "--yes"]);
    assert_eq!(fs::read(&file).unwrap(), written, "{name}");
    mainspring(client, &["pulse", "1"]);
    let run = client.run("PROMPT-1 please");
    let output = [run.stdout_text(), run.stderr_text()].concat();
    assert!(run.succeeded(), "{name}: {output}");
    assert_eq!(model.requests().len(), 2, "{name}: held once: {output}");
    // Some clients write their settings anew. Then only ours goes.
    let rewritten = fs::read(&file).unwrap() != written;
    mainspring(client, &["uninstall", "--host", name, "--yes"]);
    let after = fs::read(&file).ok();
    assert!(rewritten || after == before, "{name}: not as before");
    let after = after.unwrap_or_default();
    assert!(!String::from_utf8_lossy(&after).contains("mainspring"));
    mainspring(client, &["pulse", "1"]);
    let _ = client.run("PROMPT-2 please");
    assert_eq!(model.requests().len(), 3, "{name}: it is still held");
    model.assert_played_out();
}

fn turns() -> [Turn; 3] {
    ["Hello.", "Held once.", "Free."].map(Turn::say)
}

fn in_client(host: Host) {
    let model = Model::play(turns());
    if let Some(client) = HostClient::new(host, &model) {
        journey(&client, &model);
    }
}

#[test]
fn claude_is_set_up_held_and_left_as_it_was() {
    in_client(Host::Claude);
}

#[test]
fn codex_is_set_up_held_and_left_as_it_was() {
    in_client(Host::Codex);
}

#[test]
fn gemini_is_set_up_held_and_left_as_it_was() {
    in_client(Host::Gemini);
}

#[test]
fn qwen_is_set_up_held_and_left_as_it_was() {
    in_client(Host::Qwen);
}

#[test]
fn copilot_is_set_up_held_and_left_as_it_was() {
    in_client(Host::Copilot);
}

#[test]
fn droid_is_set_up_held_and_left_as_it_was() {
    in_client(Host::Droid);
}

#[test]
fn grok_is_set_up_held_and_left_as_it_was() {
    in_client(Host::Grok);
}

#[test]
fn opencode_is_set_up_held_and_left_as_it_was() {
    in_client(Host::Opencode);
}

#[test]
fn pi_is_set_up_held_and_left_as_it_was() {
    in_client(Host::Pi);
}

/// The oldest Claude Code that we say is supported.
#[test]
fn an_older_claude_is_set_up_held_and_left_as_it_was() {
    let Client::Installed(program) = clients::oldest_claude() else {
        return;
    };
    let model = Model::play(turns());
    let client = HostClient::at(Host::Claude, &model, program);
    journey(&client, &model);
}

/// A home in which two hosts are, and no client at all.
fn two_hosts() -> (HostClient, Model) {
    let model = Model::play([]);
    let client = HostClient::at(Host::Codex, &model, "/nonexistent/codex".into());
    fs::create_dir_all(client.home.join(".qwen")).unwrap();
    fs::write(client.home.join(".qwen/settings.json"), "{\"a\": 1}\n").unwrap();
    (client, model)
}

#[test]
fn all_hosts_that_are_here_are_set_up_and_each_is_taken_out_alone() {
    let (client, _model) = two_hosts();
    let codex = client.home.join(".codex/hooks.json");
    let qwen = client.home.join(".qwen/settings.json");
    mainspring(&client, &["install", "--host", "all", "--yes"]);
    assert!(codex.exists());
    assert!(fs::read_to_string(&qwen).unwrap().contains("mainspring"));
    assert!(!client.home.join(".gemini").exists(), "it is not here");
    assert!(!client.home.join(".claude").exists(), "it is not here");
    mainspring(&client, &["uninstall", "--host", "qwen", "--yes"]);
    assert_eq!(fs::read_to_string(&qwen).unwrap(), "{\"a\": 1}\n");
    assert!(codex.exists(), "the other host stays");
    mainspring(&client, &["uninstall", "--host", "all", "--yes"]);
    assert!(!codex.exists());
}

#[test]
fn a_host_that_we_do_not_know_is_refused_with_the_names_of_those_we_know() {
    let (client, _model) = two_hosts();
    for command in ["install", "uninstall"] {
        let run = client
            .command(MAINSPRING)
            .args([command, "--host", "emacs", "--yes"])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stderr);
        assert!(!run.status.success(), "{command}");
        assert!(
            said.contains("use `all`, or one of: claude, codex"),
            "{said}"
        );
    }
}

/// In a terminal each host that is here is offered, and "no" leaves it alone.
#[test]
fn each_host_is_offered_and_one_can_be_declined() {
    let (client, _model) = two_hosts();
    let mut install = client.command(MAINSPRING);
    let terminal = Terminal::start(install.arg("install"));
    terminal.wait_for("Codex is here. Set it up? [Y/n]");
    terminal.enter("n");
    terminal.wait_for("Qwen Code is here. Set it up? [Y/n]");
    terminal.enter("");
    terminal.wait_for("Write this?");
    terminal.enter("y");
    terminal.wait_for("May what");
    terminal.enter("n");
    terminal.wait_for_end();
    assert!(!client.home.join(".codex/hooks.json").exists());
    let qwen = fs::read_to_string(client.home.join(".qwen/settings.json")).unwrap();
    assert!(qwen.contains("mainspring"), "{qwen}");
}

/// What `doctor` found about this.
fn finding(client: &HostClient, about: &str) -> Value {
    let run = client
        .command(MAINSPRING)
        .args(["doctor", "--json"])
        .output()
        .unwrap();
    let found: Value = serde_json::from_slice(&run.stdout).unwrap();
    let findings = found["findings"].as_array().unwrap();
    let one = findings.iter().find(|one| one["about"] == about);
    one.cloned().unwrap_or_else(|| panic!("{about}: {found:#}"))
}

/// Codex's daemon runs the hooks of every terminal with the variables that it was started with:
/// `doctor` compares them. The daemon here is any process, with a record as Codex 0.166.0 writes it.
#[test]
fn doctor_knows_what_hooks_see_in_codexs_daemon() {
    let model = Model::play([]);
    let Some(client) = HostClient::new(Host::Codex, &model) else {
        return;
    };
    mainspring(&client, &["install", "--host", "codex", "--yes"]);
    let running = |variables: &[(&str, &str)]| {
        let mut sleep = client.command("sleep");
        sleep.arg("600").envs(variables.iter().copied());
        let daemon = Running::start(&mut sleep);
        let stat = fs::read_to_string(format!("/proc/{}/stat", daemon.id())).unwrap();
        let ticks = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19);
        let ticks: u64 = ticks.unwrap().parse().unwrap();
        let record = json!({"pid": daemon.id(), "processIdentity": {"startTicks": ticks}});
        let place = client.home.join(".codex/app-server-daemon");
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join("daemon.pid"), record.to_string()).unwrap();
        daemon
    };
    let same = running(&[]);
    assert_eq!(finding(&client, "daemon")["level"], "fine");
    same.kill();
    let other = running(&[("MAINSPRING_DISABLE", "1")]);
    let found = finding(&client, "daemon");
    assert_eq!(found["level"], "warning", "{found}");
    let what = found["what"].as_str().unwrap();
    assert!(what.contains("MAINSPRING_DISABLE=1"), "{what}");
    other.kill();
    let gone = finding(&client, "daemon");
    assert_eq!(gone["level"], "fine", "{gone}");
}

/// Codex runs no hook that nobody reviewed, and says nothing. `doctor` does, until a person has
/// reviewed them in Codex itself.
#[test]
fn doctor_knows_whether_codex_trusts_our_hooks() {
    let model = Model::play([Turn::say("Free."), Turn::say("Hello."), Turn::say("Held.")]);
    let Some(client) = HostClient::new(Host::Codex, &model) else {
        return;
    };
    mainspring(&client, &["install", "--host", "codex", "--yes"]);
    let before = finding(&client, "trust");
    assert_eq!(before["level"], "warning", "{before}");
    assert!(
        finding(&client, "daemon")["what"]
            .as_str()
            .unwrap()
            .contains("daemon_auto_start")
    );
    let args = [
        "exec",
        "--json",
        "--skip-git-repo-check",
        "--dangerously-bypass-approvals-and-sandbox",
    ];
    mainspring(&client, &["pulse", "1"]);
    let run = |prompt: &str| {
        let mut codex = client.command("codex");
        Running::start(codex.args(args).arg(prompt)).wait(PATIENCE)
    };
    assert!(run("PROMPT-1 please").succeeded());
    assert_eq!(model.requests().len(), 1, "an unreviewed hook ran");
    let mut codex = client.command("codex");
    let terminal = Terminal::start(codex.args([
        "--dangerously-bypass-approvals-and-sandbox",
        "--disable",
        "daemon_auto_start",
    ]));
    terminal.wait_for("need review");
    // It loses keys that come before it listens: until the choice shows, it is made again.
    terminal.wait_until("\"Trust all\" is chosen", |screen| {
        let chosen = screen.contains("› 2. Trust all") || !screen.contains("need review");
        if !chosen {
            terminal.press("2");
        }
        chosen
    });
    terminal.press("Enter");
    wait_until("Codex trusts the hooks", || {
        finding(&client, "trust")["level"] == "fine"
    });
    drop(terminal);
    assert!(run("PROMPT-2 please").succeeded());
    assert_eq!(model.requests().len(), 3, "a reviewed hook did not hold");
}

/// A host that Mainspring was never run in is named, and what it cannot do.
#[test]
fn doctor_names_a_host_that_mainspring_does_nothing_in() {
    let (mut client, _model) = two_hosts();
    let bin = client.home.join("bin");
    fs::create_dir_all(&bin).unwrap();
    fs::write(bin.join("kimi"), "#!/bin/sh\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(bin.join("kimi"), mode).unwrap();
    client.set("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    let found = finding(&client, "not run");
    let what = found["what"].as_str().unwrap();
    assert!(what.starts_with("Kimi Code is here"), "{what}");
}
