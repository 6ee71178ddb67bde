//! How much state there is, of what, and what the next sweep would delete.

use std::fs;
use std::path::{Path, PathBuf};

use mainspring_kernel::retention::{Project, Rules};
use serde::Serialize;

use super::files::{self, File, Kind};
use super::projects::{self, Stored};
use super::{changed, names, sweep};
use crate::store::StateDir;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Size {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

impl Size {
    fn add(&mut self, bytes: u64) {
        self.files += 1;
        self.bytes += bytes;
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            files: self.files + other.files,
            bytes: self.bytes + other.bytes,
        }
    }
}

/// One project's state.
#[derive(Debug)]
pub(crate) struct ProjectSize {
    pub(crate) stored: Stored,
    pub(crate) facts: Project,
    pub(crate) kinds: Kinds,
    pub(crate) swept: Size,
}

#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct Kinds {
    pub(crate) journal: Size,
    pub(crate) sessions: Size,
    pub(crate) reviews: Size,
    pub(crate) checks: Size,
    pub(crate) machines: Size,
}

impl Kinds {
    pub(crate) fn total(&self) -> Size {
        let parts = [self.sessions, self.reviews, self.checks, self.machines];
        parts.into_iter().fold(self.journal, Size::plus)
    }

    fn of_kind(&mut self, kind: Kind) -> &mut Size {
        match kind {
            Kind::Journal | Kind::Segment => &mut self.journal,
            Kind::Session => &mut self.sessions,
            Kind::Review => &mut self.reviews,
            Kind::Check => &mut self.checks,
            Kind::Aside | Kind::Machine => &mut self.machines,
        }
    }
}

/// What belongs to no project.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct Shared {
    pub(crate) bindings: Size,
    /// Which sessions are live, and which ended.
    pub(crate) live: Size,
    pub(crate) told: Size,
    /// Task lists of hosts that keep none themselves.
    pub(crate) tasks: Size,
    pub(crate) trusted: Size,
    pub(crate) installs: Size,
    /// What would be swept of these, but for trust and installations.
    pub(crate) swept: Size,
}

impl Shared {
    pub(crate) fn total(&self) -> Size {
        let parts = [
            self.live,
            self.told,
            self.tasks,
            self.trusted,
            self.installs,
        ];
        parts.into_iter().fold(self.bindings, Size::plus)
    }
}

/// Every project's state.
pub(crate) fn projects(state: &StateDir, rules: &Rules) -> Vec<ProjectSize> {
    let segments = files::swept_segments(state, rules);
    let all = projects::all(state).into_iter();
    all.map(|stored| project(state, stored, rules, &segments))
        .collect()
}

/// This project's state.
pub(crate) fn project(
    state: &StateDir,
    stored: Stored,
    rules: &Rules,
    swept_segments: &[PathBuf],
) -> ProjectSize {
    let facts = stored.facts(state, rules.now());
    let whole = rules.sweeps_project(&facts);
    let memory = stored.memory();
    let goes = |file: &File| {
        whole
            || stored.sweeps_file(rules, file, &memory, None)
            || swept_segments.contains(&stored.dir.join(&file.name))
    };
    let (mut kinds, mut swept) = (Kinds::default(), Size::default());
    for file in files::of_project(&stored.dir) {
        kinds.of_kind(file.kind).add(file.bytes);
        if goes(&file) {
            swept.add(file.bytes);
        }
    }
    ProjectSize {
        stored,
        facts,
        kinds,
        swept,
    }
}

pub(crate) fn shared(state: &StateDir, rules: &Rules) -> Shared {
    let mut swept = Size::default();
    let bindings = folder(
        &state.bindings(),
        |path, name| is_old(rules, path) && !projects::is_in_use(state, path, name),
        &mut swept,
    );
    let mut live = Size::default();
    for path in [state.live(), state.ended()] {
        let goes = |path: &Path, _: &str| sweep::is_old_presence(rules, path);
        live = live.plus(folder(&path, goes, &mut swept));
    }
    let mut told = Size::default();
    for key in names(&state.told()) {
        let marks = state.told().join(key);
        told = told.plus(folder(&marks, |path, _| is_old(rules, path), &mut swept));
    }
    let mut tasks = Size::default();
    for name in names(&state.tasks()) {
        let list = state.tasks().join(name);
        let goes = is_old(rules, &list);
        tasks = tasks.plus(folder(&list, |_, _| goes, &mut swept));
    }
    let mut installs = Size::default();
    for key in names(&state.installs()) {
        let files = folder(&state.installs().join(key), |_, _| false, &mut swept);
        installs = installs.plus(files);
    }
    Shared {
        bindings,
        live,
        told,
        tasks,
        trusted: folder(&state.trusted(), |_, _| false, &mut swept),
        installs,
        swept,
    }
}

/// The files in a folder, and those of them that go.
fn folder(path: &Path, goes: impl Fn(&Path, &str) -> bool, swept: &mut Size) -> Size {
    let mut size = Size::default();
    for name in names(path) {
        let file = path.join(&name);
        let Ok(meta) = fs::symlink_metadata(&file) else {
            continue;
        };
        size.add(meta.len());
        if goes(&file, &name) {
            swept.add(meta.len());
        }
    }
    size
}

fn is_old(rules: &Rules, path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| rules.is_old(changed(&meta)))
}
