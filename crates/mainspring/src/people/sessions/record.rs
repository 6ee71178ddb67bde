//! What is written about one session.

use std::path::{Path, PathBuf};

use mainspring_kernel::{Millis, SessionId};
use mainspring_platform::host::boot_id;
use mainspring_platform::process;
use mainspring_store::{Trouble, atomic, json_text, path_text, seal};
use serde::{Deserialize, Serialize};

/// A session, as its file has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Session {
    pub(crate) id: SessionId,
    /// The host's name, for people.
    pub(crate) host: String,
    /// `None` if the host does not tell which process is the session's.
    pub(crate) client: Option<Client>,
    pub(crate) attendance: Attendance,
    /// The folder in which it was started.
    pub(crate) folder: PathBuf,
    /// When the file was written: at its start, or at its end.
    pub(crate) at: Millis,
}

/// Who attends a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Attendance {
    /// A person can type there.
    Attended,
    /// It was given one prompt and ends by itself.
    Headless,
    /// An agent of another session started it.
    Helper,
}

/// A client's process, told from a later one with the same number.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Client {
    pub(crate) pid: u32,
    started: u64,
    boot: String,
}

impl Client {
    /// `None` if there is no such process.
    pub(super) fn of(pid: u32) -> Option<Self> {
        Some(Self {
            pid,
            started: process::started(pid)?,
            boot: boot_id().into(),
        })
    }

    pub(super) fn is_alive(&self) -> bool {
        process::is_alive(self.pid, self.started, &self.boot)
    }
}

/// The file's JSON.
#[derive(Serialize, Deserialize)]
struct File {
    session: SessionId,
    host: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client: Option<Client>,
    attendance: Attendance,
    folder: String,
    at: Millis,
}

/// A path, three times as long where its bytes are no text, and the rest.
const MOST_BYTES: u64 = 16 << 10;

impl Session {
    pub(super) fn write(&self, path: &Path) -> Result<(), Trouble> {
        let file = File {
            session: self.id.clone(),
            host: self.host.clone(),
            client: self.client.clone(),
            attendance: self.attendance,
            folder: path_text::to_text(&self.folder),
            at: self.at,
        };
        atomic::replace(path, json_text(path, &file)?.as_bytes())
    }

    /// `None` if there is no file, or a power loss left it empty.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, Trouble> {
        let found = atomic::read(path, MOST_BYTES)?.filter(|bytes| !seal::is_torn(bytes));
        let Some(bytes) = found else {
            return Ok(None);
        };
        let object = seal::unseal(path, &bytes)?;
        let file = mainspring_json::read::<File>(&object);
        let file = file.map_err(|error| Trouble::corrupt(path, error))?;
        Ok(Some(Self {
            id: file.session,
            host: file.host,
            client: file.client,
            attendance: file.attendance,
            folder: path_text::from_text(&file.folder).into_owned(),
            at: file.at,
        }))
    }
}
