//! The plugin's prompts name actions, commands and phases: each of them exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::taskie::Taskie;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every text that an agent gets, with its path.
fn texts() -> Vec<(PathBuf, String)> {
    let root = repository();
    let folders = [
        "plugins/taskie",
        "plugins/taskie/actions",
        "plugins/taskie/commands",
        "codex/prompts",
    ];
    let mut texts = vec![];
    for folder in folders {
        for entry in fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                texts.push((path.clone(), fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(texts.len() > 30, "{}", texts.len());
    texts
}

fn actions() -> BTreeSet<String> {
    fs::read_dir(repository().join("plugins/taskie/actions"))
        .unwrap()
        .map(|entry| {
            entry
                .unwrap()
                .path()
                .file_stem()
                .unwrap()
                .to_string_lossy()
                .into_owned()
        })
        .collect()
}

/// The texts in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn every_action_has_its_command_and_the_other_way_round() {
    let names = |folder: &str| -> BTreeSet<String> {
        fs::read_dir(repository().join("plugins/taskie").join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    };
    assert_eq!(names("actions"), names("commands"));
    for needed in [
        "new-plan",
        "continue-plan",
        "create-tasks",
        "next-task",
        "next-task-tdd",
        "complete-task",
        "complete-task-tdd",
        "continue-task",
        "add-task",
        "plan-review",
        "tasks-review",
        "code-review",
        "all-code-review",
        "post-plan-review",
        "post-tasks-review",
        "post-code-review",
        "post-all-code-review",
    ] {
        assert!(actions().contains(needed), "{needed}");
    }
}

#[test]
fn every_file_that_a_prompt_points_to_is_there() {
    for (path, text) in texts() {
        for word in text.split_whitespace() {
            if let Some(below) = word.strip_prefix("@${CLAUDE_PLUGIN_ROOT}/") {
                let file = repository()
                    .join("plugins/taskie")
                    .join(below.trim_end_matches('.'));
                assert!(file.is_file(), "{}: {word}", path.display());
            }
            if let Some((_, name)) = word
                .trim_matches(['`', '.', ',', ')', '('])
                .split_once("/taskie:")
            {
                assert!(actions().contains(name), "{}: {word}", path.display());
            }
        }
    }
}

/// A person runs each quoted command where it makes sense: the command must be valid, and every
/// phase and field that it names must exist.
#[test]
fn every_command_that_a_prompt_calls_is_understood() {
    let mut commands = BTreeSet::new();
    for (path, text) in texts() {
        for command in quoted(&text).filter_map(|quote| quote.strip_prefix("mainspring plan ")) {
            commands.insert((command.trim().to_owned(), path.clone()));
        }
    }
    assert!(commands.len() > 20, "{}", commands.len());
    for (command, path) in commands {
        let taskie = Taskie::with_state(serde_json::json!({"next_phase": "plan-review"}));
        let line = command
            .replace("NAME", "fresh")
            .replace("ID", "1")
            .replace(" N", " 4");
        let mut args = vec!["plan"];
        args.extend(line.split_whitespace());
        // No finding is open here, and accepting needs a terminal.
        let ran = match args[1] {
            "answer" => continue,
            "accept" => taskie.env.in_terminal(&args),
            _ => taskie.run(&args, b""),
        };
        assert_eq!(ran.code, Some(0), "{}: {command}: {ran:?}", path.display());
    }
}

/// The last phase is recorded after the agent's last commit.
#[test]
fn after_the_last_phase_every_prompt_and_every_message_has_the_rest_committed() {
    let rest = "commit what is left of the plan's files";
    let mut prompts = 0;
    for (path, text) in texts() {
        for line in text.lines() {
            let records = line.contains("run `mainspring plan advance complete`");
            if records || line.contains("the plan is complete**") {
                assert!(line.contains(rest), "{}: {line}", path.display());
                prompts += 1;
            }
        }
    }
    assert_eq!(
        prompts, 4,
        "two cases in the plugin's prompt, two in Codex's"
    );
    let taskie = Taskie::with_state(serde_json::json!({
        "phase": "all-code-review", "next_phase": "complete",
    }));
    let route = taskie.env.agent("s", &["plan", "route"]).ok();
    let command = "`mainspring plan advance complete --plan demo`";
    assert!(route.contains(command) && route.contains(rest), "{route}");
    let did = taskie
        .env
        .agent("s", &["plan", "advance", "complete", "--plan", "demo"])
        .ok();
    assert!(did.contains("phase complete, next nothing"), "{did}");
    assert!(did.contains(rest), "{did}");
    let route = taskie.env.agent("s", &["plan", "route"]).ok();
    assert!(route.contains(rest), "{route}");
}

#[test]
fn the_ground_rules_name_every_phase_and_field() {
    let rules = fs::read_to_string(repository().join("plugins/taskie/ground-rules.md")).unwrap();
    let quoted: BTreeSet<&str> = quoted(&rules).collect();
    for phase in [
        "new-plan",
        "plan-review",
        "post-plan-review",
        "create-tasks",
        "tasks-review",
        "post-tasks-review",
        "next-task",
        "next-task-tdd",
        "complete-task",
        "complete-task-tdd",
        "continue-task",
        "code-review",
        "post-code-review",
        "all-code-review",
        "post-all-code-review",
        "complete",
    ] {
        assert!(quoted.contains(phase), "{phase}");
    }
    for field in [
        "max_reviews",
        "current_task",
        "phase",
        "phase_iteration",
        "next_phase",
        "review_model",
        "consecutive_clean",
        "tdd",
    ] {
        assert!(quoted.contains(field), "{field}");
    }
}
