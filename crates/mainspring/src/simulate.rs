//! What the simulation calls: the store as it is, one step at a time, so that a simulated
//! process can die between any two of them by doing nothing more.

use std::path::{Path, PathBuf};

use mainspring_kernel::block_ledger::BlockLedger;
use mainspring_kernel::effect::Fence;
use mainspring_kernel::journal::{Entry, FileChange, Record};
use mainspring_kernel::machines::{Name, Pending};
use mainspring_kernel::{Millis, SessionId};
use serde::de::DeserializeOwned;

use crate::env::Environment;
use crate::error::Trouble;
use crate::store::{Locked, ProjectStore, Recorded, StateDir, atomic, journal, read_json};

#[derive(Debug)]
pub struct Store(ProjectStore);

/// A file as it was read.
#[derive(Debug, Clone)]
pub struct Found<T> {
    pub path: PathBuf,
    pub bytes: Option<Vec<u8>>,
    pub value: Option<T>,
}

impl<T> Found<T> {
    /// Its replacement.
    pub fn change(&self, now: Option<String>) -> FileChange {
        atomic::change(&self.path, self.bytes.as_deref(), now)
    }
}

impl From<Trouble> for String {
    fn from(trouble: Trouble) -> Self {
        trouble.to_string()
    }
}

fn found<T>(found: crate::store::Found<T>) -> Found<T> {
    Found {
        path: found.path,
        bytes: found.bytes,
        value: found.value,
    }
}

impl Store {
    /// The store of this project, in a home of its own.
    pub fn new(home: &Path, root: &Path) -> Option<Self> {
        let vars = [("HOME".to_owned(), home.into())].into();
        let state = StateDir::of(&Environment::staged(vars, Millis(0)))?;
        Some(Self(ProjectStore::new(state, root)))
    }

    /// Takes the lock and finishes what a dead process left.
    pub fn lock(&self) -> Result<Lock<'_>, String> {
        self.0.lock().map(Lock).map_err(String::from)
    }

    pub fn own(&self, machine: Name) -> PathBuf {
        self.0.machine_file(machine)
    }

    pub fn orders(&self) -> PathBuf {
        self.0.dir().join("orders.json")
    }

    pub fn ledger(&self, session: &SessionId) -> Result<Found<BlockLedger>, String> {
        self.0.ledger(session).map(found).map_err(String::from)
    }

    pub fn intent(&self, machine: Name) -> Result<Found<Pending>, String> {
        self.0.intent(machine, "").map(found).map_err(String::from)
    }

    pub fn read<T: DeserializeOwned>(path: PathBuf) -> Result<Found<T>, String> {
        read_json(path).map(found).map_err(String::from)
    }

    /// Replaces a file as anybody else would who is careful.
    pub fn edit(path: &Path, text: &str) -> Result<(), String> {
        atomic::replace(path, text.as_bytes()).map_err(String::from)
    }

    /// The journal's current segment.
    pub fn journal(&self) -> PathBuf {
        self.0.dir().join(journal::CURRENT)
    }

    /// All records, and how many lines are none.
    pub fn records(&self) -> Result<(Vec<Record>, usize), String> {
        let reader = journal::Reader::open(&self.journal(), 0, None).map_err(String::from)?;
        let mut records = Vec::new();
        let mut bad = 0;
        for line in reader.into_iter().flatten() {
            match line.map_err(String::from)? {
                journal::JournalLine::Record(entry) => records.push(entry.record),
                journal::JournalLine::Bad { .. } | journal::JournalLine::Newer { .. } => bad += 1,
            }
        }
        Ok((records, bad))
    }
}

/// The store while its lock is held.
#[derive(Debug)]
pub struct Lock<'a>(Locked<'a>);

/// A record that is durable, with files that may not be in place.
#[derive(Debug)]
pub struct Durable(Recorded);

impl Durable {
    pub fn files(&self) -> &[FileChange] {
        &self.0.record.files
    }
}

impl Lock<'_> {
    pub fn fence(&self) -> Fence {
        self.0.fence()
    }

    /// Files that somebody else had edited.
    pub fn edited(&self) -> &[String] {
        self.0.edited()
    }

    pub fn record(
        &mut self,
        at: Millis,
        entry: Entry,
        files: Vec<FileChange>,
    ) -> Result<Durable, String> {
        self.0
            .record(at, entry, files)
            .map(Durable)
            .map_err(String::from)
    }

    pub fn place(&mut self, change: &FileChange) -> Result<(), String> {
        self.0.place(change).map_err(String::from)
    }

    pub fn finish(&mut self, durable: Durable) {
        self.0.finish(durable.0);
    }
}
