//! The client's own locks on a task list.
//!
//! The client locks a file `F` by creating the directory `F.lock`: `.lock.lock` to add a task,
//! `N.json.lock` to change one. A lock that was not touched for ten seconds is stale and may be
//! taken over. We follow the same rules, so that neither overwrites the other's changes.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mainspring_platform::path;
use mainspring_store::{ShownPath as _, Trouble};

/// The client's own limit.
const STALE: Duration = Duration::from_secs(10);
/// The limit on lists, and on entries of one list, to search.
const MOST_ENTRIES: usize = 10_000;
/// How long we wait for locks of others, all together. With the wait for our own lock, this
/// stays below the time that the client gives a hook.
const PATIENCE: Duration = Duration::from_secs(9);
/// The client releases its locks within milliseconds.
const PAUSES: [u64; 5] = [1, 2, 5, 10, 25];

/// Locks that are released when this value is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    folder: PathBuf,
    until: Instant,
    taken: Vec<PathBuf>,
}

impl Held {
    /// Locks the list against new tasks. The folder is created if it does not exist.
    pub(crate) fn list(folder: &Path) -> Result<Self, Trouble> {
        fs::create_dir_all(folder).map_err(Trouble::io("create", folder))?;
        let anchor = folder.join(".lock");
        // The client resolves symlinks in this file's path, so the file must exist.
        match OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&anchor)
        {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(Trouble::io("write", &anchor)(error));
            }
            Ok(_) | Err(_) => {}
        }
        let real = path::real(&anchor).map_err(Trouble::io("find", &anchor))?;
        let mut held = Self {
            folder: folder.into(),
            until: Instant::now() + PATIENCE,
            taken: Vec::new(),
        };
        held.take(lock_of(&real))?;
        Ok(held)
    }

    /// Locks one task against changes.
    pub(crate) fn task(&mut self, id: u64) -> Result<(), Trouble> {
        self.take(lock_of(&self.folder.join(format!("{id}.json"))))
    }

    fn take(&mut self, lock: PathBuf) -> Result<(), Trouble> {
        let mut pauses = PAUSES.into_iter();
        loop {
            match fs::create_dir(&lock) {
                Ok(()) => break,
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Trouble::io("lock", &lock)(error)),
            }
            if is_stale(&lock) {
                // If somebody else is faster, here or at the next attempt, we wait.
                let _ = fs::remove_dir(&lock);
                continue_unless_stuck(&lock)?;
                continue;
            }
            if Instant::now() >= self.until {
                return Err(Trouble::Other(format!(
                    "the client's task list is locked: {} has existed for more than {} seconds",
                    lock.shown(),
                    PATIENCE.as_secs()
                )));
            }
            let pause = pauses.next().unwrap_or(50);
            std::thread::sleep(Duration::from_millis(pause));
        }
        self.taken.push(lock);
        Ok(())
    }
}

/// If a stale lock cannot be removed, trying again would never end.
fn continue_unless_stuck(lock: &Path) -> Result<(), Trouble> {
    match fs::symlink_metadata(lock) {
        Ok(_) if is_stale(lock) => Err(Trouble::Unsafe {
            path: lock.into(),
            problem: "is a stale lock that cannot be removed".into(),
        }),
        Ok(_) | Err(_) => Ok(()),
    }
}

impl Drop for Held {
    /// If a lock cannot be removed, it is stale in ten seconds and will be taken over.
    fn drop(&mut self) {
        for lock in self.taken.iter().rev() {
            let _ = fs::remove_dir(lock);
        }
    }
}

/// Removes a crashed process's lock on a task that no longer exists. Nobody else would ever
/// look at it.
pub(super) fn sweep(lock: &Path) {
    if is_stale(lock) {
        let _ = fs::remove_dir(lock);
    }
}

/// Stale locks in the lists below this folder. They do no harm: whoever needs one takes it
/// over.
pub(crate) fn left_behind(lists: &Path) -> Vec<PathBuf> {
    let entries = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.take(MOST_ENTRIES).map(|entry| entry.path())
    };
    let is_lock = |path: &PathBuf| path.extension().is_some_and(|end| end == "lock");
    let mut found: Vec<PathBuf> = entries(lists)
        .flat_map(|list| entries(&list).collect::<Vec<_>>())
        .filter(|path| is_lock(path) && path.is_dir() && is_stale(path))
        .collect();
    found.sort();
    found
}

/// Removes a stale lock, unless somebody has taken it over meanwhile.
pub(crate) fn let_go(lock: &Path) -> bool {
    sweep(lock);
    fs::symlink_metadata(lock).is_err()
}

fn is_stale(lock: &Path) -> bool {
    let age = |meta: fs::Metadata| -> io::Result<Duration> {
        let touched = meta.modified()?;
        Ok(touched.elapsed().unwrap_or_default())
    };
    fs::symlink_metadata(lock)
        .and_then(age)
        .is_ok_and(|age| age > STALE)
}

fn lock_of(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

#[cfg(test)]
mod tests {
    use std::fs::{File, FileTimes};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::SystemTime;

    use super::*;

    /// Creates a lock that was last touched `seconds` ago.
    fn aged(lock: &Path, seconds: u64) {
        fs::create_dir_all(lock).unwrap();
        let dir = File::open(lock).unwrap();
        let now = fs::metadata(lock).unwrap().modified().unwrap();
        let then: SystemTime = now - Duration::from_secs(seconds);
        dir.set_times(FileTimes::new().set_modified(then)).unwrap();
    }

    #[test]
    fn locks_are_directories_that_go_again() {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().join("tasks/list");
        let mut held = Held::list(&folder).unwrap();
        held.task(7).unwrap();
        assert!(folder.join(".lock").is_file());
        for lock in [".lock.lock", "7.json.lock"] {
            assert!(folder.join(lock).is_dir(), "{lock}");
        }
        drop(held);
        let left: Vec<_> = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left, [".lock"]);
    }

    #[test]
    fn a_stale_lock_is_taken_over_and_a_fresh_one_waited_for() {
        let temp = tempfile::tempdir().unwrap();
        let lock = temp.path().join(".lock.lock");
        aged(&lock, 11);
        drop(Held::list(temp.path()).unwrap());
        assert!(!lock.exists());

        aged(&lock, 0);
        let released = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(40));
                released.store(true, Ordering::SeqCst);
                fs::remove_dir(&lock).unwrap();
            });
            drop(Held::list(temp.path()).unwrap());
            assert!(released.load(Ordering::SeqCst), "it was held by another");
        });
    }

    #[test]
    fn patience_ends() {
        let temp = tempfile::tempdir().unwrap();
        let mut held = Held::list(temp.path()).unwrap();
        held.until = Instant::now();
        aged(&temp.path().join("3.json.lock"), 0);
        let said = held.task(3).unwrap_err().to_string();
        assert!(
            said.starts_with("the client's task list is locked"),
            "{said}"
        );
        // It is stale and cannot be removed, because it is not empty.
        aged(&temp.path().join("4.json.lock/x"), 0);
        aged(&temp.path().join("4.json.lock"), 60);
        let said = held.task(4).unwrap_err().to_string();
        assert!(said.ends_with("cannot be removed"), "{said}");
    }

    #[test]
    fn only_stale_leftovers_are_swept() {
        let temp = tempfile::tempdir().unwrap();
        let (old, new) = (
            temp.path().join("1.json.lock"),
            temp.path().join("2.json.lock"),
        );
        aged(&old, 60);
        aged(&new, 1);
        sweep(&old);
        sweep(&new);
        assert!(!old.exists() && new.exists());
    }
}
