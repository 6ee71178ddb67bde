//! Keeps a settings file as it was before an installation, so that `uninstall` can restore it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mainspring_kernel::{Digest, Millis};
use mainspring_store::{Trouble, atomic, digest, json_text, read_json};
use serde::{Deserialize, Serialize};

use super::StateDir;
use crate::limits;

/// What an installation did to one settings file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Installed {
    pub(crate) path: String,
    pub(crate) at: Millis,
    /// The digest of what we wrote. If the file differs from it, somebody has changed the file
    /// since, and `uninstall` keeps their changes.
    #[serde(default)]
    pub(crate) written: Option<Digest>,
    /// The digest of what was there before, which `uninstall` brings back. `None` if there was no
    /// file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<Digest>,
    /// The variables that the installation set.
    pub(crate) variables: Vec<String>,
    /// The files that it wrote beside the settings, with the digests of their texts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) files: BTreeMap<String, Digest>,
    /// The project that the installation trusted.
    pub(crate) trusted: Option<String>,
    /// How many seconds the host gives us at a stop. `None` if its registration says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stop_timeout: Option<u64>,
}

/// Where no record says it.
const STOP_TIMEOUT: Duration = Duration::from_secs(720);

/// The records of every installation, as far as they can be read.
pub(crate) fn all(state: &StateDir) -> impl Iterator<Item = Installed> {
    let folders = std::fs::read_dir(state.installs())
        .into_iter()
        .flatten()
        .flatten();
    folders.filter_map(|entry| {
        let dir = entry.path();
        InstallRecord { dir }.load().ok()?
    })
}

/// How long every registered host waits for the answer to a stop: the shortest of all
/// registrations, because nobody knows which of them sent the event.
pub(crate) fn stop_timeout(state: &StateDir) -> Duration {
    let each = all(state).map(|record| {
        record
            .stop_timeout
            .map_or(STOP_TIMEOUT, Duration::from_secs)
    });
    each.min().unwrap_or(STOP_TIMEOUT)
}

/// The record of one settings file.
#[derive(Debug)]
pub(crate) struct InstallRecord {
    dir: PathBuf,
}

impl InstallRecord {
    pub(crate) fn of(state: &StateDir, settings: &Path) -> Self {
        let key = digest::of(&[settings.as_os_str().as_encoded_bytes()]).0;
        Self {
            dir: state.installs().join(key),
        }
    }

    /// The settings file as it was, which a person may look at, too.
    pub(crate) fn backup(&self) -> PathBuf {
        self.dir.join("before.json")
    }

    pub(crate) fn load(&self) -> Result<Option<Installed>, Trouble> {
        Ok(read_json(self.dir.join("installed.json"))?.value)
    }

    /// Saves the file's bytes and what we are about to do to it.
    pub(crate) fn save(
        &self,
        state: &StateDir,
        before: Option<&str>,
        installed: &Installed,
    ) -> Result<(), Trouble> {
        state.create(&self.dir)?;
        if let Some(text) = before {
            atomic::replace(&self.backup(), text.as_bytes())?;
        }
        let path = self.dir.join("installed.json");
        atomic::replace(&path, json_text(&path, installed)?.as_bytes())
    }

    /// The original bytes; `None` if there was no file.
    pub(crate) fn before(&self) -> Result<Option<String>, Trouble> {
        atomic::read_text(&self.backup(), limits::CONFIG)
    }

    pub(crate) fn forget(&self) -> Result<(), Trouble> {
        match std::fs::remove_dir_all(&self.dir) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(Trouble::io("delete", &self.dir)(error)),
        }
    }
}
