//! Files that a test prepares.

use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
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

/// Longer than anything of ours waits before it reads a file again.
const DEADLINE: Duration = Duration::from_secs(20);

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

    /// Waits until the file was read once more.
    #[track_caller]
    pub fn wait(&self) {
        let limit = Timespec::try_from(DEADLINE).ok();
        let mut watched = [PollFd::new(&self.events, PollFlags::IN)];
        let ready = poll(&mut watched, limit.as_ref()).expect("a file can be waited for");
        assert_eq!(ready, 1, "nobody reads the file any more");
        let mut room = [MaybeUninit::uninit(); 4096];
        Reader::new(&self.events, &mut room)
            .next()
            .expect("an event");
    }
}
