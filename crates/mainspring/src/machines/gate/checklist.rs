//! Does the agent have the checklist as a skill?

use std::path::{Path, PathBuf};

use mainspring_kernel::machines::gate::Checklist;

use crate::context::EventContext;

/// The skill that comes with the plugin, and that of the public script.
const SKILLS: [&str; 2] = ["completion-checklist", "taskmaster"];
/// The name of our plugin.
const PLUGIN: &str = "mainspring";

/// A skill is looked for in the plugin that this hook belongs to, in the project's and the user's
/// own folders, and in the plugin, if it is installed.
pub(super) fn find(context: &EventContext<'_>) -> Checklist {
    let host = context.host();
    let env = context.env;
    let in_plugin = host.variables.plugin.and_then(|name| env.dir(name));
    let own = in_plugin.map(|folder| folder.join("skills"));
    if own.is_some_and(|folder| has_skill(&folder)) {
        return Checklist::Skill;
    }
    let cwd = context.payload().and_then(|payload| payload.cwd.as_deref());
    let Some(roots) = host.roots(env, cwd) else {
        return Checklist::InReason;
    };
    let installed = || (host.task_files.of_plugin)(env, &roots, PLUGIN).unwrap_or_default();
    let is_there = |folders: &[PathBuf]| folders.iter().any(|folder| has_skill(folder));
    if is_there(&roots.skills) || is_there(&installed()) {
        Checklist::Skill
    } else {
        Checklist::InReason
    }
}

fn has_skill(folder: &Path) -> bool {
    SKILLS
        .iter()
        .any(|skill| folder.join(skill).join("SKILL.md").is_file())
}
