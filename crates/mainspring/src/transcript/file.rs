//! Opening a transcript: whatever a payload names, this neither hangs nor follows a link.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::io::Errno;

use super::backwards::LIMIT;
use super::tail::{LastBlock, Tail};

/// An open transcript, of the size it had when it was opened.
#[derive(Debug)]
pub(crate) struct Transcript {
    path: PathBuf,
    file: File,
    size: u64,
}

/// Why a transcript tells nothing.
#[derive(Debug, thiserror::Error)]
#[error("transcript {}: {trouble}", path.display())]
pub(crate) struct Unreadable {
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
    #[error("may not be read")]
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
        // Not blocking, because opening a FIFO would otherwise wait for its writer.
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let file = open(path, flags, Mode::empty())
            .map_err(|errno| unreadable(Unreadability::of_open(errno)))?;
        Self::of(path, file.into())
    }

    /// A file that is open already, under the name that it is spoken of by.
    pub(crate) fn of(path: &Path, file: File) -> Result<Self, Unreadable> {
        let unreadable = |trouble| Unreadable {
            path: path.to_owned(),
            trouble,
        };
        let stat = fstat(&file).map_err(|errno| unreadable(Unreadability::Io(errno.into())))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(unreadable(Unreadability::NotAFile));
        }
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        Ok(Self {
            path: path.to_owned(),
            file,
            size,
        })
    }

    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// What the end of the transcript tells. `last_block` is what the ledger knows of our own.
    pub(crate) fn tail(&self, last_block: LastBlock) -> Result<Tail, Unreadable> {
        Tail::read(self, last_block)
    }

    /// Whether it has at least so many lines. One that has not ended after 1 MiB counts as long.
    pub(crate) fn has_lines(&self, wanted: usize) -> Result<bool, Unreadable> {
        // Not on the stack: it would be touched where nobody asks, too.
        let mut buffer = vec![0; 16 << 10];
        let mut offset = 0;
        let mut seen = 0;
        while seen < wanted {
            let left = self.size - offset;
            if left == 0 || offset >= LIMIT as u64 {
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
        self.file
            .read_exact_at(buffer, offset)
            .map_err(|error| Unreadable {
                path: self.path.clone(),
                trouble: match error.kind() {
                    io::ErrorKind::UnexpectedEof => Unreadability::Shrunk,
                    _ => Unreadability::Io(error),
                },
            })
    }
}

impl Unreadability {
    pub(super) fn of_open(errno: Errno) -> Self {
        match errno {
            Errno::NOENT | Errno::NOTDIR => Self::Missing,
            Errno::LOOP => Self::Symlink,
            Errno::ACCESS | Errno::PERM => Self::Denied,
            // A socket, or a device without a driver.
            Errno::NXIO | Errno::NODEV => Self::NotAFile,
            other => Self::Io(other.into()),
        }
    }
}

/// Hosts write a leading `~/` for the home directory, which only a shell would expand.
pub(crate) fn expand_home(path: &str, home: &Path) -> PathBuf {
    match path.strip_prefix("~/") {
        Some(rest) => home.join(rest.trim_start_matches('/')),
        None => PathBuf::from(path),
    }
}
