//! Opens a transcript. Whatever path a payload names, this neither hangs nor follows a symlink.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use mainspring_platform::file::{self, is_special_error, is_symlink_error};
use mainspring_store::ShownPath as _;

use super::entry::Entry;
use super::tail::{LastBlock, Tail};

/// Lines are counted in this much of a file at most: a line may hold megabytes.
const MOST_COUNTED: u64 = 256 << 20;

/// An open transcript, with the size that it had when it was opened.
#[derive(Debug)]
pub struct Transcript {
    path: PathBuf,
    content: Content,
    size: u64,
}

#[derive(Debug)]
enum Content {
    File(File),
    /// It came through a pipe.
    Bytes(Vec<u8>),
}

/// Why a transcript cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("transcript {}: {trouble}", path.shown())]
pub struct Unreadable {
    pub(crate) path: PathBuf,
    pub(crate) trouble: Unreadability,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Unreadability {
    #[error("no such file")]
    Missing,
    #[error("is a symbolic link")]
    Symlink,
    #[error("is not a regular file")]
    NotAFile,
    #[error("cannot be read: permission denied")]
    Denied,
    #[error("became shorter while it was read")]
    Shrunk,
    #[error(transparent)]
    Io(io::Error),
}

impl Transcript {
    pub(crate) fn open(path: &Path) -> Result<Self, Unreadable> {
        let unreadable = |trouble| Unreadable {
            path: path.to_owned(),
            trouble,
        };
        let file = file::open(path).map_err(|error| unreadable(Unreadability::of_open(error)))?;
        Self::of(path, file)
    }

    /// A file that is already open, with the path for messages.
    pub fn of(path: &Path, file: File) -> Result<Self, Unreadable> {
        let unreadable = |trouble| Unreadable {
            path: path.to_owned(),
            trouble,
        };
        let meta = file
            .metadata()
            .map_err(|error| unreadable(Unreadability::Io(error)))?;
        if !meta.is_file() {
            return Err(unreadable(Unreadability::NotAFile));
        }
        Ok(Self {
            path: path.to_owned(),
            content: Content::File(file),
            size: meta.len(),
        })
    }

    /// A transcript that was read already, with a name for messages.
    pub(crate) fn of_bytes(name: &str, bytes: Vec<u8>) -> Self {
        Self {
            path: name.into(),
            size: bytes.len() as u64,
            content: Content::Bytes(bytes),
        }
    }

    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Reads the end of the transcript. `entry` parses a line of the host's format;
    /// `last_block` is what the ledger knows about our last block.
    pub(crate) fn tail(
        &self,
        entry: fn(&[u8]) -> Option<Entry>,
        last_block: LastBlock,
    ) -> Result<Tail, Unreadable> {
        Tail::read(self, entry, last_block)
    }

    /// Does it have at least this many lines? If it is so large that not all of it is read, it
    /// counts as long.
    pub(crate) fn has_lines(&self, wanted: usize) -> Result<bool, Unreadable> {
        // The buffer is on the heap, because on the stack it would cost page faults even if it
        // is not used.
        let mut buffer = vec![0; 16 << 10];
        let mut offset = 0;
        let mut seen = 0;
        while seen < wanted {
            let left = self.size - offset;
            if left == 0 || offset >= MOST_COUNTED {
                return Ok(left > 0);
            }
            let length = buffer
                .len()
                .min(usize::try_from(left).unwrap_or(usize::MAX));
            self.read_exact_at(&mut buffer[..length], offset)?;
            seen += buffer[..length].split(|byte| *byte == b'\n').count() - 1;
            offset += length as u64;
        }
        Ok(true)
    }

    pub(super) fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), Unreadable> {
        let read = match &self.content {
            Content::File(file) => file::read_exact_at(file, buffer, offset),
            Content::Bytes(bytes) => usize::try_from(offset)
                .ok()
                .and_then(|start| bytes.get(start..)?.get(..buffer.len()))
                .map(|part| buffer.copy_from_slice(part))
                .ok_or_else(|| io::ErrorKind::UnexpectedEof.into()),
        };
        read.map_err(|error| Unreadable {
            path: self.path.clone(),
            trouble: match error.kind() {
                io::ErrorKind::UnexpectedEof => Unreadability::Shrunk,
                _ => Unreadability::Io(error),
            },
        })
    }
}

impl Unreadability {
    pub(crate) fn of_open(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Missing,
            io::ErrorKind::PermissionDenied => Self::Denied,
            _ if is_symlink_error(&error) => Self::Symlink,
            _ if is_special_error(&error) => Self::NotAFile,
            _ => Self::Io(error),
        }
    }
}

/// Expands a leading `~/`, which some hosts write for the home directory.
pub(crate) fn expand_home(path: &str, home: &Path) -> PathBuf {
    match path.strip_prefix("~/") {
        Some(rest) => home.join(rest.trim_start_matches('/')),
        None => PathBuf::from(path),
    }
}
