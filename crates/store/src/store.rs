//! A store: lock it, finish what others left unfinished, commit to it.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mainspring_kernel::Millis;
use mainspring_kernel::effect::Fence;
use mainspring_kernel::journal::{Entry, FORMAT, FileChange, Record};
use mainspring_platform::host::boot_id;
use mainspring_platform::{file, rename, sync};

use crate::atomic::{self, Projected};
use crate::head::Head;
use crate::{ShownPath as _, Trouble, compact, journal, limits, lock, path_text, recover};

/// A folder with a lock, a journal, and files that the journal's records change.
#[derive(Debug, Clone)]
pub struct Store {
    dir: PathBuf,
    root: PathBuf,
}

/// The store with its lock taken, before recovery.
#[derive(Debug)]
pub struct Held<'a> {
    store: &'a Store,
    lock: File,
    head: Option<Head>,
}

/// The store while we hold its lock, after recovery.
#[derive(Debug)]
pub struct Locked<'a> {
    store: &'a Store,
    lock: File,
    head: Head,
    /// Files that somebody edited while our change was on its way.
    edited: Vec<String>,
    /// What the person must be told of how the lock was taken.
    news: Vec<String>,
}

/// A record that is durable, whose files may not be in place yet.
#[derive(Debug)]
pub struct Recorded {
    pub record: Record,
    /// The size of the journal including it.
    size: u64,
    sum: String,
}

impl Store {
    /// `dir` contains the lock and the journal. Records may also change files below `root`, which
    /// is not ours, so no symlink is followed there.
    pub fn new(dir: PathBuf, root: PathBuf) -> Self {
        Self { dir, root }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Did a process die between a record and its files? This asks without the lock, so a live
    /// process at that point is taken for a dead one, and then waited for.
    pub fn unfinished(&self) -> bool {
        let journal = std::fs::symlink_metadata(self.dir.join(journal::CURRENT));
        let Ok(journal) = journal else { return false };
        let head = file::open(&self.dir.join(LOCK)).ok();
        let head = head.and_then(|lock| Head::read(&lock));
        // From another boot: a power loss may have torn files that nobody else examines.
        head.is_none_or(|head| head.size != journal.len() || head.boot != boot_id())
    }

    /// Takes the lock, if it is free within this time. An error of the kind `NotFound` says
    /// that `dir` is not there.
    pub fn hold(&self, wait: Duration) -> Result<Held<'_>, Trouble> {
        let lock = lock::take(&self.dir.join(LOCK), wait)?;
        Ok(Held {
            store: self,
            head: Head::read(&lock),
            lock,
        })
    }
}

/// The lock file, which contains the journal's head. It is never renamed or deleted, except with
/// the whole store.
const LOCK: &str = "lock";

/// The end of the name of a store that is being deleted.
const DELETED: &str = ".deleted";

/// Is this the folder of a store whose deletion was interrupted? It holds nothing any more.
pub fn is_deleted(dir: &Path) -> bool {
    dir.as_os_str()
        .as_encoded_bytes()
        .ends_with(DELETED.as_bytes())
}

impl<'a> Held<'a> {
    /// Has nobody used the store yet? Also true if the first process died at once.
    pub fn is_new(&self) -> bool {
        self.head.is_none()
    }

    /// Deletes the store, with all that is in its folder. It is renamed first, so it is there as a
    /// whole or not at all. Who waits for the lock gets that of a new store.
    pub fn delete(self) -> Result<(), Trouble> {
        let dir = &self.store.dir;
        let mut renamed = dir.clone().into_os_string();
        renamed.push(DELETED);
        let renamed = PathBuf::from(renamed);
        // An earlier deletion of the same store may have been interrupted.
        remove_folder(&renamed)?;
        // Where a folder with an open file cannot be renamed, one whose lock another process took
        // in this moment stays.
        let lock = Some(self.lock).filter(|_| rename::MOVES_OPEN_FILES);
        fs::rename(dir, &renamed).map_err(Trouble::io("delete", dir))?;
        drop(lock);
        if let Some(above) = dir.parent() {
            sync::folder(above).map_err(Trouble::io("sync", above))?;
        }
        remove_folder(&renamed)
    }

    /// Finishes what a crashed process left unfinished.
    pub fn recover(self) -> Result<Locked<'a>, Trouble> {
        let Self { store, lock, head } = self;
        let recovered = recover::recover(&store.dir, &store.root, head.clone(), boot_id())?;
        let mut locked = Locked {
            store,
            lock,
            head: recovered.head,
            edited: recovered.edited,
            news: Vec::new(),
        };
        if let Some(at) = recovered.damaged {
            locked.close_damaged(at)?;
        } else if head.as_ref() != Some(&locked.head) {
            locked.head.write(&locked.lock);
        }
        Ok(locked)
    }
}

fn remove_folder(path: &Path) -> Result<(), Trouble> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Trouble::io("delete", path)(error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

impl Locked<'_> {
    /// The number of the last record. The next effect's fence is the number after it.
    pub fn fence(&self) -> Fence {
        Fence(self.head.seq)
    }

    pub fn edited(&self) -> &[String] {
        &self.edited
    }

    /// What the person must be told: of a journal that was found changed, or of a folder.
    pub fn news(&self) -> &[String] {
        &self.news
    }

    pub fn tell(&mut self, news: String) {
        self.news.push(news);
    }

    /// Makes the entry durable, then replaces its files.
    pub fn commit(
        &mut self,
        at: Millis,
        entry: Entry,
        files: Vec<FileChange>,
    ) -> Result<Record, Trouble> {
        let recorded = self.record(at, entry, files)?;
        for change in &recorded.record.files {
            self.place(change)?;
        }
        Ok(self.finish(recorded))
    }

    /// Makes the entry durable.
    pub fn record(
        &mut self,
        at: Millis,
        entry: Entry,
        mut files: Vec<FileChange>,
    ) -> Result<Recorded, Trouble> {
        files.retain(|change| !change.is_nothing());
        if self.head.size > limits::SEGMENT {
            self.close_segment()?;
            // If this fails, contents stay for longer. That is no reason to refuse a record.
            let _ = compact::drop_old_contents(&self.store.dir);
        }
        let record = Record {
            v: FORMAT,
            seq: self.head.seq + 1,
            at,
            entry,
            files,
        };
        let (line, sum) = journal::line(&record, &self.head.sum)?;
        if line.len() as u64 > limits::RECORD {
            return Err(Trouble::Other(format!(
                "this change is larger than {} bytes",
                limits::RECORD
            )));
        }
        let size = journal::append(&self.store.dir, self.head.size, &line)?;
        Ok(Recorded { record, size, sum })
    }

    /// Replaces one of its files.
    pub fn place(&mut self, change: &FileChange) -> Result<(), Trouble> {
        let projected = atomic::project(change, |_| false, &self.store.root)
            .map_err(|trouble| Trouble::Unfinished(Box::new(trouble)))?;
        if projected == Projected::Edited {
            self.edited.push(path_text::shown(change));
        }
        Ok(())
    }

    /// All of its files are in place.
    pub fn finish(&mut self, recorded: Recorded) -> Record {
        self.head.size = recorded.size;
        self.head.seq = recorded.record.seq;
        self.head.sum = recorded.sum;
        self.head.write(&self.lock);
        recorded.record
    }

    /// After a power loss, the files of a closed segment are not examined again, so they are made
    /// durable first.
    fn close_segment(&mut self) -> Result<(), Trouble> {
        for place in [&self.store.dir, &self.store.root] {
            sync::file_system(place).map_err(Trouble::io("sync", place))?;
        }
        journal::rotate(&self.store.dir, self.head.seq + 1)?;
        self.head.size = 0;
        self.head.write(&self.lock);
        Ok(())
    }

    /// A segment that was changed is closed, so that nobody rolls a file forward from it. The
    /// files stay as they are.
    fn close_damaged(&mut self, at: u64) -> Result<(), Trouble> {
        let dir = &self.store.dir;
        let path = dir.join(journal::CURRENT);
        self.close_segment()?;
        self.head.sum = journal::continued(dir)?.unwrap_or_else(journal::start);
        self.head.write(&self.lock);
        self.news.push(format!(
            "{}, byte {at}: the journal was damaged. The files stay as they are, even if a \
             crash kept a change from reaching them; `mainspring status` shows what they say, \
             `mainspring log` what can be read of the journal",
            path.shown()
        ));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::LOCK_WAIT;

    struct Place {
        _temp: tempfile::TempDir,
        store: Store,
        file: PathBuf,
    }

    fn place() -> Place {
        let temp = tempfile::tempdir().unwrap();
        let (dir, root) = (temp.path().join("store"), temp.path().join("root"));
        fs::create_dir(&dir).unwrap();
        fs::create_dir(&root).unwrap();
        Place {
            file: dir.join("state"),
            store: Store::new(dir, root),
            _temp: temp,
        }
    }

    fn lock(store: &Store) -> Locked<'_> {
        store.hold(LOCK_WAIT).unwrap().recover().unwrap()
    }

    fn entry() -> Entry {
        Entry::Verb {
            command: "a command".into(),
            machine: None,
            session: None,
            did: String::new(),
        }
    }

    /// A process that dies as soon as its record is durable.
    fn record_and_die(place: &Place, was: Option<&str>, now: &str) {
        let was = was.map(str::as_bytes);
        let change = atomic::change(&place.file, was, Some(now.into()));
        lock(&place.store)
            .record(Millis(1), entry(), vec![change])
            .unwrap();
    }

    #[test]
    fn what_a_dead_process_recorded_is_finished_by_the_next() {
        let place = place();
        assert!(place.store.hold(LOCK_WAIT).unwrap().is_new());
        record_and_die(&place, None, "one");
        assert!(!place.file.exists());
        assert!(place.store.unfinished());
        let locked = lock(&place.store);
        assert_eq!(fs::read(&place.file).unwrap(), b"one");
        assert!(locked.edited().is_empty());
        assert_eq!(locked.fence(), Fence(1));
        drop(locked);
        assert!(!place.store.unfinished());
        assert!(!place.store.hold(LOCK_WAIT).unwrap().is_new());
    }

    #[test]
    fn an_edit_after_the_death_stays_and_is_named() {
        let place = place();
        record_and_die(&place, None, "one");
        atomic::replace(&place.file, b"somebody's").unwrap();
        let path = place.file.display().to_string();
        assert_eq!(lock(&place.store).edited(), [path]);
        assert_eq!(fs::read(&place.file).unwrap(), b"somebody's");
    }

    #[test]
    fn who_waits_for_the_lock_of_a_deleted_store_gets_none() {
        let place = place();
        record_and_die(&place, None, "one");
        let held = place.store.hold(LOCK_WAIT).unwrap();
        std::thread::scope(|scope| {
            // Whether it waits already or comes too late, it finds nothing to lock.
            let waits = scope.spawn(|| place.store.hold(LOCK_WAIT).map(drop));
            held.delete().unwrap();
            let waited = waits.join().unwrap();
            assert!(matches!(waited, Err(Trouble::Io { .. })), "{waited:?}");
        });
        let above = place.store.dir().parent().unwrap();
        let left: Vec<_> = fs::read_dir(above).unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "only the root: {left:?}");
        fs::create_dir(place.store.dir()).unwrap();
        assert!(place.store.hold(LOCK_WAIT).unwrap().is_new());
    }

    #[test]
    fn a_deletion_that_was_interrupted_is_finished_by_the_next() {
        let place = place();
        record_and_die(&place, None, "one");
        let left = place.store.dir().with_extension("deleted");
        assert!(is_deleted(&left) && !is_deleted(place.store.dir()));
        fs::create_dir(&left).unwrap();
        atomic::replace(&left.join("journal.jsonl"), b"of before").unwrap();
        place.store.hold(LOCK_WAIT).unwrap().delete().unwrap();
        assert!(!left.exists() && !place.store.dir().exists());
    }

    #[test]
    fn a_folder_that_is_missing_is_an_error_of_its_kind() {
        let store = Store::new("/nonexistent/store".into(), "/nonexistent".into());
        let missing = matches!(
            store.hold(LOCK_WAIT),
            Err(Trouble::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound
        );
        assert!(missing);
        assert!(!store.unfinished());
    }
}
