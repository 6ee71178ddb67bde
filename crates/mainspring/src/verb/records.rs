//! Reading the journal for a view: oldest first, filtered.

use std::path::Path;

use mainspring_kernel::deliberate::{Outcome, Ruling, Settlement};
use mainspring_kernel::journal::{Entry, Record};
use mainspring_kernel::machines::Name;
use mainspring_kernel::{Case, Millis, Note, Voice};

use super::journal_cursor::JournalCursor;
use super::{CommandContext, Result, session};
use crate::error::CliError;

/// Which records a person wants to see.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Filter {
    /// Only what this machine said or did
    #[arg(long, value_parser = crate::orders::machine)]
    pub(crate) machine: Option<Name>,
    /// Only this session: its id, the beginning of it, or `last` for the latest one here
    #[arg(long, value_name = session::VALUE)]
    pub(crate) session: Option<String>,
    /// Only what happened in this span until now: 90s, 30m, 2h
    #[arg(long, value_name = "SPAN", value_parser = crate::timestamp::span)]
    pub(crate) since: Option<Millis>,
}

impl Filter {
    /// With the id that `last` stands for. A journal is about sessions that ended, too.
    pub(crate) fn resolved(&self, cmd: &CommandContext) -> Result<Self> {
        let (_, store) = cmd.project()?;
        let session = match self.session.as_deref() {
            Some("last") => session::latest(&cmd.env, &store).map(|(id, _)| id.to_string()),
            Some(_) | None => self.session.clone(),
        };
        Ok(Self {
            session,
            ..self.clone()
        })
    }

    pub(crate) fn takes(&self, record: &Record, now: Millis) -> bool {
        let session = self.session.as_ref().is_none_or(|wanted| {
            record
                .session()
                .is_some_and(|id| id.as_str().starts_with(wanted.as_str()))
        });
        let young = self.since.is_none_or(|span| now.since(record.at) <= span);
        session && young && self.machine.is_none_or(|name| concerns(record, name))
    }
}

/// The machine that a command is about.
pub(crate) fn machine_of(record: &Record) -> Option<Name> {
    match &record.entry {
        Entry::Verb { machine, .. } => *machine,
        Entry::Turn { .. } => None,
    }
}

/// Did this machine take an arrow, ask for an effect, or get a command?
fn concerns(record: &Record, name: Name) -> bool {
    match &record.entry {
        Entry::Verb { .. } => machine_of(record) == Some(name),
        Entry::Turn { case, ruling } => {
            let broken = case.broken.iter().any(|broken| broken.machine == name);
            broken
                || match &**ruling {
                    Ruling::Repeated(_) => false,
                    Ruling::Intends(pending) => pending.name() == name,
                    Ruling::Settled(settlement) => settlement
                        .transitions
                        .iter()
                        .any(|moved| moved.name() == name && !moved.rule().is_empty()),
                }
        }
    }
}

/// One line of a journal, as a view shows it.
#[derive(Debug)]
pub(crate) enum Shown {
    Record(Box<Record>),
    Problem(String),
}

/// All lines of a project's journal.
pub(crate) fn all(dir: &Path) -> Result<Vec<Shown>> {
    if std::fs::symlink_metadata(dir).is_err() {
        return Err(CliError::new("nothing has been decided in this project yet")
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
