//! Where the client keeps its task lists, its plugins and its skills.

use std::path::{Path, PathBuf};

use mainspring_kernel::machines::tasks::TaskTools;

use super::{name, plugins};
use crate::env::Environment;
use crate::env::name::{FSM_PLUGINS, FSM_TASKS, FSM_USER_SKILLS};
use crate::hosts::HostSpec;
use crate::hosts::task_files::{Roots, TaskFiles};

pub(super) const TASK_FILES: TaskFiles = TaskFiles {
    skills: ".claude/skills",
    roots,
    named: |env| env.var(name::TASK_LIST),
    tools,
    of_plugin: plugins::folders,
};

/// The client does not tell a hook whether its task tools are on, unless a variable switched
/// them on.
fn tools(env: &Environment) -> TaskTools {
    match env.var(name::TODO_TOOLS).as_deref() {
        Some("1" | "true" | "yes" | "on") => TaskTools::Shown,
        Some(_) | None => TaskTools::Unknown,
    }
}

fn roots(host: &HostSpec, env: &Environment, cwd: Option<&Path>) -> Option<Roots> {
    let client = host.own_folder(env)?;
    let cwd = cwd.map_or_else(PathBuf::new, PathBuf::from);
    // After the agent ran `cd`, it still has the skills of the folder in which it was started.
    let started = env.dir(name::PROJECT);
    let mut folders: Vec<PathBuf> = [Some(cwd.clone()), started]
        .into_iter()
        .flatten()
        .filter(|folder| folder.is_absolute())
        .collect();
    folders.dedup();
    let kinds = |folder: PathBuf| {
        [host.task_files.skills, ".claude/commands"].map(|kind| folder.join(kind))
    };
    let mut skills: Vec<PathBuf> = folders.into_iter().flat_map(kinds).collect();
    skills.push(
        env.dir(FSM_USER_SKILLS)
            .unwrap_or_else(|| client.join("skills")),
    );
    skills.push(client.join("commands"));
    Some(Roots {
        tasks: env.dir(FSM_TASKS).unwrap_or_else(|| client.join("tasks")),
        registry: env
            .dir(FSM_PLUGINS)
            .unwrap_or_else(|| client.join(plugins::FILE)),
        skills,
        cwd,
    })
}

#[cfg(test)]
mod tests {
    use mainspring_kernel::Millis;
    use proptest::prelude::*;

    use super::*;
    use crate::hosts::DEFAULT;
    use crate::hosts::task_files::list_folder;

    #[test]
    fn a_lists_name_is_the_clients() {
        for (id, name) in [
            ("2245008f-0022-4827", "2245008f-0022-4827"),
            ("../../etc", "------etc"),
            ("my list", "my-list"),
            ("é🙂", "---"),
        ] {
            assert_eq!(list_folder(id), name);
        }
    }

    #[test]
    fn the_roots_are_the_clients_unless_they_are_moved() {
        let cwd = Path::new("/p");
        let roots = |vars: &[(&str, &str)]| {
            let roots = DEFAULT
                .roots(&Environment::given(vars, Millis(0)), Some(cwd))
                .unwrap();
            let text = |path: &PathBuf| path.display().to_string();
            let skills: Vec<String> = roots.skills.iter().map(text).collect();
            format!(
                "{} {} {}",
                text(&roots.tasks),
                text(&roots.registry),
                skills.join(" ")
            )
        };
        insta::assert_snapshot!(
            roots(&[("HOME", "/h")]),
            @"/h/.claude/tasks /h/.claude/plugins/installed_plugins.json /p/.claude/skills /p/.claude/commands /h/.claude/skills /h/.claude/commands"
        );
        insta::assert_snapshot!(
            roots(&[("HOME", "/h"), ("CLAUDE_CONFIG_DIR", "/c"), ("CLAUDE_PROJECT_DIR", "/q")]),
            @"/c/tasks /c/plugins/installed_plugins.json /p/.claude/skills /p/.claude/commands /q/.claude/skills /q/.claude/commands /c/skills /c/commands"
        );
        insta::assert_snapshot!(
            roots(&[
                ("HOME", "/h"),
                ("FSM_TASK_ROOT", "/t"),
                ("FSM_PLUGINS_FILE", "/r.json"),
                ("FSM_USER_SKILLS_ROOT", "/s"),
            ]),
            @"/t /r.json /p/.claude/skills /p/.claude/commands /s /h/.claude/commands"
        );
        assert!(
            DEFAULT
                .roots(&Environment::given(&[], Millis(0)), Some(cwd))
                .is_none()
        );
    }

    proptest! {
        #[test]
        fn no_id_leaves_the_folder_of_lists(id in ".{1,80}") {
            let name = list_folder(&id);
            let path = Path::new("/tasks").join(&name);
            prop_assert_eq!(path.parent(), Some(Path::new("/tasks")));
            prop_assert!(!name.contains('.'));
        }
    }
}
