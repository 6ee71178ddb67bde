//! One sweep: from where the last one stopped, as far as one may go.

use std::fmt;
use std::fs::{self, Metadata};
use std::path::Path;
use std::time::{Duration, Instant};

use mainspring_kernel::SessionId;
use mainspring_kernel::retention::{Folder, Rules};
use mainspring_store::{file_name, is_deleted};

use super::files::{self, File, Kind};
use super::projects::{self, Stored};
use super::{LEAST_LOOKED_AT, LEAST_OLD, LOOKED_AT, OLD, TIME, changed, listed, names};
use crate::sessions;
use crate::store::StateDir;

/// A folder of files that a sweep looks at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// A project's state, by the name of its folder. Projects come first: a session's binding goes
    /// after its other files.
    Project(String),
    /// The sessions' bindings.
    Bindings,
    /// The files that say which sessions are live.
    Live,
    /// The same, of sessions that ended.
    Ended,
    /// The marks of one path that sessions were told about.
    Told(String),
    /// The task lists of hosts that keep none themselves: a folder each.
    Tasks,
    /// The closed segments of all journals.
    Segments,
}

/// Where a sweep stopped: at this file, which it has looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) place: Place,
    pub(super) file: String,
}

impl Cursor {
    /// What [`fmt::Display`] wrote; `None` for anything else.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let (place, file) = text.split_once('\n')?;
        let place = match place.split_once('/') {
            Some(("projects", key)) => Place::Project(key.into()),
            Some(("told", key)) => Place::Told(key.into()),
            None if place == "sessions" => Place::Bindings,
            None if place == "segments" => Place::Segments,
            None if place == "live" => Place::Live,
            None if place == "ended" => Place::Ended,
            None if place == "tasks" => Place::Tasks,
            Some(_) | None => return None,
        };
        let file = file.into();
        Some(Self { place, file })
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Project(key) => write!(f, "projects/{key}")?,
            Place::Bindings => f.write_str("sessions")?,
            Place::Live => f.write_str("live")?,
            Place::Ended => f.write_str("ended")?,
            Place::Told(key) => write!(f, "told/{key}")?,
            Place::Tasks => f.write_str("tasks")?,
            Place::Segments => f.write_str("segments")?,
        }
        write!(f, "\n{}", self.file)
    }
}

pub(super) struct Sweep<'a> {
    state: &'a StateDir,
    rules: Rules,
    /// The name of the files of the session that starts.
    starts: Option<String>,
    until: Instant,
    looked_at: usize,
    /// Of these, how many were old: they are looked at more closely, and most are deleted.
    old: usize,
}

/// Did it look at a whole folder?
enum Reached {
    End,
    File(String),
}

impl<'a> Sweep<'a> {
    pub(super) fn new(state: &'a StateDir, rules: Rules, session: Option<&SessionId>) -> Self {
        Self {
            state,
            rules,
            starts: session.map(|id| file_name(id.as_str()).into_owned()),
            until: Instant::now() + TIME,
            looked_at: 0,
            old: 0,
        }
    }

    /// Sweeps on from there. Returns where it stopped; `None` at the end.
    pub(super) fn run(mut self, from: Option<&Cursor>) -> Option<Cursor> {
        for place in self.places() {
            let after = match from {
                Some(cursor) if place < cursor.place => continue,
                Some(cursor) if place == cursor.place => cursor.file.as_str(),
                Some(_) | None => "",
            };
            let reached = match &place {
                Place::Project(key) => self.project(key, after),
                Place::Bindings => self.bindings(after),
                Place::Live => self.presences(&self.state.live(), after),
                Place::Ended => self.presences(&self.state.ended(), after),
                Place::Told(key) => self.marks(&self.state.told().join(key), after),
                Place::Tasks => self.task_lists(after),
                Place::Segments => self.segments(),
            };
            if let Reached::File(file) = reached {
                return Some(Cursor { place, file });
            }
        }
        None
    }

    fn places(&self) -> Vec<Place> {
        let projects = names(&self.state.projects()).into_iter();
        let mut places: Vec<Place> = projects.map(Place::Project).collect();
        places.extend([Place::Bindings, Place::Live, Place::Ended]);
        places.extend(names(&self.state.told()).into_iter().map(Place::Told));
        places.extend([Place::Tasks, Place::Segments]);
        places
    }

    /// Takes the next of these names, until enough was done.
    fn look_at(
        &mut self,
        names: impl Iterator<Item = String>,
        after: &str,
        mut look: impl FnMut(&mut Self, &str),
    ) -> Reached {
        self.looked_at += 1;
        let mut last = after.to_owned();
        for name in first(names.filter(|name| name.as_str() > after).collect()) {
            if self.is_enough() {
                return Reached::File(last);
            }
            self.looked_at += 1;
            look(self, &name);
            last = name;
        }
        Reached::End
    }

    /// Has it done as much as one sweep may?
    fn is_enough(&self) -> bool {
        let most = self.looked_at >= LOOKED_AT || self.old >= OLD;
        most || (self.looked_at > LEAST_LOOKED_AT && self.is_out_of_time())
    }

    fn is_out_of_time(&self) -> bool {
        Instant::now() >= self.until
    }

    fn project(&mut self, key: &str, after: &str) -> Reached {
        let dir = self.state.projects().join(key);
        if is_deleted(&dir) {
            delete(&dir);
            return Reached::End;
        }
        let mut old: Vec<File> = Vec::new();
        let reached = self.look_at(
            files::listed_of_project(&dir).into_iter(),
            after,
            |sweep, name| {
                let file = files::look(&dir, name.to_owned());
                let file = file.filter(|file| sweep.rules.is_old(file.changed));
                if let Some(file) =
                    file.filter(|file| file.kind == Kind::Session || file.kind.goes_by_age())
                {
                    sweep.old += 1;
                    old.push(file);
                }
            },
        );
        let stored = Stored::at(self.state, dir);
        if let Some(last) = self.old_files(&stored, &old) {
            return Reached::File(last);
        }
        if matches!(reached, Reached::End) {
            self.whole_project(&stored);
        }
        reached
    }

    /// Deletes old files under the project's lock, so that nobody is about to change them. Returns
    /// the last one that there was time for, if there was not enough for all.
    fn old_files(&self, stored: &Stored, old: &[File]) -> Option<String> {
        if old.is_empty() {
            return None;
        }
        let store = stored.store();
        let _held = store.hold(Duration::ZERO).ok()?;
        let memory = stored.memory();
        let mut last: Option<&File> = None;
        for (done, file) in old.iter().enumerate() {
            if let Some(last) = last.filter(|_| done >= LEAST_OLD && self.is_out_of_time()) {
                return Some(last.name.clone());
            }
            last = Some(file);
            if stored.sweeps_file(&self.rules, file, &memory, self.starts.as_deref()) {
                delete(&stored.dir.join(&file.name));
            }
        }
        None
    }

    /// Deletes the state of a project whose folder is gone.
    fn whole_project(&self, stored: &Stored) {
        // Asked first, because it is quick and mostly decides.
        if stored.folder() != Folder::Gone {
            return;
        }
        let store = stored.store();
        if let Ok(held) = store.hold(Duration::ZERO)
            && self
                .rules
                .sweeps_project(&stored.facts(self.state, self.rules.now()))
        {
            let _ = held.delete();
        }
    }

    /// A binding goes when it is old and the session has no other files, which go by their own
    /// age.
    fn bindings(&mut self, after: &str) -> Reached {
        let folder = self.state.bindings();
        self.look_at(listed(&folder), after, |sweep, name| {
            let path = folder.join(name);
            let Ok(meta) = fs::symlink_metadata(&path) else {
                return;
            };
            if sweep.rules.is_old(changed(&meta)) && sweep.starts.as_deref() != Some(name) {
                sweep.old += 1;
                if !projects::is_in_use(sweep.state, &path, name) {
                    delete(&path);
                }
            }
        })
    }

    /// Says of a session whether it is live: goes when that is not news any more.
    fn presences(&mut self, folder: &Path, after: &str) -> Reached {
        self.look_at(listed(folder), after, |sweep, name| {
            if is_old_presence(&sweep.rules, &folder.join(name)) {
                sweep.old += 1;
                delete(&folder.join(name));
            }
        })
    }

    fn marks(&mut self, folder: &Path, after: &str) -> Reached {
        let reached = self.look_at(listed(folder), after, |sweep, name| {
            let path = folder.join(name);
            if fs::symlink_metadata(&path).is_ok_and(|meta| sweep.rules.is_old(changed(&meta))) {
                sweep.old += 1;
                delete(&path);
            }
        });
        // Succeeds only if it is empty.
        let _ = fs::remove_dir(folder);
        reached
    }

    /// A list's files are replaced and never changed, so its folder is as old as the last change.
    fn task_lists(&mut self, after: &str) -> Reached {
        let folder = self.state.tasks();
        self.look_at(listed(&folder), after, |sweep, name| {
            let list = folder.join(name);
            let meta = fs::symlink_metadata(&list);
            let is_old = meta.is_ok_and(|meta| sweep.rules.is_old(changed(&meta)));
            if is_old && sweep.starts.as_deref() != Some(name) {
                sweep.old += 1;
                delete(&list);
            }
        })
    }

    /// Deletes closed segments of all projects. It is the end of a sweep of everything, so it
    /// happens once a day. The next sweep chooses anew, so it has no file to go on from.
    fn segments(&mut self) -> Reached {
        self.looked_at += 1;
        for path in files::swept_segments(self.state, &self.rules) {
            if self.is_enough() {
                return Reached::File(String::new());
            }
            self.looked_at += 1;
            delete(&path);
        }
        Reached::End
    }
}

/// The first of these names in their order, one more than a sweep looks at: the rest of a large
/// folder is not sorted each time.
fn first(mut names: Vec<String>) -> Vec<String> {
    if names.len() > LOOKED_AT {
        names.select_nth_unstable(LOOKED_AT);
        names.truncate(LOOKED_AT + 1);
    }
    names.sort_unstable();
    names
}

/// Does this file, which says whether a session is live, go?
pub(super) fn is_old_presence(rules: &Rules, path: &Path) -> bool {
    let meta = fs::symlink_metadata(path);
    // Asked first, because it is quick and mostly decides.
    let old = |meta: Metadata| rules.sweeps_presence(changed(&meta), false);
    meta.is_ok_and(old) && !sessions::has_client(path)
}

/// What cannot be deleted stays for the next sweep.
fn delete(path: &Path) {
    let _ = match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    };
}

#[cfg(test)]
mod tests {
    use mainspring_kernel::Millis;

    use super::*;

    /// No clock is needed to see it: the time of these sweeps is over when they begin.
    #[test]
    fn a_sweep_whose_time_is_over_does_the_least_that_it_must_and_the_next_one_goes_on() {
        let temp = tempfile::tempdir().unwrap();
        let state = StateDir::at(temp.path().join("state"));
        state.create(&state.bindings()).unwrap();
        let files = 2 * LEAST_LOOKED_AT + 2;
        for number in 0..files {
            let path = state.bindings().join(format!("{number:04}"));
            mainspring_store::atomic::replace(&path, b"/").unwrap();
        }
        let rules = Rules::new(Millis(0), Millis(0));
        let sweep = |until: Instant, from: Option<&Cursor>| {
            let mut sweep = Sweep::new(&state, rules, None);
            sweep.until = until;
            sweep.run(from)
        };
        let (mut from, mut sweeps) = (None, 0);
        loop {
            sweeps += 1;
            from = sweep(Instant::now(), from.as_ref());
            match &from {
                Some(cursor) => assert_eq!(cursor.place, Place::Bindings),
                None => break,
            }
        }
        assert_eq!(sweeps, 3);
        let in_time = Instant::now() + Duration::from_secs(3_600);
        assert_eq!(sweep(in_time, None), None, "with time, it is one sweep");
    }

    #[test]
    fn a_cursor_is_read_back_and_nothing_else_is() {
        for place in [
            Place::Project("0123".into()),
            Place::Bindings,
            Place::Live,
            Place::Ended,
            Place::Told("4567".into()),
            Place::Tasks,
            Place::Segments,
        ] {
            let file = "sessions/a\nb.json".into();
            let cursor = Cursor { place, file };
            assert_eq!(Cursor::parse(cursor.to_string().as_bytes()), Some(cursor));
        }
        for wrong in ["", "sessions", "elsewhere/x\ny", "projects\nx", "\u{0}\n"] {
            assert_eq!(Cursor::parse(wrong.as_bytes()), None, "{wrong:?}");
        }
        assert_eq!(Cursor::parse(b"\xff\n"), None);
    }
}
