//! A project's records, one short row each: read from the journal once, and then followed.

use std::path::Path;

use mainspring_kernel::deliberate::{Outcome, Ruling};
use mainspring_kernel::journal::{Entry, Record};
use mainspring_kernel::{Millis, Name, SessionId};
use mainspring_store::{Trouble, digest};

use super::super::journal_cursor::{Continuity, JournalCursor, Shown};
use super::super::records::{self, Ending};
use crate::hosts::text::excerpt;
use crate::machines::review::history as reviews;

/// One project's records, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    cursor: JournalCursor,
    pub(crate) rows: Vec<Row>,
    /// Lines of the journal that are no records.
    pub(crate) damaged: usize,
}

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) seq: u64,
    pub(crate) at: Millis,
    pub(crate) session: Option<SessionId>,
    /// The event's name, or [`records::COMMAND`].
    pub(crate) event: String,
    /// `None` for a command.
    pub(crate) ending: Option<Ending>,
    pub(crate) steps: Vec<Step>,
    /// What else there is to say: notes to the person, the result of an effect, a command.
    pub(crate) notes: Vec<String>,
}

/// What one machine did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) machine: Name,
    /// Empty if the record is only about the machine: a command, an effect that began, a state
    /// that could not be read.
    pub(crate) rule: String,
    pub(crate) from: String,
    pub(crate) to: String,
    /// Did it say something to the agent?
    pub(crate) spoke: bool,
}

impl Row {
    /// Of a record that people may see: [`Record::shareable`].
    pub(crate) fn of(record: &Record) -> Self {
        let mut row = Self {
            seq: record.seq,
            at: record.at,
            session: record.session().cloned(),
            event: records::COMMAND.into(),
            ending: None,
            steps: Vec::new(),
            notes: Vec::new(),
        };
        match &record.entry {
            Entry::Verb {
                command,
                did,
                machine,
                ..
            } => {
                row.steps.extend(machine.map(Step::about));
                row.notes.push(format!("mainspring {command}: {did}"));
            }
            Entry::Turn { case, ruling } => {
                row.event = records::event(case).into();
                row.ending = Some(Ending::of(ruling));
                row.add(ruling);
                row.notes
                    .extend(case.inputs.iter().filter_map(reviews::came_back));
                for broken in &case.broken {
                    row.steps.push(Step::about(broken.machine));
                    row.notes
                        .push(format!("{}: {}", broken.machine, broken.cause));
                }
            }
        }
        row
    }

    /// What the machines did, and what the person was told.
    fn add(&mut self, ruling: &Ruling) {
        match ruling {
            Ruling::Repeated(_) => {}
            Ruling::Intends(pending) => {
                let machine = pending.name();
                self.steps.push(Step::about(machine));
                self.notes
                    .push(format!("{machine}: {}", records::effect(machine)));
            }
            Ruling::Settled(settlement) => {
                let moved = settlement.transitions.iter();
                let moved = moved.filter(|moved| !moved.rule().is_empty());
                self.steps.extend(moved.map(|moved| Step {
                    machine: moved.name(),
                    rule: moved.rule().into(),
                    from: moved.from().into(),
                    to: moved.to().into(),
                    spoke: !moved.said().is_nothing(),
                }));
                self.notes
                    .extend(records::told(settlement).map(|note| excerpt(&note.text)));
                self.notes.extend(match settlement.outcome {
                    Outcome::Capped => Some("the limit of holds in a row was reached".into()),
                    Outcome::SameAnswer => {
                        Some("the agent gave the same answer again and again".into())
                    }
                    _ => None,
                });
            }
        }
    }

    pub(crate) fn is_about(&self, machine: Name) -> bool {
        self.steps.iter().any(|step| step.machine == machine)
    }

    /// Is it of a session whose id begins so?
    pub(crate) fn is_of(&self, session: &str) -> bool {
        let id = self.session.as_ref();
        id.is_some_and(|id| id.as_str().starts_with(session))
    }

    /// Was the agent kept going?
    pub(crate) fn is_held(&self) -> bool {
        self.ending == Some(Ending::Settled(Outcome::Held))
    }
}

impl Step {
    fn about(machine: Name) -> Self {
        Self {
            machine,
            rule: String::new(),
            from: String::new(),
            to: String::new(),
            spoke: false,
        }
    }
}

impl Journal {
    /// A journal that cannot be read has no rows; `mainspring doctor` says why.
    pub(crate) fn of(dir: &Path) -> Self {
        let mut journal = Self::default();
        let _ = journal.follow(dir);
        journal
    }

    /// Reads what is new.
    pub(crate) fn follow(&mut self, dir: &Path) -> Result<(), Trouble> {
        let (mut rows, mut damaged) = (Vec::new(), 0);
        let read = self.cursor.read_new(dir, &mut |shown| match shown {
            Shown::Record(record) => rows.push(Row::of(&record.shareable(digest::REDUCER))),
            Shown::Problem(_) => damaged += 1,
        });
        if read? == Continuity::Anew {
            self.rows.clear();
            self.damaged = 0;
        }
        self.rows.append(&mut rows);
        // A line that is still being written is read again, and counted once.
        self.damaged = self.damaged.max(damaged);
        Ok(())
    }

    /// What a machine did last, and in which row.
    pub(crate) fn last_step(&self, machine: Name) -> Option<(&Row, &Step)> {
        self.rows.iter().rev().find_map(|row| {
            let mut steps = row.steps.iter();
            Some((row, steps.find(|step| step.machine == machine)?))
        })
    }

    /// The latest record of a session.
    pub(crate) fn last_of(&self, session: &SessionId) -> Option<&Row> {
        let mut rows = self.rows.iter().rev();
        rows.find(|row| row.session.as_ref() == Some(session))
    }

    /// The session that has the latest record, and when that was.
    pub(crate) fn last_session(&self) -> Option<(SessionId, Millis)> {
        let mut rows = self.rows.iter().rev();
        rows.find_map(|row| Some((row.session.clone()?, row.at)))
    }
}
