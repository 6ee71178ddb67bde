//! What the watcher does between two looks at the pull request. A look is an event like a host's.

use super::State;
use super::phase::{Next, Phase};
use crate::ids::{Millis, SessionId};

/// What the watcher does before it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// There is nothing to look at for this session: the watcher exits.
    Leave,
    /// It is too early to ask GitHub.
    Wait,
    Look,
}

impl State {
    /// What the watcher of this session does now; `due` is when it may ask GitHub next, `most` how
    /// often it may wake the agent for red CI.
    pub fn before_look(
        &self,
        session: Option<&SessionId>,
        most: u32,
        due: Millis,
        now: Millis,
    ) -> Before {
        let ours = self.memory().is_none_or(|memory| memory.is_own(session));
        if !ours {
            return Before::Leave;
        }
        if self.has_news(most, now) {
            return Before::Look;
        }
        let Self::Claimed { claim, memory } = self else {
            return Before::Leave;
        };
        let waits = now < due || memory.is_told_to_wait(now);
        match &claim.phase {
            Phase::Failed(failure) => match failure.next {
                Next::Never => Before::Leave,
                Next::At(at) if now < at => Before::Wait,
                Next::At(_) => Before::Look,
            },
            _ if claim.watched_pull().is_none() => Before::Leave,
            _ if waits => Before::Wait,
            _ => Before::Look,
        }
    }

    /// Is there mail that is worth a turn? The idle hook may have found it first.
    pub fn has_news(&self, most: u32, now: Millis) -> bool {
        self.memory()
            .is_some_and(|memory| memory.has_urgent(most, now))
    }
}
