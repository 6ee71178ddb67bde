//! What the files of one project are, by their names.

use std::fs;
use std::path::{Path, PathBuf};

use mainspring_kernel::Millis;
use mainspring_kernel::retention::{Rules, Segment};
use mainspring_store::journal;

use super::survey::Size;
use super::{changed, listed, names, weigh};
use crate::store::StateDir;

/// A path that is written in a file.
pub(super) const PATH_BYTES: u64 = 8 * 1024;

/// What a file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    /// The journal's current segment.
    Journal,
    /// A closed segment of the journal.
    Segment,
    Session,
    /// A reviewer's run, or the history of reviewers.
    Review,
    /// What a check printed, the tree on which it passed, or the index of a tree.
    Check,
    /// A loop that was put aside, or what a crash left.
    Aside,
    /// A machine's own state, orders, the lock.
    Machine,
}

/// A file, or a folder of files that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct File {
    /// Relative to the project's state.
    pub(super) name: String,
    pub(super) kind: FileKind,
    pub(super) size: Size,
    pub(super) changed: Millis,
}

impl FileKind {
    pub(super) fn of(name: &str) -> Self {
        if name == journal::CURRENT {
            Self::Journal
        } else if journal::is_closed_segment(name) {
            Self::Segment
        } else if name.starts_with("sessions/") {
            Self::Session
        } else if name.starts_with("reviews/") || name.starts_with("reviews.") {
            Self::Review
        } else if name.starts_with("checks/") {
            Self::Check
        } else if name.contains(".aside-")
            || (name.starts_with('.') && name.ends_with(".mainspring"))
        {
            Self::Aside
        } else {
            Self::Machine
        }
    }

    /// Does it go when it is old? What is still open stays, and segments have a rule of their own.
    fn gets_old(self) -> bool {
        matches!(
            self,
            Self::Session | Self::Review | Self::Check | Self::Aside
        )
    }
}

/// The names of a project's files, those in a folder with the folder, in their order.
pub(super) fn names_of_project(dir: &Path) -> Vec<String> {
    let mut all = listed_of_project(dir);
    all.sort_unstable();
    all
}

fn listed_of_project(dir: &Path) -> Vec<String> {
    let mut all = Vec::new();
    for name in listed(dir) {
        match name.as_str() {
            "sessions" | "reviews" => all.extend(below(dir, &name)),
            "checks" => all.extend(below(dir, &name).flat_map(|name| of_check(dir, name))),
            _ => all.push(name),
        }
    }
    all
}

fn below(dir: &Path, folder: &str) -> impl Iterator<Item = String> {
    let names = listed(&dir.join(folder));
    names.map(move |name| format!("{folder}/{name}"))
}

/// Each check has a folder with its logs. Beside these folders are indexes, and trees that a
/// command checked out and a crash left: such a tree is one thing.
fn of_check(dir: &Path, name: String) -> Vec<String> {
    let whole = ["checks/index-", "checks/tree-"];
    if whole.iter().any(|start| name.starts_with(start)) {
        return vec![name];
    }
    below(dir, &name).collect()
}

/// Looks at one file; `None` if it is gone.
fn look(dir: &Path, name: String) -> Option<File> {
    let (size, changed) = weigh(&dir.join(&name))?;
    Some(File {
        kind: FileKind::of(&name),
        name,
        size,
        changed,
    })
}

/// All files of one project.
pub(super) fn of_project(dir: &Path) -> Vec<File> {
    let names = names_of_project(dir).into_iter();
    names.filter_map(|name| look(dir, name)).collect()
}

/// The files of one project that are old, oldest first.
pub(super) fn old_of_project(dir: &Path, rules: &Rules) -> Vec<File> {
    let names = listed_of_project(dir).into_iter();
    let names = names.filter(|name| FileKind::of(name).gets_old());
    let files = names.filter_map(|name| look(dir, name));
    let mut old: Vec<File> = files.filter(|file| rules.is_old(file.changed)).collect();
    old.sort_unstable_by_key(|file| file.changed);
    old
}

/// The closed segments that go, of all projects.
pub(super) fn swept_segments(state: &StateDir, rules: &Rules) -> Vec<PathBuf> {
    let (mut segments, mut paths) = (Vec::new(), Vec::new());
    let mut current: u64 = 0;
    for (project, key) in names(&state.projects()).into_iter().enumerate() {
        let dir = state.projects().join(key);
        let journal = fs::symlink_metadata(dir.join(journal::CURRENT));
        current += journal.map_or(0, |meta| meta.len());
        let closed = names(&dir).into_iter();
        let closed = closed.filter(|name| FileKind::of(name) == FileKind::Segment);
        for file in closed.filter_map(|name| look(&dir, name)) {
            paths.push(dir.join(file.name));
            segments.push(Segment {
                project,
                changed: file.changed,
                bytes: file.size.bytes,
            });
        }
    }
    let swept = rules.swept_segments(&segments, current).into_iter();
    swept
        .filter_map(|index| paths.get(index).cloned())
        .collect()
}

/// The ends of the names of a session's files.
const SESSION_FILES: [&str; 3] = [".gate.json", ".json", ".count"];

/// The session that a file of the kind belongs to, by its name.
pub(super) fn session_of(name: &str) -> Option<&str> {
    let name = name.strip_prefix("sessions/")?;
    SESSION_FILES.iter().find_map(|end| name.strip_suffix(end))
}

/// When one of a session's files was last changed; `None` if it has none.
pub(super) fn session_changed(dir: &Path, session: &str) -> Option<Millis> {
    SESSION_FILES
        .iter()
        .filter_map(|end| {
            let path = dir.join("sessions").join(format!("{session}{end}"));
            Some(changed(&fs::symlink_metadata(path).ok()?))
        })
        .max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_has_its_kind_by_its_name() {
        for (name, kind) in [
            ("journal.jsonl", FileKind::Journal),
            ("journal-000000000007.jsonl", FileKind::Segment),
            ("sessions/s.json", FileKind::Session),
            ("sessions/.s.json.mainspring", FileKind::Session),
            ("reviews/12", FileKind::Review),
            ("reviews.jsonl", FileKind::Review),
            ("reviews.old.jsonl", FileKind::Review),
            ("checks/tests/000001-1.log", FileKind::Check),
            ("checks/index-0123", FileKind::Check),
            ("checks/tree-0123", FileKind::Check),
            ("check.json", FileKind::Machine),
            ("loop.json.aside-0123abcd", FileKind::Aside),
            (".loop.json.mainspring", FileKind::Aside),
            ("loop.json", FileKind::Machine),
            ("review.json", FileKind::Machine),
            ("intent-claim.json", FileKind::Machine),
            ("lock", FileKind::Machine),
            ("root", FileKind::Machine),
        ] {
            assert_eq!(FileKind::of(name), kind, "{name}");
        }
    }

    #[test]
    fn a_sessions_files_are_known_by_their_ends() {
        for (name, session) in [
            ("sessions/s.json", Some("s")),
            ("sessions/s.gate.json", Some("s")),
            ("sessions/a.b.count", Some("a.b")),
            ("sessions/.s.json.mainspring", None),
            ("s.json", None),
        ] {
            assert_eq!(session_of(name), session, "{name}");
        }
    }
}
