//! The record of a person's trust, outside of every repository. Each project has its own file,
//! so a look at one costs the same however many there are.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use mainspring_kernel::{Digest, Millis};
use mainspring_platform::sync;
use mainspring_store::{Trouble, atomic, json_text, path_text, read_json};
use serde::{Deserialize, Serialize};

use super::identity::Identity;
use crate::limits::STATE_FILE;
use crate::store::StateDir;

/// Versions of one file that stay trusted, so that branches may switch back and forth.
const MOST_VERSIONS: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The project's path, for people, and to notice a record that was copied.
    project: String,
    pub(crate) since: Millis,
    identity: Identity,
    /// The trusted versions of `mainspring.toml`, the newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) settings: Vec<String>,
    /// The pinned files of the newest version's checks, as they were when it was trusted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) pins: BTreeMap<String, Pin>,
}

/// A pinned file as a person trusted it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pin {
    pub(crate) digest: Digest,
    /// Its text, to show what changed; empty if it is long or no text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) text: String,
}

/// What is on record for a path.
#[derive(Debug)]
pub(super) enum OnRecord {
    Nothing,
    /// A person trusted the project that is there.
    This(Record),
    /// A person trusted the project that was there before.
    Another,
}

impl OnRecord {
    pub(super) fn this(self) -> Option<Record> {
        match self {
            Self::This(record) => Some(record),
            Self::Nothing | Self::Another => None,
        }
    }
}

impl Record {
    /// What is on record for this path. A record that was copied from another path is none.
    pub(super) fn read(state: &StateDir, root: &Path) -> Result<OnRecord, Trouble> {
        let found = read_json::<Self>(state.trust_of(root))?.value;
        let about = |record: &Self| record.project == path_text::to_text(root);
        let Some(record) = found.filter(about) else {
            return Ok(OnRecord::Nothing);
        };
        let is_this = Identity::of(root).is_ok_and(|found| record.identity.is_still(&found));
        Ok(if is_this {
            OnRecord::This(record)
        } else {
            OnRecord::Another
        })
    }

    /// Trusts the project that is at this path now, with this version of its settings.
    pub(super) fn grant(
        before: Option<Self>,
        state: &StateDir,
        root: &Path,
        (settings, pins): (Option<String>, BTreeMap<String, Pin>),
        now: Millis,
    ) -> Result<Self, Trouble> {
        let identity = Identity::establish(root)?;
        let (since, settings_before) =
            before.map_or((now, Vec::new()), |before| (before.since, before.settings));
        let mut record = Self {
            project: path_text::to_text(root),
            since,
            identity,
            settings: settings_before,
            pins,
        };
        if let Some(text) = settings {
            record.settings.retain(|version| *version != text);
            record.settings.push(text);
            record.forget_the_oldest(&state.trust_of(root))?;
        } else {
            record.settings.clear();
        }
        record.write(state, root)?;
        Ok(record)
    }

    /// Keeps as many versions as can be read again.
    fn forget_the_oldest(&mut self, path: &Path) -> Result<(), Trouble> {
        let surplus = self.settings.len().saturating_sub(MOST_VERSIONS);
        self.settings.drain(..surplus);
        while json_text(path, self)?.len() as u64 > STATE_FILE {
            if self.settings.len() == 1 {
                return Err(Trouble::Other(
                    "mainspring.toml is too long to be trusted: a record of it would not be read \
                     again"
                        .into(),
                ));
            }
            self.settings.remove(0);
        }
        Ok(())
    }

    fn write(&self, state: &StateDir, root: &Path) -> Result<(), Trouble> {
        let path = state.trust_of(root);
        let text = json_text(&path, self)?;
        state.create(&state.trusted())?;
        // What is trusted is a project of ours: an event there looks further than elsewhere.
        state.create(&state.project(root))?;
        state.name_project(root)?;
        atomic::replace_durably(&path, text.as_bytes())
    }
}

/// Takes the permission back; was there one?
pub(crate) fn revoke(state: &StateDir, root: &Path) -> Result<bool, Trouble> {
    let (path, dir) = (state.trust_of(root), state.trusted());
    match fs::remove_file(&path) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(Trouble::io("delete", &path)(error)),
    }
    sync::folder(&dir).map_err(Trouble::io("sync", &dir))?;
    Ok(true)
}

/// Every project on record, by its path, with the time it was trusted.
pub(crate) fn all(state: &StateDir) -> Result<BTreeMap<String, Millis>, Trouble> {
    let records = records(state)?.into_iter();
    Ok(records
        .map(|record| (record.project, record.since))
        .collect())
}

/// Where this project was when a person trusted it, if it has moved since.
pub(crate) fn moved_from(state: &StateDir, root: &Path) -> Result<Option<String>, Trouble> {
    let now = Identity::of(root)?;
    let here = path_text::to_text(root);
    let is_this = |record: &Record| {
        let gone = !path_text::from_text(&record.project).exists();
        record.project != here && gone && record.identity.is_still(&now)
    };
    let moved = records(state)?.into_iter().find(is_this);
    Ok(moved.map(|record| record.project))
}

fn records(state: &StateDir) -> Result<Vec<Record>, Trouble> {
    let dir = state.trusted();
    let mut found = Vec::new();
    let entries = match fs::read_dir(&dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(found),
        Err(error) => return Err(Trouble::io("list", &dir)(error)),
    };
    for entry in entries {
        let path = entry.map_err(Trouble::io("list", &dir))?.path();
        // Not what a crash left beside a record.
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        found.extend(read_json::<Record>(path)?.value);
    }
    Ok(found)
}
