//! A task list on disk: one JSON file per task in a folder of its own, under the client's
//! locks. The format is that of Claude Code, the only host with such files. For another host we
//! keep the list in the same format, and the agent gets it as text.

pub(crate) mod list;
pub(crate) mod lock;

use std::path::{Path, PathBuf};

use mainspring_kernel::machines::tasks::TaskTools;

use super::HostSpec;
use crate::env::Environment;

/// Where a host keeps task lists and skills, and whether its agent sees the list.
#[derive(Debug)]
pub(crate) struct TaskFiles {
    /// The folder of skills in a project.
    pub(super) skills: &'static str,
    /// The folders; `None` without a home.
    pub(super) roots: fn(&HostSpec, &Environment, Option<&Path>) -> Option<Roots>,
    /// The list that the environment names for this agent, if any.
    pub(crate) named: fn(&Environment) -> Option<String>,
    pub(crate) tools: fn(&Environment) -> TaskTools,
    /// The skill folders of a plugin that is installed here; empty if it is not installed, an
    /// error if we cannot tell.
    pub(crate) of_plugin: fn(&Environment, &Roots, &str) -> Result<Vec<PathBuf>, String>,
}

#[derive(Debug, Clone)]
pub(crate) struct Roots {
    /// The folder of all task lists.
    pub(crate) tasks: PathBuf,
    /// The host's list of plugins.
    pub(crate) registry: PathBuf,
    /// Folders of skills and commands, the project's first.
    pub(crate) skills: Vec<PathBuf>,
    pub(crate) cwd: PathBuf,
}

/// The folder of a list of this name, by Claude Code's own rule: every character but
/// `A-Z a-z 0-9 _ -` becomes a dash, for each UTF-16 code unit.
pub(crate) fn list_folder(id: &str) -> String {
    let mut name = String::with_capacity(id.len());
    for character in id.chars() {
        if character.is_ascii_alphanumeric() || matches!(character, '_' | '-') {
            name.push(character);
        } else {
            name.extend(std::iter::repeat_n('-', character.len_utf16()));
        }
    }
    name
}
