//! What the machine's file holds: the results of all checks, and what is remembered of sessions.

use std::collections::BTreeMap;

use mainspring_kernel::SessionId;
use mainspring_kernel::machines::check::{Memory, Results};
use serde::{Deserialize, Serialize};

/// Sessions that ended without a word are forgotten when there are more.
const MOST_SESSIONS: usize = 64;

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Stored {
    pub(crate) results: Results,
    #[serde(default)]
    sessions: BTreeMap<String, Memory>,
}

impl Stored {
    pub(super) fn memory(&self, session: Option<&SessionId>) -> Memory {
        let known = session.and_then(|session| self.sessions.get(session.as_str()));
        known.cloned().unwrap_or_default()
    }

    /// A session of which there is nothing to remember has no entry.
    pub(super) fn remember(&mut self, session: Option<&SessionId>, memory: &Memory) {
        let Some(session) = session else { return };
        self.sessions.remove(session.as_str());
        if *memory == Memory::default() {
            return;
        }
        while self.sessions.len() >= MOST_SESSIONS {
            self.sessions.pop_first();
        }
        self.sessions
            .insert(session.as_str().to_owned(), memory.clone());
    }
}
