//! What all pages share: where the state is, who started the page, and the decisions so far.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mainspring_kernel::authority::{self, Denied, Grounds};
use mainspring_kernel::retention::Folder;
use mainspring_kernel::verbs::Actor;
use mainspring_store::{ShownPath as _, Trouble};

use super::access::Access;
use super::live::Polled;
use crate::env::Environment;
use crate::people::sessions;
use crate::project;
use crate::retention::projects::{self, Stored};
use crate::show::model::journal::{Journal, Row};
use crate::show::model::project::OpenProject;
use crate::store::{ProjectStore, StateDir};

#[derive(Debug)]
pub(super) struct Site {
    pub(super) env: Environment,
    pub(super) state: StateDir,
    /// Who started the page. Asked once, because a process that lost its parent looks as if a
    /// person had started it.
    actor: Actor,
    pub(super) access: Access,
    journals: Mutex<Journals>,
    pub(super) version: Polled,
}

/// The journals of the projects, by their keys. They stay in memory and are followed.
pub(super) type Journals = BTreeMap<String, Journal>;

/// A project that the page shows.
#[derive(Debug, Clone)]
pub(super) struct KnownProject {
    /// The name of its state's folder; it stands for the project in addresses.
    pub(super) key: String,
    pub(super) dir: PathBuf,
    pub(super) root: PathBuf,
}

impl KnownProject {
    fn of(stored: Stored) -> Option<Self> {
        // There is nothing to show or to do without the project's folder.
        let there = stored.folder() == Folder::There;
        Some(Self {
            key: stored.dir.file_name()?.to_str()?.into(),
            root: stored.root.filter(|_| there)?,
            dir: stored.dir,
        })
    }

    /// The last part of its path.
    pub(super) fn name(&self) -> String {
        let name = self.root.file_name().map(Path::new);
        name.unwrap_or(&self.root).shown()
    }

    /// Its path; below the person's home it begins with `~`.
    pub(super) fn place(&self, home: Option<&Path>) -> String {
        let below = home.and_then(|home| self.root.strip_prefix(home).ok());
        below.map_or_else(
            || self.root.shown(),
            |below| Path::new("~").join(below).shown(),
        )
    }
}

impl Site {
    pub(super) fn new(env: Environment, state: StateDir, actor: Actor, access: Access) -> Self {
        Self {
            env,
            state,
            actor,
            access,
            journals: Mutex::default(),
            version: Polled::default(),
        }
    }

    /// Every project with state or with a live session whose folder is there, by name.
    pub(super) fn projects(&self) -> Vec<KnownProject> {
        let stored = projects::all(&self.state).into_iter();
        let mut known: Vec<KnownProject> = stored.filter_map(KnownProject::of).collect();
        for session in sessions::live(&self.env.afresh(), &self.state) {
            let Some(project) = sessions::project_of(&self.env, &self.state, &session) else {
                continue;
            };
            if known.iter().all(|known| known.root != project.root) {
                let stored = Stored::of(&self.state, &project.root);
                known.extend(KnownProject::of(stored));
            }
        }
        known.sort_by_key(|project| (project.name(), project.root.clone()));
        known
    }

    /// The journals of these projects until now, and of no others.
    pub(super) fn journals(&self, projects: &[KnownProject]) -> MutexGuard<'_, Journals> {
        let mut journals = self.journals.lock().unwrap_or_else(PoisonError::into_inner);
        journals.retain(|key, _| projects.iter().any(|project| project.key == *key));
        for project in projects {
            let journal = journals.entry(project.key.clone()).or_default();
            // A journal that cannot be read has no rows. The doctor says why.
            let _ = journal.follow(&project.dir);
        }
        journals
    }

    pub(super) fn open(&self, known: &KnownProject) -> Result<OpenProject, Trouble> {
        let env = self.env.afresh();
        Ok(OpenProject {
            project: project::of_command(&env, &self.state, None, &known.root)?,
            store: ProjectStore::new(self.state.clone(), &known.root),
            env,
        })
    }

    /// May the buttons be used? Not if an agent started the page.
    pub(super) fn may(&self, command: &str) -> Result<(), Denied> {
        authority::may(command, &self.actor, Grounds::Nothing)
    }
}

/// All records with their projects, newest first.
pub(super) fn newest_first(journals: &Journals) -> Vec<(&str, &Row)> {
    let rows = journals.iter();
    let rows = rows.flat_map(|(key, journal)| journal.rows.iter().map(|row| (key.as_str(), row)));
    let mut rows: Vec<(&str, &Row)> = rows.collect();
    rows.sort_by(|(a, one), (b, other)| (other.at, b, other.seq).cmp(&(one.at, a, one.seq)));
    rows
}
