//! Files that a test prepares.

use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};

use serde_json::Value;

/// Writes a file and the folders it is in.
#[track_caller]
pub fn write(path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
    let path = path.as_ref();
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)
            .unwrap_or_else(|error| panic!("{} cannot be made: {error}", folder.display()));
    }
    fs::write(path, content)
        .unwrap_or_else(|error| panic!("{} cannot be written: {error}", path.display()));
}

/// The text of a state file of Mainspring's with these fields, sealed as Mainspring does it.
#[track_caller]
pub fn sealed(mut state: Value) -> String {
    if let Value::Object(fields) = &mut state {
        fields.remove("v");
        fields.remove("checksum");
    }
    mainspring_store::seal::seal(Path::new("state"), &state.to_string())
        .unwrap_or_else(|error| panic!("{state}: {error}"))
}

/// Tells when another process has read a file.
#[derive(Debug)]
pub struct Reads {
    events: OwnedFd,
}

impl Reads {
    #[track_caller]
    pub fn of(path: &Path) -> Self {
        let events = inotify::init(CreateFlags::CLOEXEC).expect("the kernel watches files");
        inotify::add_watch(&events, path, WatchFlags::CLOSE_NOWRITE)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self { events }
    }

    /// Waits until somebody has closed the file who opened it for reading after this was called.
    /// Readings that ended before do not count.
    pub fn wait(&self) {
        let mut room = [MaybeUninit::uninit(); 4096];
        Reader::new(&self.events, &mut room)
            .next()
            .expect("an event");
    }
}
