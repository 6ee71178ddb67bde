//! Skills of a host that has no task files of its own: its skills are in one folder of the
//! project and one of the person, and the agent gets a skill's task list as text.

use std::path::{Path, PathBuf};

use mainspring_kernel::machines::tasks::TaskTools;

use super::HostSpec;
use super::task_files::{Roots, TaskFiles};
use crate::env::Environment;
use crate::env::name::{FSM_TASKS, FSM_USER_SKILLS};
use crate::store::StateDir;

/// The task files of a host with skills in this folder of a project.
pub(super) const fn in_folder(skills: &'static str) -> TaskFiles {
    TaskFiles {
        skills,
        roots,
        named: |_| None,
        tools: |_| TaskTools::Unknown,
        of_plugin: |_, _, _| Ok(Vec::new()),
    }
}

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
