//! Skills of a host that has no task files of its own: its skills are in one folder of the
//! project and one of the person, and the agent gets a skill's task list as text.

use std::path::{Path, PathBuf};

use super::task_files::Roots;
use crate::env::Environment;
use crate::env::name::{FSM_TASKS, FSM_USER_SKILLS};
use crate::store::StateDir;

/// The task files of a host with skills in these folders.
macro_rules! in_folder {
    ($project:expr, $persons:expr) => {{
        use mainspring_kernel::machines::tasks::TaskTools;
        use $crate::hosts::skills;
        use $crate::hosts::task_files::TaskFiles;
        TaskFiles {
            roots: |env, cwd| {
                let persons: fn(&Environment) -> Option<PathBuf> = $persons;
                skills::roots(env, cwd, $project, persons(env)?)
            },
            named: |_| None,
            folder: skills::list_folder,
            tools: |_| TaskTools::Unknown,
            of_plugin: |_, _, _| Ok(Vec::new()),
        }
    }};
}
pub(super) use in_folder;

pub(super) fn roots(
    env: &Environment,
    cwd: Option<&Path>,
    project: &str,
    persons: PathBuf,
) -> Option<Roots> {
    let cwd = cwd.map_or_else(PathBuf::new, PathBuf::from);
    let mut skills = Vec::new();
    if cwd.is_absolute() {
        skills.push(cwd.join(project));
    }
    skills.push(env.dir(FSM_USER_SKILLS).unwrap_or(persons));
    let tasks = env.dir(FSM_TASKS);
    Some(Roots {
        tasks: match tasks {
            Some(tasks) => tasks,
            None => StateDir::of(env)?.tasks(),
        },
        registry: PathBuf::new(),
        skills,
        cwd,
    })
}

/// A session's id as the name of a folder.
pub(super) fn list_folder(id: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    id.chars().map(|c| if plain(c) { c } else { '-' }).collect()
}
