//! Reading the journal for a view, oldest first, and its words.

use std::path::Path;

use mainspring_kernel::deliberate::{Outcome, Ruling, Settlement};
use mainspring_kernel::journal::{Entry, Record};
use mainspring_kernel::machines::Name;
use mainspring_kernel::{Case, Note, Voice};

use super::journal_cursor::{JournalCursor, Shown};
use crate::command::Result;
use crate::error::CliError;

/// The machine that a command is about.
pub(crate) fn machine_of(record: &Record) -> Option<Name> {
    match &record.entry {
        Entry::Verb { machine, .. } => *machine,
        Entry::Turn { .. } => None,
    }
}

/// All lines of a project's journal.
pub(crate) fn all(dir: &Path) -> Result<Vec<Shown>> {
    if std::fs::symlink_metadata(dir).is_err() {
        return Err(CliError::not_found("nothing has been decided in this project yet")
            .hint("`mainspring pulse 1` checks that the hooks work; `mainspring demo` shows what they do"));
    }
    let mut seen = Vec::new();
    JournalCursor::default().read_new(dir, &mut |shown| seen.push(shown))?;
    Ok(seen)
}

/// What the person was told, without the notes that only repeat the record.
pub(crate) fn told(settlement: &Settlement) -> impl Iterator<Item = &Note> {
    let notes = settlement.answer.notes.iter();
    notes.filter(|note| note.by != Voice::Optional)
}

/// What a machine starts outside of this process.
pub(crate) const fn effect(name: Name) -> &'static str {
    match name {
        Name::Check => "the checks",
        Name::Review => "a reviewer",
        Name::Claim => "its work on GitHub or the git server",
        Name::Pulse => "a child process",
        Name::Gate | Name::Loop | Name::Tasks => "an effect",
    }
}

/// The event of a stop that a command made: no agent stopped.
pub(crate) const COMMAND: &str = "command";

/// The event, as views name it.
pub(crate) fn event(case: &Case) -> &str {
    if case.by_command {
        COMMAND
    } else {
        case.event.kind.name()
    }
}

/// The outcome of a turn, in one word.
pub(crate) fn outcome(ruling: &Ruling) -> &'static str {
    match ruling {
        Ruling::Repeated(_) => "repeated",
        Ruling::Intends(_) => "started",
        Ruling::Settled(settlement) => match settlement.outcome {
            Outcome::Passed => "passed",
            Outcome::Held => "held",
            Outcome::Capped => "capped",
            Outcome::SameAnswer => "same answer",
            Outcome::Told => "told",
            Outcome::Observed => "observed",
        },
    }
}
