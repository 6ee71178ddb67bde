//! Finds a skill's task list, if it has one.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::hosts::task_files::{Roots, TaskFiles};
use mainspring_platform::path;
use mainspring_store::{Trouble, atomic};

use crate::env::Environment;

/// The task list's file, next to the skill's text.
pub(crate) const FILE: &str = "fsm.json";

/// Where the skill comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The host said that the skill is the project's or the user's own.
    Own,
    /// The host did not say. A colon in the name makes it a plugin's.
    Unsaid,
}

/// The skill's `fsm.json`; `None` if the skill has none, which is the usual case. To find a
/// plugin's skill needs the client's registry, so a missing registry is an error.
pub(super) fn locate(
    host: &TaskFiles,
    env: &Environment,
    roots: &Roots,
    skill: &str,
    origin: Origin,
) -> Result<Option<PathBuf>, String> {
    let (plugin, rest) = match (skill.split_once(':'), origin) {
        (Some(parts), Origin::Unsaid) => parts,
        (Some(_), Origin::Own) | (None, _) => return Ok(in_folders(&roots.skills, &[skill])),
    };
    let folders = (host.of_plugin)(env, roots, plugin)
        .map_err(|problem| format!("Skill '{skill}' not found - {problem}"))?;
    if folders.is_empty() {
        // It is no plugin's skill: a folder may have a name like one.
        return Ok(in_folders(&roots.skills, &[rest, skill]));
    }
    Ok(in_folders(&folders, &[rest]))
}

/// Is there a list that a skill of this name may have, wherever the client keeps plugins? For a
/// registry that cannot be read: `<registry's folder>/*/*/<plugin>/*/skills/<skill>`, with or
/// without the folders of marketplaces and versions.
pub(super) fn is_anywhere(roots: &Roots, skill: &str) -> bool {
    let Some((plugin, rest)) = skill.split_once(':') else {
        return false;
    };
    if in_folders(&roots.skills, &[rest, skill]).is_some() {
        return true;
    }
    let mut folders: Vec<PathBuf> = roots
        .registry
        .parent()
        .map(Into::into)
        .into_iter()
        .collect();
    let mut within_plugin = Vec::new();
    for _ in 0..PLUGIN_DEPTH {
        within_plugin = below_all(&within_plugin);
        let next = below_all(&folders);
        within_plugin.extend(next.iter().filter(|path| path.ends_with(plugin)).cloned());
        let kinds = ["skills", "commands"];
        let places = within_plugin
            .iter()
            .flat_map(|folder| kinds.map(|kind| folder.join(kind)));
        if in_folders(&places.collect::<Vec<_>>(), &[rest]).is_some() {
            return true;
        }
        folders = next;
    }
    false
}

/// How deep below the client's folder of plugins a plugin may be.
const PLUGIN_DEPTH: usize = 5;
/// The limit on folders to look into, on each level.
const MOST_FOLDERS: usize = 500;

/// The folders in these folders.
fn below_all(folders: &[PathBuf]) -> Vec<PathBuf> {
    let entries = folders
        .iter()
        .filter_map(|folder| fs::read_dir(folder).ok());
    entries
        .flatten()
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .take(MOST_FOLDERS)
        .collect()
}

/// The first list. One without the skill's text beside it counts only if no place has the text:
/// otherwise the host ran a skill from elsewhere, and an archive could lay out tasks for it.
fn in_folders(folders: &[PathBuf], names: &[&str]) -> Option<PathBuf> {
    let places = || {
        let folders = folders.iter();
        folders.flat_map(|folder| names.iter().flat_map(|name| below(folder, name)))
    };
    let first = places().find(|path| may_exist(path))?;
    if has_text(&first) || !places().any(|path| has_text(&path)) {
        return Some(first);
    }
    places().find(|path| may_exist(path) && has_text(path))
}

/// Is the text of a skill or of a command beside this list?
fn has_text(list: &Path) -> bool {
    let Some(folder) = list.parent() else {
        return false;
    };
    let mut command = folder.as_os_str().to_owned();
    command.push(".md");
    folder.join("SKILL.md").exists() || Path::new(&command).exists()
}

/// A path that cannot be examined may be a list: reading it will say what is wrong.
fn may_exist(path: &Path) -> bool {
    match fs::symlink_metadata(path) {
        Ok(_) => true,
        Err(error) => !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
    }
}

/// The folders in which a skill of this name can be, below a folder. A name with a colon is one
/// folder of that name, or nested folders. A name that could lead elsewhere has none.
fn below(folder: &Path, name: &str) -> Vec<PathBuf> {
    let plain = |part: &str| {
        !part.is_empty() && !part.starts_with('.') && !part.contains(['/', '\\', '\0'])
    };
    if name.len() > 200 || !name.split(':').all(plain) {
        return Vec::new();
    }
    let mut places = vec![folder.join(name).join(FILE)];
    if name.contains(':') {
        let nested = name
            .split(':')
            .fold(folder.to_owned(), |path, part| path.join(part));
        places.push(nested.join(FILE));
    }
    places
}

/// Reads the file through symlinks, so that a linked skill works, too. The file itself must be
/// a regular file of bounded size.
pub(super) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, Trouble> {
    let real = path::real(path).map_err(Trouble::io("find", path))?;
    let gone = || Trouble::NotAFile { path: path.into() };
    atomic::read(&real, limit)?.ok_or_else(gone)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    struct Place {
        temp: tempfile::TempDir,
    }

    impl Place {
        fn new() -> Self {
            Self {
                temp: tempfile::tempdir().unwrap(),
            }
        }

        fn put(&self, path: &str, text: &str) {
            let path = self.temp.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            atomic::replace(&path, text.as_bytes()).unwrap();
        }

        /// Where the list was found, below the test's own folder.
        fn locate(&self, skill: &str) -> Result<Option<String>, String> {
            let roots = Roots {
                tasks: self.temp.path().join("tasks"),
                registry: self.temp.path().join("registry.json"),
                skills: vec![
                    self.temp.path().join("project/.claude/skills"),
                    self.temp.path().join("home/.claude/skills"),
                ],
                cwd: self.temp.path().join("project"),
            };
            let shown = |path: PathBuf| {
                let inside = path.strip_prefix(self.temp.path()).unwrap();
                inside.display().to_string()
            };
            let env = Environment::given(&[], mainspring_kernel::Millis(0));
            let host = &crate::hosts::DEFAULT.task_files;
            Ok(locate(host, &env, &roots, skill, Origin::Unsaid)?.map(shown))
        }
    }

    #[test]
    fn a_plain_skill_is_the_projects_before_the_users() {
        let place = Place::new();
        place.put("home/.claude/skills/s/fsm.json", "[]");
        let found = place.locate("s").unwrap();
        assert_eq!(found.as_deref(), Some("home/.claude/skills/s/fsm.json"));
        place.put("project/.claude/skills/s/fsm.json", "[]");
        let found = place.locate("s").unwrap();
        assert_eq!(found.as_deref(), Some("project/.claude/skills/s/fsm.json"));
        assert_eq!(place.locate("t").unwrap(), None);
    }

    #[test]
    fn a_list_without_a_text_does_not_shadow_the_skill_that_has_one() {
        let place = Place::new();
        place.put("project/.claude/skills/s/fsm.json", "[]");
        place.put("home/.claude/skills/s/SKILL.md", "# S");
        assert_eq!(place.locate("s").unwrap(), None);
        place.put("home/.claude/skills/s/fsm.json", "[]");
        let found = place.locate("s").unwrap();
        assert_eq!(found.as_deref(), Some("home/.claude/skills/s/fsm.json"));
        place.put("project/.claude/skills/s/SKILL.md", "# S");
        let found = place.locate("s").unwrap();
        assert_eq!(found.as_deref(), Some("project/.claude/skills/s/fsm.json"));
    }

    #[test]
    fn a_plugins_skill_needs_the_registry() {
        let place = Place::new();
        place.put("project/.claude/skills/s/fsm.json", "[]");
        let missing = "Skill 'p:s' not found - installed_plugins.json is missing or malformed";
        assert_eq!(place.locate("p:s").unwrap_err(), missing);
        place.put("registry.json", "{}");
        let said = place.locate("p:s").unwrap_err();
        assert!(
            said.starts_with(missing) && said.ends_with("(1 or 2)"),
            "{said}"
        );
        // There is no such plugin, so it is searched as a plain skill.
        place.put("registry.json", "[]");
        let found = place.locate("p:s").unwrap();
        assert_eq!(found.as_deref(), Some("project/.claude/skills/s/fsm.json"));
    }

    #[test]
    fn a_plugin_that_is_installed_is_not_stood_in_for() {
        let place = Place::new();
        place.put("project/.claude/skills/s/fsm.json", "[]");
        let install = place.temp.path().join("cache/p");
        place.put(
            "registry.json",
            &format!(r#"[{{"name":"p@1","installPath":{install:?}}}]"#),
        );
        assert_eq!(place.locate("p:s").unwrap(), None);
        place.put("cache/p/commands/s/fsm.json", "[]");
        let found = place.locate("p:s").unwrap();
        assert_eq!(found.as_deref(), Some("cache/p/commands/s/fsm.json"));
        place.put("cache/p/skills/s/fsm.json", "[]");
        let found = place.locate("p:s").unwrap();
        assert_eq!(found.as_deref(), Some("cache/p/skills/s/fsm.json"));
        place.put("cache/p/skills/deep/er/fsm.json", "[]");
        let found = place.locate("p:deep:er").unwrap();
        assert_eq!(found.as_deref(), Some("cache/p/skills/deep/er/fsm.json"));
    }

    #[test]
    fn hostile_names_lead_nowhere() {
        let place = Place::new();
        place.put("project/.claude/fsm.json", "[]");
        place.put("project/fsm.json", "[]");
        place.put("registry.json", "[]");
        for name in [
            "", ".", "..", "../..", "x/../..", "a:..", "a:../..", "..:..", "a\0b", "a\\b",
        ] {
            assert_eq!(place.locate(name).unwrap(), None, "{name:?}");
        }
    }

    proptest! {
        #[test]
        fn no_name_leaves_the_folder(name in "[a.:/\\\\\\x00 -]{0,12}") {
            for path in below(Path::new("/skills"), &name) {
                let inside = path.strip_prefix("/skills").unwrap();
                let plain = |part| matches!(part, std::path::Component::Normal(_));
                prop_assert!(inside.components().all(plain), "{path:?}");
            }
        }
    }
}
