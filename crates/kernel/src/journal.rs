//! What is kept of a turn: enough to roll its files forward after a crash, to explain it,
//! and to make the same decision again.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::deliberate::{Case, Ruling, deliberate};
use crate::ids::{Digest, Millis, SessionId};
use crate::machines::MachineInput;
use crate::name::Name;
use crate::reduce::Reducer;

/// The format that this version writes. A newer format is read if possible, and never written to.
/// In format 1, the texts of people and agents were not reduced, and the checksum of a record
/// covered the contents of its files instead of their digests.
pub const FORMAT: u32 = 2;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub v: u32,
    pub seq: u64,
    pub at: Millis,
    pub entry: Entry,
    /// The files that this record changes. They are projections: replaced after the record
    /// is durable, and rolled forward from it if a crash came between.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileChange>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// The host told of an event.
    Turn {
        case: Box<Case>,
        ruling: Box<Ruling>,
    },
    /// A person or an agent ran a command.
    Verb {
        /// The command, as it can be typed again. `…` is a text that is not recorded.
        command: String,
        /// The machine that the command is about, if it is about one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        machine: Option<Name>,
        /// The agent's session, if an agent ran the command.
        session: Option<SessionId>,
        /// What it did, in a sentence.
        did: String,
    },
}

/// One file's replacement, as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileChange {
    pub path: String,
    /// What was there when the decision was made; `None`: no file. If something else is there
    /// later, somebody edited the file, and the edit wins.
    pub was: Option<Digest>,
    /// What is there afterwards; `None`: no file.
    pub now: Option<String>,
}

impl FileChange {
    /// There was no file and there will be none: nothing to record, and nothing to do.
    pub fn is_nothing(&self) -> bool {
        self.was.is_none() && self.now.is_none()
    }
}

impl Case {
    /// The inputs with their texts reduced; `None` if they have no texts, as in most cases.
    fn reduced_inputs(&self, reducer: Reducer) -> Option<Vec<MachineInput>> {
        let mut inputs = self.inputs.clone();
        for input in &mut inputs {
            input.reduce(reducer);
        }
        (inputs != self.inputs).then_some(inputs)
    }

    fn with_inputs(mut self, inputs: Option<Vec<MachineInput>>) -> Self {
        if let Some(inputs) = inputs {
            self.inputs = inputs;
        }
        // It is only for an event that is delivered twice, and a repeated answer is not recorded.
        self.ledger.last = None;
        self
    }

    #[must_use]
    pub fn reduced(self, reducer: Reducer) -> Self {
        let inputs = self.reduced_inputs(reducer);
        self.with_inputs(inputs)
    }
}

impl Entry {
    /// The entry as the journal keeps it, and the entry with its texts, if it has any. A command's
    /// entry has none. Only a case with texts needs to be decided again.
    #[must_use]
    pub fn reduced(self, reducer: Reducer) -> (Self, Option<Self>) {
        let (case, ruling) = match self {
            Self::Turn { case, ruling } => (case, ruling),
            verb @ Self::Verb { .. } => return (verb, None),
        };
        let Some(inputs) = case.reduced_inputs(reducer) else {
            let case = Box::new(case.with_inputs(None));
            return (Self::Turn { case, ruling }, None);
        };
        let reduced = Box::new(case.clone().with_inputs(Some(inputs)));
        let kept = Self::Turn {
            ruling: Box::new(deliberate(&reduced)),
            case: reduced,
        };
        (kept, Some(Self::Turn { case, ruling }))
    }
}

/// Where a replayed decision differs from the recorded one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Divergence {
    pub seq: u64,
    pub recorded: Ruling,
    pub replayed: Ruling,
}

impl Record {
    /// Makes the decision again.
    pub fn replay(&self) -> Result<(), Box<Divergence>> {
        match &self.entry {
            Entry::Verb { .. } => Ok(()),
            Entry::Turn { case, ruling } => {
                let replayed = deliberate(case);
                if replayed == **ruling {
                    return Ok(());
                }
                Err(Box::new(Divergence {
                    seq: self.seq,
                    recorded: (**ruling).clone(),
                    replayed,
                }))
            }
        }
    }

    /// The record as people may send it: without the contents of files, and without the texts that
    /// a record of an earlier format has.
    #[must_use]
    pub fn shareable(mut self, reducer: Reducer) -> Self {
        self.files.clear();
        if self.v < FORMAT {
            self.entry = self.entry.reduced(reducer).0;
        }
        self
    }

    pub fn session(&self) -> Option<&SessionId> {
        match &self.entry {
            Entry::Turn { case, .. } => case.event.session.as_ref(),
            Entry::Verb { session, .. } => session.as_ref(),
        }
    }
}
