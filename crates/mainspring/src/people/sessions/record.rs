//! What is written about one session.

use std::path::{Path, PathBuf};

use mainspring_kernel::{Millis, SessionId};
use mainspring_platform::host::boot_id;
use mainspring_platform::process;
use mainspring_store::{Trouble, atomic, json_text, seal};
use serde::{Deserialize, Serialize};

/// A session, as its file has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Session {
    #[serde(rename = "session")]
    pub(crate) id: SessionId,
    /// The host's name, for people.
    pub(crate) host: String,
    /// `None` if the host does not tell which process is the session's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) client: Option<Client>,
    pub(crate) attendance: Attendance,
    /// The folder in which it was started.
    #[serde(with = "as_text")]
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

/// A path in the file.
mod as_text {
    use std::path::{Path, PathBuf};

    use mainspring_store::path_text;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&path_text::to_text(path))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        let text = String::deserialize(from)?;
        Ok(path_text::from_text(&text).into_owned())
    }
}

/// A path, three times as long where its bytes are no text, and the rest.
const MOST_BYTES: u64 = 16 << 10;

impl Session {
    pub(super) fn write(&self, path: &Path) -> Result<(), Trouble> {
        atomic::replace(path, json_text(path, self)?.as_bytes())
    }

    /// `None` if there is no file, or a power loss left it empty.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, Trouble> {
        let found = atomic::read(path, MOST_BYTES)?.filter(|bytes| !seal::is_torn(bytes));
        let Some(bytes) = found else {
            return Ok(None);
        };
        let object = seal::unseal(path, &bytes)?;
        let session = mainspring_json::read::<Self>(&object);
        session
            .map(Some)
            .map_err(|error| Trouble::corrupt(path, error))
    }
}
