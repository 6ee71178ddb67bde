//! The whole set-up in one command, the second time, and all the way back.

use std::fs;
use std::path::Path;

use mainspring_testkit::upgrade;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::Bench;
use crate::env::MAINSPRING;

fn settings(bench: &Bench) -> Value {
    serde_json::from_str(&fs::read_to_string(bench.settings()).unwrap()).unwrap()
}

fn commands(bench: &Bench) -> Vec<String> {
    let folder = bench.env.home().join(".claude/commands/mainspring");
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

const COMMANDS: [&str; 7] = [
    "claim.md",
    "completion-checklist.md",
    "handoff.md",
    "loop.md",
    "pause.md",
    "resume.md",
    "stop.md",
];

#[test]
fn one_command_is_the_whole_set_up_and_proves_itself() {
    let bench = Bench::bare();
    let said = bench.run(&["install", "--yes", "--trust"]).ok();
    assert!(
        said.contains("proved: a stop, sent as Claude Code sends it, was held"),
        "{said}"
    );
    let settings = settings(&bench);
    let bin = bench.bin();
    let line = format!("{}/mainspring status --line", bin.display());
    assert_eq!(
        settings["statusLine"],
        json!({"type": "command", "command": line})
    );
    assert_eq!(commands(&bench), COMMANDS);
    assert_eq!(bench.findings(), Vec::<Value>::new());
    let list = bench.run(&["trust", "--list"]).ok();
    assert!(
        list.contains(bench.env.project().to_str().unwrap()),
        "{list}"
    );
    // The trial was in a place of its own.
    let log = bench.run(&["log", "--json"]);
    assert!(!log.stdout.contains("mainspring-trial"), "{log:?}");
    let left = fs::read_dir(bench.env.tmp()).unwrap().count();
    assert_eq!(left, 0, "the trial cleans up");

    let again = bench.run(&["install", "--yes"]).ok();
    assert!(again.contains("is as it should be"), "{again}");
    assert!(again.contains("proved: "), "{again}");
}

#[test]
fn what_does_not_work_is_said_at_once() {
    let bench = Bench::bare();
    bench.change(|settings| settings["env"] = json!({"MAINSPRING_DISABLE": "1"}));
    let ran = bench.run(&["install", "--yes"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("it does not work yet:"), "{ran:?}");
    assert!(ran.stdout.contains("mainspring doctor"), "{ran:?}");
}

#[test]
fn a_persons_own_status_line_and_command_stay() {
    let bench = Bench::bare();
    bench.change(|settings| settings["statusLine"] = json!({"type": "command", "command": "mine"}));
    let folder = bench.env.home().join(".claude/commands/mainspring");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("loop.md"), "my own").unwrap();
    let shown = bench.run(&["install", "--dry-run"]).ok();
    assert!(shown.contains("loop.md is not ours, and stays"), "{shown}");
    assert!(shown.contains("commands/mainspring/claim.md"), "{shown}");
    assert_eq!(commands(&bench), ["loop.md"], "a dry run writes nothing");
    bench.run(&["install", "--yes"]).ok();
    assert_eq!(settings(&bench)["statusLine"]["command"], "mine");
    assert_eq!(commands(&bench), COMMANDS);
    bench.run(&["uninstall", "--yes"]).ok();
    assert_eq!(commands(&bench), ["loop.md"]);
    assert_eq!(
        fs::read_to_string(folder.join("loop.md")).unwrap(),
        "my own"
    );
}

#[test]
fn a_part_can_be_left_out() {
    let bench = Bench::bare();
    bench
        .run(&["install", "--yes", "--without", "status-line,commands"])
        .ok();
    assert_eq!(settings(&bench).get("statusLine"), None);
    assert_eq!(commands(&bench), [""; 0]);
}

#[test]
fn shared_settings_have_no_status_line_and_no_commands() {
    let bench = Bench::bare();
    bench.run(&["install", "--scope", "project", "--yes"]).ok();
    let file = bench.env.project().join(".claude/settings.json");
    let text = fs::read_to_string(file).unwrap();
    assert!(!text.contains("statusLine"), "{text}");
    assert_eq!(commands(&bench), [""; 0]);
    assert!(!bench.env.project().join(".claude/commands").exists());
}

#[test]
fn a_command_that_somebody_changed_stays() {
    let bench = Bench::installed();
    let file = bench.env.home().join(".claude/commands/mainspring/stop.md");
    fs::write(&file, "changed").unwrap();
    let said = bench.run(&["uninstall", "--yes"]).ok();
    assert!(
        said.contains("stop.md was changed since, and stays"),
        "{said}"
    );
    assert_eq!(commands(&bench), ["stop.md"]);
}

#[test]
fn an_empty_file_comes_back_empty_whatever_happened_in_between() {
    for (empty, after) in [("", ""), ("{}", "{}"), ("{}\n", "{}\n")] {
        let bench = Bench::bare();
        fs::create_dir_all(bench.settings().parent().unwrap()).unwrap();
        fs::write(bench.settings(), empty).unwrap();
        bench.run(&["install", "--yes"]).ok();
        // Another program writes the same settings in its own way.
        let text = serde_json::to_string(&settings(&bench)).unwrap();
        fs::write(bench.settings(), text).unwrap();
        bench.run(&["uninstall", "--yes"]).ok();
        assert_eq!(fs::read_to_string(bench.settings()).unwrap(), after);
    }
}

#[test]
fn uninstalling_all_takes_out_every_registration_and_on_request_the_state() {
    let bench = Bench::installed();
    bench.run(&["install", "--scope", "local", "--yes"]).ok();
    bench.run(&["install", "--scope", "project", "--yes"]).ok();
    let other = bench.env.root().join("other");
    fs::create_dir_all(&other).unwrap();
    let install = format!(
        "cd {} && mainspring install --scope local --yes",
        other.display()
    );
    bench.shell(&install).ok();
    let shown = bench.run(&["uninstall", "--all", "--dry-run"]).ok();
    assert_eq!(shown.matches("- ").count() > 4, true, "{shown}");
    let refused = bench.run(&["uninstall", "--state", "--yes"]);
    assert_eq!(refused.code, Some(2), "only with --all: {refused:?}");
    let said = bench.run(&["uninstall", "--all", "--yes"]).ok();
    assert!(said.contains("the state stays: `rm -r "), "{said}");
    for file in [
        bench.settings(),
        bench.env.project().join(".claude/settings.json"),
        bench.env.project().join(".claude/settings.local.json"),
        other.join(".claude/settings.local.json"),
    ] {
        assert!(!file.exists(), "{}", file.display());
    }
    assert_eq!(commands(&bench), [""; 0]);
    assert!(bench.env.state().exists());
    let nothing = bench.run(&["uninstall", "--all", "--yes"]).failed();
    assert!(nothing.contains("installed nowhere"), "{nothing}");
    bench.run(&["uninstall", "--all", "--state", "--yes"]).ok();
    assert!(!bench.env.state().exists());
}

#[test]
fn public_scripts_are_replaced_on_request_and_come_back() {
    for (command, name) in [
        (
            "~/.claude/skills/taskmaster/hooks/check-completion.sh",
            "taskmaster",
        ),
        ("/opt/idle/hooks/stop-hook.sh", "idle"),
        ("bash '/my plugins/taskie/hooks/stop-hook.sh'", "taskie"),
        ("python3 /opt/fsm/scripts/hydrate-tasks.py", "fsm"),
        (
            "cd \"$CLAUDE_PROJECT_DIR\" && scripts/agent-sync.sh on-stop",
            "agent-sync",
        ),
    ] {
        let bench = Bench::bare();
        let theirs = json!({"hooks": [{"type": "command", "command": command}]});
        bench.change(|settings| settings["hooks"] = json!({"Stop": [theirs]}));
        let before = fs::read_to_string(bench.settings()).unwrap();
        bench.run(&["install", "--yes"]).ok();
        assert!(settings(&bench).to_string().contains(".sh") || command.contains(".py"));
        let found = bench.findings();
        let named = found.iter().any(|one| {
            one["about"] == "scripts" && one["what"].as_str().unwrap().starts_with(name)
        });
        assert!(named, "{found:#?}");
        bench.run(&["install", "--yes", "--replace"]).ok();
        let text = settings(&bench).to_string();
        assert!(!text.contains(".sh") && !text.contains(".py"), "{text}");
        assert_eq!(bench.findings(), Vec::<Value>::new());
        bench.run(&["uninstall", "--yes"]).ok();
        assert_eq!(fs::read_to_string(bench.settings()).unwrap(), before);
    }
}

#[test]
fn a_drop_in_that_is_registered_counts_as_registered() {
    let bench = Bench::bare();
    bench
        .run(&["install", "--compat", "taskmaster", "--yes"])
        .ok();
    let ran = bench.run(&["doctor"]);
    assert!(ran.stdout.contains("only drop-ins: taskmaster"), "{ran:?}");
    assert!(!ran.stdout.contains("are not registered"), "{ran:?}");
}

#[test]
fn a_check_of_the_connection_needs_no_trust_and_a_plan_says_at_once_that_it_does() {
    let bench = Bench::bare();
    bench.run(&["install", "--yes"]).ok();
    bench.run(&["pulse", "1"]).ok();
    let stop = json!({
        "session_id": "s", "cwd": bench.env.project(), "hook_event_name": "Stop",
        "stop_hook_active": false,
    });
    let held = crate::env::finish(bench.command().arg("hook"), stop.to_string().as_bytes()).held();
    assert!(held.contains("A child process said: mainspring"), "{held}");
    let plan = bench.env.project().join(".taskie/plans/shop");
    fs::create_dir_all(&plan).unwrap();
    fs::write(plan.join("plan.md"), "# Shop\n").unwrap();
    let said = bench.run(&["plan", "init", "shop"]).ok();
    let warning = "nothing comes of it until a person runs `mainspring trust` here";
    assert!(said.contains(warning), "{said}");
    bench.run(&["trust", "--yes"]).ok();
    let said = bench.run(&["plan", "set", "max_reviews", "3"]).ok();
    assert!(!said.contains(warning), "{said}");
}

#[test]
fn the_program_says_what_it_is_where_it_is_registered_and_which_state_it_keeps() {
    let bench = Bench::bare();
    let said = bench.run(&["debug", "self"]).ok();
    assert!(said.contains("registered nowhere here"), "{said}");
    bench.run(&["install", "--yes"]).ok();
    let other = bench.env.root().join("other");
    fs::create_dir_all(&other).unwrap();
    let install = "mainspring install --scope local --yes";
    bench
        .shell(&format!("cd {} && {install}", other.display()))
        .ok();
    let said = bench.run(&["debug", "self"]).ok();
    let version = env!("CARGO_PKG_VERSION");
    assert!(
        said.starts_with(&format!("mainspring {version}, a debug build\n")),
        "{said}"
    );
    let file = bench.settings();
    let bin = bench.bin();
    let registered = format!(
        "registered with Claude Code in {} (user): {1}/mainspring, {1}/mainspring-hook\n",
        file.display(),
        bin.display()
    );
    assert!(said.contains(&registered), "{said}");
    assert!(said.contains("also installed into "), "{said}");
    let view = bench.run(&["debug", "self", "--json"]).json();
    assert_eq!(view["registered"][0]["by"], "user");
    assert_eq!(view["state"]["journal_format"], 2);
    assert_eq!(view["state"]["exists"], true);
    bench.plugin();
    bench.run(&["install", "--yes"]).ok();
    let view = bench.run(&["debug", "self", "--json"]).json();
    assert_eq!(view["registered"][0]["by"], "plugin");
}

/// What an earlier version registered is found, named and brought up to date; its state is read.
#[test]
fn an_upgrade_finds_its_old_registration_and_state() {
    let bench = Bench::bare();
    let old = bench.env.root().join("old");
    fs::create_dir_all(&old).unwrap();
    bench.program("old", "echo 'mainspring 0.0.9'");
    fs::rename(bench.bin().join("old"), old.join("mainspring")).unwrap();
    let handler = |args: &[&str], timeout: u64| json!({"type": "command", "command": old.join("mainspring"), "args": args, "timeout": timeout});
    bench.change(|settings| {
        settings["hooks"] = json!({"Stop": [{"hooks": [
            handler(&["hook"], 720), handler(&["claim", "watch"], 86_400),
        ]}]});
    });
    bench.run(&["pulse", "9"]).ok();
    let found = bench.findings();
    let hooks = found.iter().find(|one| one["about"] == "hooks").unwrap();
    let what = hooks["what"].as_str().unwrap();
    assert!(what.starts_with("two versions are in use: "), "{what}");
    assert!(what.contains("(0.0.9)"), "{what}");
    let after = bench.fixed(&found);
    assert_eq!(after.code, Some(0), "{after:?}");
    let text = settings(&bench).to_string();
    assert!(!text.contains("/old/"), "{text}");
    let status = bench.run(&["status"]).ok();
    assert!(status.contains("beat 0 of 9"), "{status}");
}

#[test]
fn what_the_earlier_build_registered_and_wrote_is_found_and_goes_on() {
    let copy = tempfile::tempdir().unwrap();
    let earlier = copy.path().join("mainspring");
    fs::copy(MAINSPRING, &earlier).unwrap();
    // The kit's command does the same with a program that was built from an earlier commit.
    let steps = upgrade::play(&earlier, Path::new(MAINSPRING));
    assert_eq!(steps.len(), 6, "{steps:?}");
}
