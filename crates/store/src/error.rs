//! What can go wrong with a file. The message contains its path.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use mainspring_kernel::hidden;

/// A path for messages: on one line, whatever its names contain, and never taken for more.
pub trait ShownPath {
    fn shown(&self) -> String;
}

impl ShownPath for Path {
    fn shown(&self) -> String {
        hidden::name(&self.to_string_lossy()).into_owned()
    }
}

/// What is wrong with a file of ours that is not as it was written.
pub const CHECKSUM: &str = "its checksum is wrong, so it was damaged, or edited by hand";

/// What went wrong, and with which file.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    #[error("cannot {doing} {}: {source}", path.shown())]
    Io {
        doing: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error("{} is larger than {limit} bytes", path.shown())]
    TooLarge { path: PathBuf, limit: u64 },
    #[error("{} is not a regular file", path.shown())]
    NotAFile { path: PathBuf },
    #[error("{} {problem}", path.shown())]
    Unsafe { path: PathBuf, problem: String },
    /// A file that exists but cannot be understood. It is reported and never replaced.
    #[error("cannot read {}: {problem}", path.shown())]
    Corrupt { path: PathBuf, problem: String },
    /// A file of ours that is not as it was written. It is reported and never replaced.
    #[error(
        "cannot read {}: {CHECKSUM}. `mainspring doctor --fix` moves it out of the way",
        path.shown()
    )]
    Damaged { path: PathBuf },
    /// A file of ours that this version must not touch.
    #[error(
        "{} has format {version}, from a newer mainspring; this one reads up to format {}: \
         upgrade mainspring",
        path.shown(), crate::seal::FORMAT
    )]
    Newer { path: PathBuf, version: String },
    #[error("another process has held {} for more than {seconds} seconds", path.shown())]
    Busy { path: PathBuf, seconds: f32 },
    /// The record is durable, but one of its files could not be replaced.
    #[error("{0}; it is recorded, and the next event tries again")]
    Unfinished(Box<Self>),
    #[error("{0}")]
    Other(String),
}

impl Trouble {
    pub fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io {
            doing,
            path: path.to_owned(),
            source,
        }
    }

    pub fn corrupt(path: &Path, problem: impl fmt::Display) -> Self {
        Self::Corrupt {
            path: path.to_owned(),
            problem: problem.to_string(),
        }
    }
}
