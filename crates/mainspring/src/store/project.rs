//! One project's store: the path of each file, and the checks before it is used.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mainspring_kernel::SessionId;
use mainspring_kernel::block_ledger::BlockLedger;
use mainspring_kernel::machines::{Name, Pending};
use mainspring_store::limits::LOCK_WAIT;
use mainspring_store::{Found, Locked, Store, Trouble, file_name, read_json};

use super::StateDir;

#[derive(Debug, Clone)]
pub(crate) struct ProjectStore {
    state: StateDir,
    store: Store,
}

impl ProjectStore {
    pub(crate) fn new(state: StateDir, root: &Path) -> Self {
        Self {
            store: Store::new(state.project(root), root.into()),
            state,
        }
    }

    pub(crate) fn root(&self) -> &Path {
        self.store.root()
    }

    pub(crate) fn dir(&self) -> &Path {
        self.store.dir()
    }

    pub(crate) fn state(&self) -> &StateDir {
        &self.state
    }

    /// Did a process die after it wrote a record and before it replaced the files?
    pub(crate) fn unfinished(&self) -> bool {
        self.store.unfinished()
    }

    /// A machine's own file.
    pub(crate) fn machine_file(&self, machine: Name) -> PathBuf {
        self.dir().join(format!("{machine}.json"))
    }

    /// The folder with everything that we keep about checks and trees, besides results.
    pub(crate) fn checks(&self) -> PathBuf {
        self.dir().join("checks")
    }

    pub(crate) fn ledger_path(&self, session: &SessionId) -> PathBuf {
        let name = format!("{}.json", file_name(session.as_str()));
        self.dir().join("sessions").join(name)
    }

    /// `scope` distinguishes several intents of one machine; it is empty if there is only one.
    fn intent_path(&self, machine: Name, scope: &str) -> PathBuf {
        let name = match scope {
            "" => format!("intent-{machine}.json"),
            scope => format!("intent-{machine}-{}.json", file_name(scope)),
        };
        self.dir().join(name)
    }

    /// The files of all intents that are recorded here.
    pub(crate) fn intents(&self) -> Result<Vec<PathBuf>, Trouble> {
        let entries = match std::fs::read_dir(self.dir()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Trouble::io("list", self.dir())(error)),
        };
        let is_intent = |name: &str| name.starts_with("intent-") && name.ends_with(".json");
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        Ok(names
            .filter(|name| is_intent(name))
            .map(|name| self.dir().join(name))
            .collect())
    }

    pub(crate) fn ledger(&self, session: &SessionId) -> Result<Found<BlockLedger>, Trouble> {
        read_json(self.ledger_path(session))
    }

    pub(crate) fn intent(&self, machine: Name, scope: &str) -> Result<Found<Pending>, Trouble> {
        read_json(self.intent_path(machine, scope))
    }

    /// Takes the lock and finishes what a crashed process left unfinished.
    pub(crate) fn lock(&self) -> Result<Locked<'_>, Trouble> {
        self.lock_within(LOCK_WAIT)
    }

    /// The same, if the lock is free within this time.
    pub(crate) fn lock_within(&self, wait: Duration) -> Result<Locked<'_>, Trouble> {
        let held = match self.store.hold(wait) {
            Err(Trouble::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                self.state.create(&self.dir().join("sessions"))?;
                self.store.hold(wait)?
            }
            held => held?,
        };
        let news = self.state.close()?;
        if held.is_new() {
            self.state.name_project(self.root())?;
        }
        let mut locked = held.recover()?;
        if let Some(news) = news {
            locked.tell(news);
        }
        Ok(locked)
    }
}
