//! Reading the journal for a view, oldest first, and its words.

use std::fmt;
use std::path::Path;

use mainspring_kernel::deliberate::{Outcome, Ruling, Settlement};
use mainspring_kernel::journal::Record;
use mainspring_kernel::machine::Arrow;
use mainspring_kernel::machines::Name;
use mainspring_kernel::{Case, Note, Voice};
use mainspring_store::digest;
use serde::{Serialize, Serializer};

use super::journal_cursor::{JournalCursor, Shown};
use crate::command::Result;
use crate::error::CliError;

/// Fails with what to do if nothing was ever recorded here.
pub(crate) fn exists(dir: &Path) -> Result<()> {
    match std::fs::symlink_metadata(dir) {
        Ok(_) => Ok(()),
        Err(_) => Err(CliError::not_found("nothing has been decided in this project yet").hint(
            "`mainspring pulse 1` checks that the hooks work; `mainspring demo` shows what they do",
        )),
    }
}

/// All lines of a project's journal.
pub(crate) fn all(dir: &Path) -> Result<Vec<Shown>> {
    exists(dir)?;
    let mut seen = Vec::new();
    JournalCursor::default().read_new(dir, &mut |shown| seen.push(shown))?;
    Ok(seen)
}

/// The record of this number, as people may see it; `None` if there is none.
pub(crate) fn numbered(dir: &Path, seq: u64) -> Result<Option<Record>> {
    let found = all(dir)?.into_iter().find_map(|seen| match seen {
        Shown::Record(record) if record.seq == seq => Some(record),
        Shown::Record(_) | Shown::Problem(_) => None,
    });
    Ok(found.map(|record| record.shareable(digest::REDUCER)))
}

/// What the person was told, without the notes that only repeat the record.
pub(crate) fn told(settlement: &Settlement) -> impl Iterator<Item = &Note> {
    let notes = settlement.answer.notes.iter();
    notes.filter(|note| note.by != Voice::Optional)
}

/// The arrow of a machine's table; `None` for a rule that applies to all machines.
pub(crate) fn arrow(name: Name, rule: &str, from: &str) -> Option<&'static Arrow> {
    let mut table = name.table().iter();
    table.find(|arrow| arrow.rule == rule && arrow.leaves(from))
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

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The host sent the same event again, and got the same answer.
    Repeated,
    /// An effect was started first.
    Started,
    Settled(Outcome),
}

impl Ending {
    /// Those that a person looks for.
    pub(crate) const COMMON: [Self; 7] = [
        Self::Settled(Outcome::Held),
        Self::Settled(Outcome::Passed),
        Self::Settled(Outcome::Told),
        Self::Started,
        Self::Settled(Outcome::Capped),
        Self::Settled(Outcome::SameAnswer),
        Self::Settled(Outcome::Observed),
    ];

    pub(crate) const fn of(ruling: &Ruling) -> Self {
        match ruling {
            Ruling::Repeated(_) => Self::Repeated,
            Ruling::Intends(_) => Self::Started,
            Ruling::Settled(settlement) => Self::Settled(settlement.outcome),
        }
    }

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Repeated => "repeated",
            Self::Started => "started",
            Self::Settled(outcome) => match outcome {
                Outcome::Passed => "passed",
                Outcome::Held => "held",
                Outcome::Capped => "capped",
                Outcome::SameAnswer => "same answer",
                Outcome::Told => "told",
                Outcome::Observed => "observed",
            },
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl Serialize for Ending {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}
