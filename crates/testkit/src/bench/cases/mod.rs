//! The cases that are timed. A machine adds a file and its cases.

mod claim;
mod idle;
pub(super) mod pulse;
pub(super) mod review;
mod scale;
pub(super) mod stop;
pub(super) mod tasks;
mod together;

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::count::is_here;
pub use crate::world::World;

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    pub name: &'static str,
    pub about: &'static str,
    pub start: Start,
    /// A text in the answer, to check that the case does what its name says; empty for no answer.
    pub says: &'static str,
    /// Sets up the world, and returns the stdin.
    pub prepare: fn(&World) -> Vec<u8>,
    /// Restores, before each start, what the last one changed; not timed.
    pub reset: fn(&World),
}

/// How a case's program is started.
#[derive(Debug, Clone, Copy)]
pub enum Start {
    /// The binary itself, as a host starts it with an argument list.
    Exec(&'static [&'static str]),
    /// Its file system calls and nothing else: the lower bound for the case.
    BareCalls(&'static [&'static str]),
    /// File system calls that no hook makes; stdin lists them.
    Calls,
    /// The same through `sh -c`, as a host starts a line of shell.
    Shell(&'static [&'static str]),
    /// Another program on the same event, for comparison.
    Scale {
        program: &'static str,
        args: &'static [&'static str],
        /// The program that it starts itself.
        needs: &'static [&'static str],
    },
}

impl Start {
    /// A program that the case needs, if it is not installed.
    pub(super) fn missing(&self) -> Option<&'static str> {
        match self {
            Self::Exec(_) | Self::Calls | Self::Shell(_) => None,
            Self::BareCalls(_) => (!is_here("strace")).then_some("strace"),
            Self::Scale { program, needs, .. } => std::iter::once(program)
                .chain(*needs)
                .find(|program| !is_here(program))
                .copied(),
        }
    }
}

/// The lower bound for a hook's case: its file system calls and nothing else.
const fn bare(case: Case, name: &'static str) -> Case {
    let start = match case.start {
        Start::Exec(args) => Start::BareCalls(args),
        other => other,
    };
    Case {
        name,
        about: "the same calls by a program that does nothing else",
        start,
        says: "",
        ..case
    }
}

/// What one sync costs a program that starts, syncs and exits. It is in every run, so that a case
/// cannot look good because the disk was idle.
pub const RECORD: Case = Case {
    name: "one record, bare",
    about: "a KiB is appended and synced by a program that does nothing else",
    start: Start::Calls,
    says: "",
    prepare: |world| {
        let journal = world.root().join("journal");
        let append = format!("append\t4\t0\t{}", journal.display());
        format!("{append}\nwrite\t4\t1024\nsync\t4\t0\nclose\t4\t0\n").into_bytes()
    },
    reset: nothing,
};

/// All cases, in the order of the table.
pub const ALL: &[Case] = &[
    RECORD,
    idle::ELSEWHERE,
    idle::THROUGH_SHELL,
    idle::KNOWN,
    idle::OTHER_EVENT,
    pulse::HOLD,
    pulse::NOT_OURS,
    stop::GATE_PASSES,
    stop::GATE_BLOCKS,
    stop::GATE_RELEASES,
    bare(stop::GATE_RELEASES, "gate releases, bare"),
    stop::LOOP_PASSES,
    stop::LOOP_ITERATES,
    bare(stop::LOOP_ITERATES, "loop iterates, bare"),
    stop::LOOP_COMPLETES,
    stop::SHORT_TRANSCRIPT,
    bare(stop::SHORT_TRANSCRIPT, "gate, 1 MiB, bare"),
    stop::ONE_MESSAGE,
    stop::LONG_TRANSCRIPT,
    review::THIRTY,
    review::TWO_THOUSAND,
    review::SKIPS,
    bare(review::SKIPS, "review moves on, bare"),
    review::BROKEN,
    bare(review::BROKEN, "review blocks, bare"),
    claim::UNCHANGED,
    claim::MAIL,
    claim::WATCH,
    together::HOLD,
    bare(together::HOLD, "five machines hold, bare"),
    together::RELEASE,
    bare(together::RELEASE, "five machines let go, bare"),
    tasks::NO_LIST,
    tasks::TWENTY,
    tasks::TWENTY_AGAIN,
    tasks::THOUSAND,
    tasks::TOO_MANY,
    scale::BASH,
    scale::PYTHON,
];

/// For a case that changes nothing.
pub(super) fn nothing(_: &World) {}

/// Restores one of our files, as a new file. If it were overwritten, the disk might still be busy
/// with the harness's bytes during the next start.
pub(crate) fn put_back(path: &Path, bytes: impl AsRef<[u8]>) {
    let _ = fs::remove_file(path);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .expect("a file of ours");
    file.write_all(bytes.as_ref()).expect("room for it");
}
