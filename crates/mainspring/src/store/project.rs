//! One project's store: lock it, load from it, commit to it.

use std::fs::File;
use std::path::{Path, PathBuf};

use mainspring_kernel::block_ledger::BlockLedger;
use mainspring_kernel::effect::Fence;
use mainspring_kernel::journal::{Entry, FORMAT, FileChange, Record};
use mainspring_kernel::machines::{Name, Pending};
use mainspring_kernel::{Millis, SessionId};
use mainspring_platform::host::boot_id;
use mainspring_platform::sync;
use serde::de::DeserializeOwned;

use super::atomic::{self, Projected};
use super::head::Head;
use super::{StateDir, file_name, journal, lock, recover};
use crate::error::Trouble;
use crate::limits;

#[derive(Debug, Clone)]
pub(crate) struct ProjectStore {
    state: StateDir,
    dir: PathBuf,
    root: PathBuf,
}

/// The store while we hold its lock.
#[derive(Debug)]
pub(crate) struct Locked<'a> {
    store: &'a ProjectStore,
    lock: File,
    head: Head,
    /// Files that somebody edited while a change of ours was on its way.
    edited: Vec<String>,
}

/// A record that is durable.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) record: Record,
    /// Of the journal with it.
    size: u64,
    sum: String,
}

/// A file of ours as it was read, so that its change can say what it found.
#[derive(Debug, Clone)]
pub(crate) struct Found<T> {
    pub(crate) path: PathBuf,
    pub(crate) bytes: Option<Vec<u8>>,
    pub(crate) value: Option<T>,
}

impl ProjectStore {
    pub(crate) fn new(state: StateDir, root: &Path) -> Self {
        Self {
            dir: state.project(root),
            root: root.into(),
            state,
        }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn state(&self) -> &StateDir {
        &self.state
    }

    /// Did a process die between a record and its files? Asked without the lock: a live
    /// process that is just there is taken for a dead one, and then waited for.
    pub(crate) fn unfinished(&self) -> bool {
        let journal = std::fs::symlink_metadata(self.dir.join(journal::CURRENT));
        let Ok(journal) = journal else { return false };
        let head = File::open(self.dir.join("lock")).ok();
        let head = head.and_then(|lock| Head::read(&lock));
        // Of another boot: a power loss may have torn files that nobody else looks at.
        head.is_none_or(|head| head.size != journal.len() || head.boot != boot_id())
    }

    /// A machine's own file.
    pub(crate) fn machine_file(&self, machine: Name) -> PathBuf {
        self.dir.join(format!("{machine}.json"))
    }

    pub(crate) fn ledger_path(&self, session: &SessionId) -> PathBuf {
        let name = format!("{}.json", file_name(session.as_str()));
        self.dir.join("sessions").join(name)
    }

    /// `scope` tells apart what one machine has several of; empty where it has not.
    fn intent_path(&self, machine: Name, scope: &str) -> PathBuf {
        let name = match scope {
            "" => format!("intent-{machine}.json"),
            scope => format!("intent-{machine}-{}.json", file_name(scope)),
        };
        self.dir.join(name)
    }

    pub(crate) fn ledger(&self, session: &SessionId) -> Result<Found<BlockLedger>, Trouble> {
        read_json(self.ledger_path(session))
    }

    pub(crate) fn intent(&self, machine: Name, scope: &str) -> Result<Found<Pending>, Trouble> {
        read_json(self.intent_path(machine, scope))
    }

    /// Takes the lock and finishes what a crashed process left unfinished.
    pub(crate) fn lock(&self) -> Result<Locked<'_>, Trouble> {
        let path = self.dir.join("lock");
        let lock = match lock::take(&path) {
            Err(Trouble::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                self.state.create(&self.dir.join("sessions"))?;
                lock::take(&path)?
            }
            taken => taken?,
        };
        self.state.check()?;
        let known = Head::read(&lock);
        if known.is_none() {
            // Also after a process that died in its first moment here.
            self.name_root()?;
        }
        let recovered = recover::recover(&self.dir, &self.root, known.clone(), boot_id())?;
        if known.as_ref() != Some(&recovered.head) {
            recovered.head.write(&lock);
        }
        Ok(Locked {
            store: self,
            lock,
            head: recovered.head,
            edited: recovered.edited,
        })
    }

    fn name_root(&self) -> Result<(), Trouble> {
        let root = self.root.to_string_lossy();
        atomic::replace(&self.dir.join("root"), format!("{root}\n").as_bytes())
    }
}

impl Locked<'_> {
    /// The number of the last record: an effect that is intended next is fenced by the one
    /// after it.
    pub(crate) fn fence(&self) -> Fence {
        Fence(self.head.seq)
    }

    pub(crate) fn edited(&self) -> &[String] {
        &self.edited
    }

    /// Makes the entry durable, then replaces its files.
    pub(crate) fn commit(
        &mut self,
        at: Millis,
        entry: Entry,
        files: Vec<FileChange>,
    ) -> Result<(), Trouble> {
        let recorded = self.record(at, entry, files)?;
        for change in &recorded.record.files {
            self.place(change)?;
        }
        self.finish(recorded);
        Ok(())
    }

    /// Makes the entry durable.
    pub(crate) fn record(
        &mut self,
        at: Millis,
        entry: Entry,
        mut files: Vec<FileChange>,
    ) -> Result<Recorded, Trouble> {
        files.retain(|change| !change.is_nothing());
        if self.head.size > limits::SEGMENT {
            self.close_segment()?;
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
    pub(crate) fn place(&mut self, change: &FileChange) -> Result<(), Trouble> {
        let projected = atomic::project(change, |_| false, self.store.root())
            .map_err(|trouble| Trouble::Unfinished(Box::new(trouble)))?;
        if projected == Projected::Edited {
            self.edited.push(change.path.clone());
        }
        Ok(())
    }

    /// All of its files are in place.
    pub(crate) fn finish(&mut self, recorded: Recorded) {
        self.head.size = recorded.size;
        self.head.seq = recorded.record.seq;
        self.head.sum = recorded.sum;
        self.head.write(&self.lock);
    }

    /// The files of the segment that is closed are not looked at again after a power loss,
    /// so they are made durable first.
    fn close_segment(&mut self) -> Result<(), Trouble> {
        for place in [self.store.dir.as_path(), self.store.root()] {
            sync::file_system(place).map_err(Trouble::io("sync", place))?;
        }
        journal::rotate(&self.store.dir, self.head.seq + 1)?;
        self.head.size = 0;
        self.head.write(&self.lock);
        Ok(())
    }
}

/// Reads a JSON file; one that cannot be understood is reported and stays.
pub(crate) fn read_json<T: DeserializeOwned>(path: PathBuf) -> Result<Found<T>, Trouble> {
    let bytes = atomic::read(&path, limits::STATE_FILE)?;
    let value = match &bytes {
        None => None,
        Some(bytes) => {
            // To serde, a list of a struct's values is that struct, and an empty one is a
            // struct of nothing but defaults: a switch that is off.
            if bytes.trim_ascii_start().starts_with(b"[") {
                return Err(Trouble::corrupt(&path, "it is a list, and no object"));
            }
            Some(mainspring_json::read(bytes).map_err(|error| Trouble::corrupt(&path, error))?)
        }
    };
    Ok(Found { path, bytes, value })
}
