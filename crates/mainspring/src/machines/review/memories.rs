//! What we remember about every plan of a project, in one file.

use std::collections::BTreeMap;

use mainspring_kernel::SessionId;
use mainspring_kernel::journal::FileChange;
use mainspring_kernel::machines::Name;
use mainspring_kernel::machines::review::{Memory, State};
use mainspring_store::Trouble;
use serde::{Deserialize, Serialize};

use crate::context::EventContext;
use crate::machines::{FoundFile, json_state};

/// The memories of all plans, and the file that they were read from.
#[derive(Debug)]
pub(crate) struct Memories {
    stored: Stored,
    file: FoundFile,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Stored {
    plans: BTreeMap<String, Memory>,
}

impl Memories {
    pub(crate) fn read(context: &EventContext<'_>) -> Result<Self, Trouble> {
        let (stored, file) = json_state::load::<Stored>(context, Name::Review)?;
        Ok(Self {
            stored: stored.unwrap_or_default(),
            file,
        })
    }

    pub(crate) fn of(&self, plan: &str) -> Memory {
        self.stored.plans.get(plan).cloned().unwrap_or_default()
    }

    /// The session that a plan belongs to.
    pub(super) fn owner(&self, plan: &str) -> Option<&SessionId> {
        self.stored.plans.get(plan)?.owner.as_ref()
    }

    /// The change that stores what is now remembered of one plan.
    pub(crate) fn remember(&self, after: &State) -> Result<Option<FileChange>, Trouble> {
        let Some((plan, memory)) = after.memory() else {
            return Ok(None);
        };
        let mut stored = self.stored.clone();
        stored.plans.insert(plan.to_owned(), memory.clone());
        json_state::change(&self.file, Some(&stored)).map(Some)
    }
}
