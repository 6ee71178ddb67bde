//! Finds a project's plans. This module reads the names of files, not their contents.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use mainspring_kernel::machines::review::structure::Nested;
use mainspring_store::{Trouble, no_symlink};

/// The folder of plans, relative to the project.
pub(crate) use crate::markers::PLANS;
pub(crate) const STATE: &str = "state.json";

/// No plan has this many entries; entries beyond them are ignored.
const MOST_ENTRIES: usize = 20_000;
/// How deep below a plan we look for Markdown files.
const DEEPEST: usize = 4;

/// One plan's directory.
#[derive(Debug, Clone)]
pub(crate) struct PlanDir {
    pub(crate) id: String,
    pub(crate) path: PathBuf,
    /// The Markdown files directly in it, sorted.
    pub(crate) names: Vec<String>,
    pub(crate) nested: Nested,
    /// When a Markdown file or the state was last written; determined only if there is more
    /// than one plan to choose from.
    pub(crate) changed: Option<SystemTime>,
}

impl PlanDir {
    pub(crate) fn has(&self, name: &str) -> bool {
        let found = self.names.binary_search_by(|held| held.as_str().cmp(name));
        found.is_ok()
    }

    /// Does it hold a review?
    pub(crate) fn has_reviews(&self) -> bool {
        self.names.iter().any(|name| name.contains("-review-"))
    }
}

/// Every plan, the most recently changed first.
pub(crate) fn all(plans: &Path) -> Result<Vec<PlanDir>, Trouble> {
    let mut found = Vec::new();
    for entry in no_symlink::list(plans, MOST_ENTRIES)? {
        let Some(id) = entry.name.to_str().and_then(plan_id) else {
            continue;
        };
        if entry.is_folder
            && let Some(plan) = look(id, plans.join(entry.name))?
        {
            found.push(plan);
        }
    }
    if found.len() > 1 {
        for plan in &mut found {
            plan.changed = changed(plan);
        }
        found.sort_by(|a, b| b.changed.cmp(&a.changed).then_with(|| a.id.cmp(&b.id)));
    }
    Ok(found)
}

/// A folder's name as a plan's id, if it is safe in prompts and messages.
pub(crate) fn plan_id(name: &str) -> Option<String> {
    let usable = !name.is_empty()
        && name.len() <= 128
        && !name.starts_with('.')
        && !name.contains(|c: char| c.is_control() || c == '/');
    usable.then(|| name.to_owned())
}

/// Reads a plan's folder; `None` if it holds nothing of a plan.
fn look(id: String, path: PathBuf) -> Result<Option<PlanDir>, Trouble> {
    let mut plan = PlanDir {
        id,
        names: Vec::new(),
        nested: Nested::Nothing,
        changed: None,
        path,
    };
    let mut has_state = false;
    for entry in no_symlink::list(&plan.path, MOST_ENTRIES)? {
        let Ok(name) = entry.name.into_string() else {
            continue;
        };
        if entry.is_folder {
            if plan.nested == Nested::Nothing && holds_markdown(&plan.path.join(name), DEEPEST) {
                plan.nested = Nested::Markdown;
            }
        } else if is_markdown(&name) {
            plan.names.push(name);
        } else if name == STATE {
            has_state = true;
        }
    }
    plan.names.sort_unstable();
    let something = has_state || !plan.names.is_empty() || plan.nested == Nested::Markdown;
    Ok(something.then_some(plan))
}

fn is_markdown(name: &str) -> bool {
    // A file that is called just `.md` is hidden and has no extension.
    name.len() > 3 && name.ends_with(".md")
}

fn holds_markdown(dir: &Path, depth: usize) -> bool {
    let Ok(entries) = no_symlink::list(dir, MOST_ENTRIES) else {
        return false;
    };
    entries.iter().any(|entry| {
        if entry.is_folder {
            depth > 0 && holds_markdown(&dir.join(&entry.name), depth - 1)
        } else {
            entry.name.to_str().is_some_and(is_markdown)
        }
    })
}

fn changed(plan: &PlanDir) -> Option<SystemTime> {
    plan.names
        .iter()
        .map(String::as_str)
        .chain([STATE])
        .filter_map(|name| written(&plan.path.join(name)))
        .max()
}

/// When a file was last written.
pub(crate) fn written(path: &Path) -> Option<SystemTime> {
    fs::symlink_metadata(path).ok()?.modified().ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mainspring_store::atomic;

    use super::*;

    fn write(path: &Path, age: u64) {
        atomic::replace(path, b"x").unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 - age);
        let file = fs::File::options().append(true).open(path).unwrap();
        file.set_modified(time).unwrap();
    }

    fn ids(plans: &Path) -> Vec<String> {
        all(plans)
            .unwrap()
            .into_iter()
            .map(|plan| plan.id)
            .collect()
    }

    #[test]
    fn the_latest_change_counts_the_state_too() {
        let temp = tempfile::tempdir().unwrap();
        let plans = temp.path();
        assert_eq!(ids(&plans.join("none")), [] as [&str; 0]);
        write(&plans.join("old/plan.md"), 50);
        write(&plans.join("new/plan.md"), 10);
        fs::create_dir(plans.join("empty")).unwrap();
        write(&plans.join("old/notes.txt"), 0);
        assert_eq!(ids(plans), ["new", "old"]);
        write(&plans.join("old/state.json"), 5);
        assert_eq!(ids(plans), ["old", "new"]);
    }

    #[test]
    fn markdown_below_is_seen_and_nothing_else_is() {
        let temp = tempfile::tempdir().unwrap();
        write(&temp.path().join("p/plan.md"), 0);
        write(&temp.path().join("p/pictures/a.png"), 0);
        assert_eq!(all(temp.path()).unwrap()[0].nested, Nested::Nothing);
        write(&temp.path().join("p/deep/er/notes.md"), 0);
        let plan = &all(temp.path()).unwrap()[0];
        assert_eq!(plan.nested, Nested::Markdown);
        assert_eq!(plan.names, ["plan.md"]);
    }

    #[test]
    fn a_plan_has_a_name_that_can_be_said() {
        for name in ["", ".hidden", "a\nb", &"x".repeat(129)] {
            assert_eq!(plan_id(name), None, "{name:?}");
        }
        assert!(plan_id("my plan (2)").is_some());
    }
}
