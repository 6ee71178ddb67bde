//! Every parser of something that comes from outside, each with the properties that must hold for
//! *any* bytes. `libfuzzer` beside this runs the targets under libFuzzer; a test replays the
//! corpus. A target fails by a panic; the fuzzer limits time and memory.

mod check;
mod claim;
mod event;
mod github;
mod journal;
mod json;
mod looping;
mod registry;
mod review;
mod signal;
mod tasks;
#[cfg(test)]
mod tests;
mod transcript;

use std::fs::File;
use std::io::Write;

/// One parser and its properties.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// The name on the command line and of its corpus.
    pub name: &'static str,
    pub run: fn(&[u8]),
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target {
        name: "event",
        run: event::run,
    },
    Target {
        name: "transcript",
        run: transcript::run,
    },
    Target {
        name: "fsm",
        run: tasks::run,
    },
    Target {
        name: "state",
        run: review::run,
    },
    Target {
        name: "claim",
        run: claim::run,
    },
    Target {
        name: "check",
        run: check::run,
    },
    Target {
        name: "loop",
        run: looping::run,
    },
    Target {
        name: "registry",
        run: registry::run,
    },
    Target {
        name: "gh",
        run: github::run,
    },
    Target {
        name: "journal",
        run: journal::run,
    },
    Target {
        name: "signal",
        run: signal::run,
    },
];

/// An in-memory file with these bytes, for parsers that read files.
fn file(bytes: &[u8]) -> Option<File> {
    let fd = rustix::fs::memfd_create("fuzz", rustix::fs::MemfdFlags::CLOEXEC).ok()?;
    let mut file = File::from(fd);
    file.write_all(bytes).ok()?;
    Some(file)
}
