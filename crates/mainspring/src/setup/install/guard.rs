//! The hook before every tool. It costs a process for each call of a tool, so it is registered only
//! while a setting needs it.

use super::{CommandContext, Result, hosts_here};
use crate::config::Config;
use crate::hosts::HostSpec;
use crate::hosts::install::{self, Settings};
use crate::people::trust::{ProjectSettings, Proposal};
use crate::project::Project;
use crate::store::ProjectStore;

/// The setting that denies tools.
pub(crate) const SETTING: &str = "tasks.guard_files";

/// Does a setting need it? Settings with a mistake need nothing; `doctor` reports the mistake.
pub(super) fn is_needed(
    cmd: &CommandContext,
    project: &Project,
    store: &ProjectStore,
    trusts: bool,
) -> bool {
    let config = if trusts {
        trusted(cmd, project, store)
    } else {
        cmd.config(project, store)
    };
    config.is_ok_and(|config| config.tasks.guard_files)
}

/// The settings as they will be when the project is trusted.
fn trusted(cmd: &CommandContext, project: &Project, store: &ProjectStore) -> Result<Config> {
    let proposal = Proposal::of(&cmd.env, store.state(), &project.root)?;
    let (_, settings) = proposal.settings();
    let settings = settings.map_or(ProjectSettings::None, |text| {
        ProjectSettings::Current(text.to_owned())
    });
    Ok(Config::load(&cmd.env, &project.root, &settings)?)
}

/// Does the host that has our hooks miss this one, although a setting needs it? Some hosts tell of
/// no tool: they have nothing to miss.
pub(crate) fn is_missing(
    cmd: &CommandContext,
    host: &HostSpec,
    project: &Project,
    store: &ProjectStore,
) -> bool {
    if !host.tells_of_tools() {
        return false;
    }
    let files = install::files(host, &cmd.env, &project.worktree);
    let files: Vec<Settings> = files
        .into_iter()
        .filter_map(|(_, file)| file.ok())
        .collect();
    let plugin = install::plugin(host, &cmd.env, &project.worktree, files.iter());
    let calls_us = |file: &Settings| !file.found.handlers.is_empty();
    let registered = files.iter().any(calls_us) || matches!(plugin, install::PluginState::Loads(_));
    let has_guard = |file: &Settings| file.found.guard.is_some();
    registered && !files.iter().any(has_guard) && is_needed(cmd, project, store, false)
}

/// What to do so that the setting works, for whoever has just switched it on.
pub(crate) fn hint(cmd: &CommandContext, project: &Project, store: &ProjectStore) -> String {
    let mut hosts = hosts_here(cmd).into_iter();
    if hosts.any(|host| is_missing(cmd, host, project, store)) {
        return format!("`mainspring install` registers the event that {SETTING} needs\n");
    }
    String::new()
}
