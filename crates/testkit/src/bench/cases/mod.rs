//! What is timed. A machine adds a file and its rows.

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
    /// What the answer has in it, so that the row is what its name says; empty for none.
    pub says: &'static str,
    /// Lays out the world, and returns what is on stdin.
    pub prepare: fn(&World) -> Vec<u8>,
    /// Puts back, before each start, what the last one changed; not timed.
    pub reset: fn(&World),
}

/// How a case's program is started.
#[derive(Debug, Clone, Copy)]
pub enum Start {
    /// The binary itself, as a host does that has its arguments.
    Exec(&'static [&'static str]),
    /// What that asks of the file system, and nothing else: the floor of such a case.
    BareCalls(&'static [&'static str]),
    /// Such calls that no hook makes: what is on stdin says which.
    Calls,
    /// The same through `sh -c`, as a host does that has a line of shell.
    Shell(&'static [&'static str]),
    /// Something else on the same event, for scale.
    Scale {
        program: &'static str,
        args: &'static [&'static str],
        /// What it starts itself.
        needs: &'static [&'static str],
    },
}

impl Start {
    /// A program that this needs and that is not here.
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

/// The floor of a hook's case: what it asks of the file system, and nothing else.
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

/// What one sync costs whoever starts, makes it and ends: in every run, beside the floor, so
/// that no row is excused by a disk that rested.
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

/// All rows, in the table's order.
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

/// Puts a file of ours back, as a new one. Were it written over, a disk might still be busy
/// with the harness's bytes while the next start is timed.
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
