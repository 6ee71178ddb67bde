//! How much state there is, of what, and what the next sweep would delete.

use std::path::PathBuf;

use mainspring_kernel::retention::{Project, Rules};
use serde::Serialize;

use super::files::{self, File, FileKind};
use super::projects::{self, Stored};
use super::shared::{self, Shelf};
use crate::store::StateDir;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Size {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

impl Size {
    pub(super) fn file(bytes: u64) -> Self {
        Self { files: 1, bytes }
    }

    fn add(&mut self, other: Self) {
        *self = self.plus(other);
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

    fn of_kind(&mut self, kind: FileKind) -> &mut Size {
        match kind {
            FileKind::Journal | FileKind::Segment => &mut self.journal,
            FileKind::Session => &mut self.sessions,
            FileKind::Review => &mut self.reviews,
            FileKind::Check => &mut self.checks,
            FileKind::Aside | FileKind::Machine => &mut self.machines,
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

    fn on(&mut self, shelf: Shelf) -> &mut Size {
        match shelf {
            Shelf::Bindings => &mut self.bindings,
            Shelf::Live => &mut self.live,
            Shelf::Told => &mut self.told,
            Shelf::Tasks => &mut self.tasks,
            Shelf::Trusted => &mut self.trusted,
            Shelf::Installs => &mut self.installs,
        }
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
        kinds.of_kind(file.kind).add(file.size);
        if goes(&file) {
            swept.add(file.size);
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
    let mut shared = Shared::default();
    for item in shared::items(state, rules, None) {
        shared.on(item.shelf).add(item.size);
        if item.goes {
            shared.swept.add(item.size);
        }
    }
    shared
}
