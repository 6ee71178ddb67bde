//! A task list on disk: one JSON file per task in a folder of its own, under the client's
//! locks. The format is that of Claude Code, the only host with such files. For another host we
//! keep the list in the same format, and the agent gets it as text.

pub(crate) mod list;
pub(crate) mod lock;

use std::path::{Path, PathBuf};

use mainspring_kernel::machines::tasks::TaskTools;

use super::HostSpec;
use crate::env::Environment;
use crate::env::name::{FSM_TASKS, FSM_USER_SKILLS};
use crate::store::StateDir;

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

/// The task files of a host with skills in this folder of a project.
pub(super) const fn with_skills_in(skills: &'static str) -> TaskFiles {
    TaskFiles {
        skills,
        roots,
        named: |_| None,
        tools: |_| TaskTools::Unknown,
        of_plugin: |_, _, _| Ok(Vec::new()),
    }
}

/// Its skills are in one folder of the project and one of the person, and the agent gets a skill's
/// task list as text.
fn roots(host: &HostSpec, env: &Environment, cwd: Option<&Path>) -> Option<Roots> {
    let persons = host.own_folder(env)?.join("skills");
    let cwd = cwd.map_or_else(PathBuf::new, PathBuf::from);
    let mut skills = Vec::new();
    if cwd.is_absolute() {
        skills.push(cwd.join(host.task_files.skills));
    }
    skills.push(env.dir(FSM_USER_SKILLS).unwrap_or(persons));
    Some(Roots {
        tasks: match env.dir(FSM_TASKS) {
            Some(tasks) => tasks,
            None => StateDir::of(env)?.tasks(),
        },
        registry: PathBuf::new(),
        skills,
        cwd,
    })
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
