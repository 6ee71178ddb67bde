//! The decisions of all projects, in memory, one short row each. It is read from the journals once
//! and then follows them.

use std::collections::BTreeMap;
use std::path::Path;

use mainspring_kernel::deliberate::{Outcome, Ruling};
use mainspring_kernel::journal::{Entry, Record};
use mainspring_kernel::{Millis, Name, SessionId};
use mainspring_store::{Trouble, digest};

use super::super::journal_cursor::{Continuity, JournalCursor};
use crate::hosts::text::excerpt;
use crate::machines::review::history as reviews;
use crate::show::journal_cursor::Shown;
use crate::show::records;

#[derive(Debug, Default)]
pub(super) struct History {
    projects: BTreeMap<String, Journal>,
}

/// One project's decisions, oldest first.
#[derive(Debug, Default)]
pub(super) struct Journal {
    cursor: JournalCursor,
    pub(super) rows: Vec<Row>,
    /// Lines of the journal that are no records.
    pub(super) damaged: usize,
}

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) seq: u64,
    pub(super) at: Millis,
    pub(super) session: Option<SessionId>,
    /// The event's name, or [`records::COMMAND`].
    pub(super) event: String,
    /// The outcome in one word; empty for a command.
    pub(super) outcome: &'static str,
    pub(super) steps: Vec<Step>,
    /// What else there is to say: notes to the person, the result of an effect, a command.
    pub(super) notes: Vec<String>,
}

/// What one machine did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) machine: Name,
    pub(super) rule: String,
    pub(super) from: String,
    pub(super) to: String,
    /// Did it say something to the agent?
    pub(super) spoke: bool,
}

impl Row {
    fn of(record: Record) -> Self {
        let record = record.shareable(digest::REDUCER);
        let session = record.session().cloned();
        let (event, outcome, steps, notes) = match &record.entry {
            Entry::Verb { command, did, .. } => {
                let said = format!("mainspring {command}: {}", excerpt(did));
                let about = records::machine_of(&record).map(Step::by_command);
                (
                    records::COMMAND.into(),
                    "",
                    about.into_iter().collect(),
                    vec![said],
                )
            }
            Entry::Turn { case, ruling } => {
                let (steps, mut notes) = told(ruling);
                notes.extend(case.inputs.iter().filter_map(reviews::came_back));
                let broken = case.broken.iter();
                notes.extend(broken.map(|one| format!("{}: {}", one.machine, one.cause)));
                let event = records::event(case).to_owned();
                (event, records::outcome(ruling), steps, notes)
            }
        };
        Self {
            seq: record.seq,
            at: record.at,
            session,
            event,
            outcome,
            steps,
            notes,
        }
    }

    /// Was the agent kept going?
    pub(super) fn is_held(&self) -> bool {
        self.outcome == "held"
    }
}

impl Step {
    fn by_command(machine: Name) -> Self {
        Self {
            machine,
            rule: String::new(),
            from: String::new(),
            to: String::new(),
            spoke: false,
        }
    }
}

/// What the machines did, and what the person was told.
fn told(ruling: &Ruling) -> (Vec<Step>, Vec<String>) {
    match ruling {
        Ruling::Repeated(_) => Default::default(),
        Ruling::Intends(pending) => {
            let machine = pending.name();
            let started = format!("{machine} started {}", records::effect(machine));
            (vec![Step::by_command(machine)], vec![started])
        }
        Ruling::Settled(settlement) => {
            let moved = settlement.transitions.iter();
            let steps = moved.filter(|moved| !moved.rule().is_empty());
            let steps = steps.map(|moved| Step {
                machine: moved.name(),
                rule: moved.rule().into(),
                from: moved.from().into(),
                to: moved.to().into(),
                spoke: !moved.said().is_nothing(),
            });
            let notes = records::told(settlement).map(|note| excerpt(&note.text));
            let capped = match settlement.outcome {
                Outcome::Capped => Some("the limit of blocks in a row was reached"),
                Outcome::SameAnswer => Some("the agent gave the same answer again and again"),
                _ => None,
            };
            let capped = capped.map(str::to_owned);
            (steps.collect(), notes.chain(capped).collect())
        }
    }
}

impl History {
    /// Reads what is new in a project's journal.
    pub(super) fn follow(&mut self, key: &str, dir: &Path) -> Result<(), Trouble> {
        let journal = self.projects.entry(key.to_owned()).or_default();
        let (mut rows, mut damaged) = (Vec::new(), 0);
        let read = journal.cursor.read_new(dir, &mut |shown| match shown {
            Shown::Record(record) => rows.push(Row::of(*record)),
            Shown::Problem(_) => damaged += 1,
        });
        if read? == Continuity::Anew {
            journal.rows.clear();
            journal.damaged = 0;
        }
        journal.rows.append(&mut rows);
        // A line that is still being written is read again, and counted once.
        journal.damaged = journal.damaged.max(damaged);
        Ok(())
    }

    /// Forgets projects whose state is gone.
    pub(super) fn retain(&mut self, known: impl Fn(&str) -> bool) {
        self.projects.retain(|key, _| known(key));
    }

    pub(super) fn of(&self, key: &str) -> Option<&Journal> {
        self.projects.get(key)
    }

    /// All rows with their project, newest first.
    pub(super) fn newest_first(&self) -> Vec<(&str, &Row)> {
        let mut rows: Vec<(&str, &Row)> = self
            .projects
            .iter()
            .flat_map(|(key, journal)| journal.rows.iter().map(|row| (key.as_str(), row)))
            .collect();
        rows.sort_by(|(a, one), (b, other)| (other.at, b, other.seq).cmp(&(one.at, a, one.seq)));
        rows
    }
}

impl Journal {
    /// What a machine did last, and in which row.
    pub(super) fn last_step(&self, machine: Name) -> Option<(&Row, &Step)> {
        self.rows.iter().rev().find_map(|row| {
            let mut steps = row.steps.iter();
            Some((row, steps.find(|step| step.machine == machine)?))
        })
    }
}
