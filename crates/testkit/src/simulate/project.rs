//! A simulated project: the real store, with the same files as in the product.

use std::path::{Path, PathBuf};

use mainspring_kernel::SessionId;
use mainspring_kernel::block_ledger::BlockLedger;
use mainspring_kernel::journal::{FileChange, Record};
use mainspring_kernel::machines::{Name, Pending};
use mainspring_store::journal::{CURRENT, JournalLine, Reader};
use mainspring_store::limits::LOCK_WAIT;
use mainspring_store::{Found, Locked, Store, Trouble, atomic, read_json};
use serde::de::DeserializeOwned;

#[derive(Debug)]
pub(super) struct Project(Store);

impl Project {
    /// A project in this folder. Its store has a folder of its own.
    pub(super) fn new(store: PathBuf, root: &Path) -> Result<Self, String> {
        for folder in [root, &store.join("sessions")] {
            std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        }
        Ok(Self(Store::new(store, root.into())))
    }

    /// Takes the lock and finishes what a dead process left.
    pub(super) fn lock(&self) -> Result<Locked<'_>, String> {
        let held = self.0.hold(LOCK_WAIT).map_err(in_words)?;
        held.recover().map_err(in_words)
    }

    /// A machine's own file.
    pub(super) fn machine_file(&self, machine: Name) -> PathBuf {
        self.0.dir().join(format!("{machine}.json"))
    }

    pub(super) fn orders(&self) -> PathBuf {
        self.0.dir().join("orders.json")
    }

    pub(super) fn ledger(&self, session: &SessionId) -> Result<Found<BlockLedger>, String> {
        let name = format!("sessions/{}.json", session.as_str());
        read(self.0.dir().join(name))
    }

    pub(super) fn intent(&self, machine: Name) -> Result<Found<Pending>, String> {
        read(self.0.dir().join(format!("intent-{machine}.json")))
    }

    /// The journal's current segment.
    pub(super) fn journal(&self) -> PathBuf {
        self.0.dir().join(CURRENT)
    }

    /// All records, and how many lines are not records.
    pub(super) fn records(&self) -> Result<(Vec<Record>, usize), String> {
        let reader = Reader::open(&self.journal(), 0, None).map_err(in_words)?;
        let mut records = Vec::new();
        let mut bad = 0;
        for line in reader.into_iter().flatten() {
            match line.map_err(in_words)? {
                JournalLine::Record(entry) => records.push(entry.record),
                JournalLine::Bad { .. } | JournalLine::Newer { .. } => bad += 1,
            }
        }
        Ok((records, bad))
    }
}

pub(super) fn read<T: DeserializeOwned>(path: PathBuf) -> Result<Found<T>, String> {
    read_json(path).map_err(in_words)
}

/// The change of the file from what was read to this text.
pub(super) fn change<T>(found: &Found<T>, now: Option<String>) -> FileChange {
    atomic::change(&found.path, found.bytes.as_deref(), now)
}

/// Replaces a file as any other careful program would.
pub(super) fn edit(path: &Path, text: &str) -> Result<(), String> {
    atomic::replace(path, text.as_bytes()).map_err(in_words)
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "it stands where an error is mapped"
)]
pub(super) fn in_words(trouble: Trouble) -> String {
    trouble.to_string()
}
