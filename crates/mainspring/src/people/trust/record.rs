//! The record of a person's trust, outside of every repository. Each project has its own file,
//! so a look at one costs the same however many there are.

use std::collections::BTreeMap;
use std::fs::{self, DirEntry};
use std::io::{self, ErrorKind};
use std::path::Path;

use mainspring_kernel::{Digest, Millis};
use mainspring_platform::sync;
use mainspring_store::{Trouble, atomic, digest, json_text, no_symlink, path_text, read_json};
use serde::{Deserialize, Serialize};

use super::identity::{self, Identity};
use crate::config::checks::CheckDefinition;
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
    /// What is on record for this path. A record that was copied from another path is none; that of
    /// a repository that was moved here stays its own.
    pub(super) fn read(state: &StateDir, root: &Path) -> Result<OnRecord, Trouble> {
        let found = read_json::<Self>(state.trust_of(root))?.value;
        let Some(record) = found.filter(|record| record.is_at(root)) else {
            let moved = identity::has_id(root).then(|| moved_here(state, root));
            let moved = moved.flatten().filter(|record| record.identity.has_id());
            return Ok(moved.map_or(OnRecord::Nothing, OnRecord::This));
        };
        let is_this = Identity::of(root).is_ok_and(|found| record.identity.is_still(&found));
        Ok(if is_this {
            OnRecord::This(record)
        } else {
            OnRecord::Another
        })
    }

    /// Was the project at this path when a person trusted it?
    pub(super) fn is_at(&self, root: &Path) -> bool {
        self.project == path_text::to_text(root)
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
        let moved = before.as_ref().filter(|before| !before.is_at(root));
        let old = moved.map(|before| path_text::from_text(&before.project).into_owned());
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
        if let Some(old) = old {
            delete(state, &old)?;
        }
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
    if delete(state, root)? {
        return Ok(true);
    }
    match Record::read(state, root)? {
        OnRecord::This(moved) => delete(state, &path_text::from_text(&moved.project)),
        OnRecord::Nothing | OnRecord::Another => Ok(false),
    }
}

/// Deletes the record for this path; was there one?
fn delete(state: &StateDir, root: &Path) -> Result<bool, Trouble> {
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
    let about = |record: Result<Record, Trouble>| record.map(|one| (one.project, one.since));
    records(state)?.map(about).collect()
}

/// Where this project was when a person trusted it, if it has moved since.
pub(crate) fn moved_from(state: &StateDir, root: &Path) -> Option<String> {
    moved_here(state, root).map(|record| record.project)
}

/// The record of the project that is here now and is no longer where a person trusted it.
fn moved_here(state: &StateDir, root: &Path) -> Option<Record> {
    let now = Identity::of(root).ok()?;
    let is_this = |record: &Record| {
        let old = path_text::from_text(&record.project);
        let is_there = Identity::of(&old).is_ok_and(|there| record.identity.is_still(&there));
        !record.is_at(root) && record.identity.is_still(&now) && !is_there
    };
    records(state).ok()?.flatten().find(is_this)
}

fn records(state: &StateDir) -> Result<impl Iterator<Item = Result<Record, Trouble>>, Trouble> {
    let dir = state.trusted();
    let entries = match fs::read_dir(&dir) {
        Ok(entries) => Some(entries),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(Trouble::io("list", &dir)(error)),
    };
    let read = move |entry: io::Result<DirEntry>| {
        let path = entry.map_err(Trouble::io("list", &dir))?.path();
        // Not what a crash left beside a record.
        let is_record = path
            .extension()
            .is_some_and(|extension| extension == "json");
        let found = is_record.then(|| read_json::<Record>(path)).transpose()?;
        Ok(found.and_then(|found| found.value))
    };
    let entries = entries.into_iter().flatten();
    Ok(entries.map(read).filter_map(Result::transpose))
}

/// Longer files are compared, but not shown.
const MOST_SHOWN: usize = 64 << 10;

/// Every pinned file as it is now. One that is not there cannot be trusted.
pub(super) fn pins(
    root: &Path,
    checks: &[CheckDefinition],
) -> Result<BTreeMap<String, Pin>, Trouble> {
    let mut pins = BTreeMap::new();
    for name in checks.iter().flat_map(|check| &check.pins) {
        let path = root.join(name);
        let Some(bytes) = no_symlink::read(&path, STATE_FILE)? else {
            return Err(Trouble::corrupt(
                &path,
                "a check pins this file, and it is not there",
            ));
        };
        pins.insert(
            name.clone(),
            Pin {
                digest: digest::of(&[&bytes]),
                text: String::from_utf8(bytes)
                    .ok()
                    .filter(|text| text.len() <= MOST_SHOWN)
                    .unwrap_or_default(),
            },
        );
    }
    Ok(pins)
}
