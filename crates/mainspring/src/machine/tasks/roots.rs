//! Where the client keeps what we look at: its task lists, its plugins, its skills.

use std::path::PathBuf;

use crate::env::{Environment, name};

#[derive(Debug, Clone)]
pub(super) struct Roots {
    /// The folder of all task lists.
    pub(super) tasks: PathBuf,
    pub(super) registry: PathBuf,
    /// Folders of skills and commands, the project's first.
    pub(super) skills: Vec<PathBuf>,
    pub(super) cwd: PathBuf,
}

impl Roots {
    /// `None` without a home: then there is no client either.
    pub(super) fn of(env: &Environment, cwd: Option<&std::path::Path>) -> Option<Self> {
        let client = env
            .dir(name::CLAUDE_CONFIG)
            .or_else(|| Some(env.home()?.join(".claude")))?;
        let cwd = cwd.map_or_else(PathBuf::new, PathBuf::from);
        // After the agent ran `cd`, its skills are still those of where it was started.
        let started = env.dir(name::CLAUDE_PROJECT);
        let mut folders: Vec<PathBuf> = [Some(cwd.clone()), started]
            .into_iter()
            .flatten()
            .filter(|folder| folder.is_absolute())
            .collect();
        folders.dedup();
        let kinds =
            |folder: PathBuf| [".claude/skills", ".claude/commands"].map(|kind| folder.join(kind));
        let mut skills: Vec<PathBuf> = folders.into_iter().flat_map(kinds).collect();
        skills.push(
            env.dir(name::FSM_USER_SKILLS)
                .unwrap_or_else(|| client.join("skills")),
        );
        skills.push(client.join("commands"));
        Some(Self {
            tasks: env
                .dir(name::FSM_TASKS)
                .unwrap_or_else(|| client.join("tasks")),
            registry: env
                .dir(name::FSM_PLUGINS)
                .unwrap_or_else(|| client.join("plugins/installed_plugins.json")),
            skills,
            cwd,
        })
    }

    /// The list's own folder.
    pub(super) fn list(&self, id: &str) -> PathBuf {
        self.tasks.join(sanitised(id))
    }
}

/// The client's own rule for a list's name, so that we meet in the same folder: every
/// character but `A-Z a-z 0-9 _ -` becomes a dash. It counts as UTF-16 does.
pub(super) fn sanitised(id: &str) -> String {
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use mainspring_kernel::Millis;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_lists_name_is_the_clients() {
        for (id, name) in [
            ("2245008f-0022-4827", "2245008f-0022-4827"),
            ("../../etc", "------etc"),
            ("my list", "my-list"),
            ("é🙂", "---"),
        ] {
            assert_eq!(sanitised(id), name);
        }
    }

    #[test]
    fn the_roots_are_the_clients_unless_they_are_moved() {
        let cwd = Path::new("/p");
        let roots = |vars: &[(&str, &str)]| {
            let roots = Roots::of(&Environment::given(vars, Millis(0)), Some(cwd)).unwrap();
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
        assert!(Roots::of(&Environment::given(&[], Millis(0)), Some(cwd)).is_none());
    }

    proptest! {
        #[test]
        fn no_id_leaves_the_folder_of_lists(id in ".{1,80}") {
            let name = sanitised(&id);
            let path = Path::new("/tasks").join(&name);
            prop_assert_eq!(path.parent(), Some(Path::new("/tasks")));
            prop_assert!(!name.contains('.'));
        }
    }
}
