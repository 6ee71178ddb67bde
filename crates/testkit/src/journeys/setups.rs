//! Registration: twice, beside another host's, and undone.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::Outcome;
use super::stage::Stage;
use crate::hosts::Host;
use crate::model::{Model, Turn};
use crate::process::{PATIENCE, Running};

/// The settings of a project for Claude Code, which some hosts read, too: one hold is one hold.
pub(super) fn beside(stage: &Stage) -> Outcome {
    let model = Model::play([Turn::say("Hello."), Turn::say("Again.")]);
    let mut cast = stage.installed(&model);
    cast.client
        .set("GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS", "1");
    // Settings that people share call us by name.
    let folder = Path::new(stage.program()).parent();
    cast.client.path_first(folder.expect("it is in a folder"));
    if stage.host == Host::Claude {
        // Here the other way round: a file of hooks for Codex and Qwen.
        for host in ["codex", "qwen"] {
            cast.mainspring(&["install", "--host", host, "--scope", "project", "--yes"]);
        }
    } else {
        cast.mainspring(&["install", "--host", "claude", "--scope", "project", "--yes"]);
    }
    cast.mainspring(&["pulse", "1"]);
    cast.run("PROMPT-1 please");
    model.assert_played_out();
    Outcome::Pass
}

/// The second time changes nothing, and `doctor` finds nothing wrong with this host.
pub(super) fn installed(stage: &Stage) -> Outcome {
    let model = Model::play([]);
    let cast = stage.bare(&model);
    let name = stage.host.name();
    let plan = cast.mainspring(&["install", "--host", name, "--dry-run"]);
    assert!(plan.contains('+'), "{plan}");
    let before = fs::read(cast.client.settings()).ok();
    cast.install();
    let once = fs::read(cast.client.settings()).expect("it is written");
    assert_ne!(before.as_ref(), Some(&once), "nothing was written");
    cast.install();
    let twice = fs::read(cast.client.settings()).expect("it is still there");
    assert_eq!(once, twice, "the second time changed something");
    let mut doctor = cast.client.command(stage.program());
    let done = Running::start(doctor.args(["doctor", "--json"])).wait(PATIENCE);
    let found: Value = serde_json::from_str(&done.stdout_text()).expect("doctor prints JSON");
    let findings = found["findings"].as_array().cloned().unwrap_or_default();
    let wrong: Vec<&Value> = findings
        .iter()
        .filter(|one| !one["host"].is_null() && one["level"] == "error")
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    Outcome::Pass
}

/// Every byte of the settings comes back, and nothing is held any more.
pub(super) fn uninstalled(stage: &Stage) -> Outcome {
    let model = Model::play([Turn::say("Hello.")]);
    let cast = stage.bare(&model);
    let before = fs::read(cast.client.settings()).ok();
    cast.install();
    cast.mainspring(&["pulse", "1"]);
    let name = stage.host.name();
    cast.mainspring(&["uninstall", "--host", name, "--yes"]);
    let after = fs::read(cast.client.settings()).ok();
    assert_eq!(before, after, "the settings are not as before");
    cast.run("PROMPT-1 please");
    model.assert_played_out();
    Outcome::Pass
}
