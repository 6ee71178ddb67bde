//! One sweep: deletes what may go, up to a bound.

use std::fs;
use std::path::Path;
use std::time::Duration;

use mainspring_kernel::SessionId;
use mainspring_kernel::retention::{Folder, Rules};
use mainspring_store::{file_name, is_deleted};

use super::projects::Stored;
use super::shared::{self, Shelf};
use super::{files, names};
use crate::store::StateDir;

/// What one sweep deletes at most. Fifty sessions a day leave half as much.
const MOST: usize = 512;

pub(super) struct Sweep<'a> {
    state: &'a StateDir,
    rules: Rules,
    /// The name of the files of the session that starts.
    starts: Option<String>,
    /// How much it may still delete.
    left: usize,
}

/// How far a sweep came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Swept {
    All,
    /// It deleted as much as one sweep may, and there may be more.
    Part,
}

impl<'a> Sweep<'a> {
    pub(super) fn new(state: &'a StateDir, rules: Rules, session: Option<&SessionId>) -> Self {
        Self {
            state,
            rules,
            starts: session.map(|id| file_name(id.as_str()).into_owned()),
            left: MOST,
        }
    }

    /// Projects come first: a session's binding goes after its other files.
    pub(super) fn run(mut self) -> Swept {
        for key in names(&self.state.projects()) {
            let dir = self.state.projects().join(key);
            if is_deleted(&dir) {
                self.delete(&dir);
            } else {
                self.project(&Stored::at(self.state, dir));
            }
        }
        for item in shared::items(self.state, &self.rules, self.starts.as_deref()) {
            if item.goes {
                self.delete(&item.path);
            }
            if let (Shelf::Told, Some(folder)) = (item.shelf, item.path.parent()) {
                // Succeeds only if it is empty.
                let _ = fs::remove_dir(folder);
            }
        }
        for segment in files::swept_segments(self.state, &self.rules) {
            self.delete(&segment);
        }
        if self.left == 0 {
            Swept::Part
        } else {
            Swept::All
        }
    }

    /// Deletes a project's old files, and all of its state if its folder is gone. That happens under
    /// the project's lock, so that nobody is about to change them.
    fn project(&mut self, stored: &Stored) {
        let old = files::old_of_project(&stored.dir, &self.rules);
        let gone = stored.folder() == Folder::Gone;
        if old.is_empty() && !gone {
            return;
        }
        let store = stored.store();
        let Ok(held) = store.hold(Duration::ZERO) else {
            return;
        };
        let memory = stored.memory();
        for file in &old {
            if stored.sweeps_file(&self.rules, file, &memory, self.starts.as_deref()) {
                self.delete(&stored.dir.join(&file.name));
            }
        }
        let now = self.rules.now();
        if gone && self.rules.sweeps_project(&stored.facts(self.state, now)) {
            let _ = held.delete();
        }
    }

    /// What cannot be deleted stays for the next day.
    fn delete(&mut self, path: &Path) {
        if self.left == 0 {
            return;
        }
        self.left -= 1;
        let _ = match fs::symlink_metadata(path) {
            Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
            Ok(_) => fs::remove_file(path),
            Err(_) => Ok(()),
        };
    }
}
