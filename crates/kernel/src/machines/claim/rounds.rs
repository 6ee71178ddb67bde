//! Red CI sends the agent back to work a limited number of times per prompt, and at most once a
//! minute. Then it waits for the person. If CI fails at once, an agent that answers each failure
//! with a push would otherwise go round without end.

use alloc::format;
use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::claim_file::ClaimFile;
use super::memory::ClaimMemory;
use super::pull::PullState;
use crate::ids::Millis;

/// The least time between two failures that the agent is told of.
pub const APART: Millis = Millis::seconds(60);

/// `claim.max_ci_rounds`, if nobody has set it.
pub const MOST: u32 = 5;

/// How often the agent was told of red CI since the person's last prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Rounds {
    pub told: u32,
    pub last: Option<Millis>,
    /// The person was told that it waits for them.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub person_told: bool,
}

impl Rounds {
    pub(super) fn are_new(&self) -> bool {
        *self == Self::default()
    }

    /// May the agent be told of red CI now? If `most` is 0, there is no limit.
    pub fn may_tell(&self, most: u32, now: Millis) -> bool {
        // A clock that was set back does not make it wait.
        let apart = |last| now < last || now.since(last) >= APART;
        self.last.is_none_or(apart) && !self.are_used_up(most)
    }

    const fn are_used_up(&self, most: u32) -> bool {
        most > 0 && self.told >= most
    }

    pub(super) fn tell(&mut self, now: Millis) {
        self.told = self.told.saturating_add(1);
        self.last = Some(now);
    }
}

/// Red CI that waits for the person, in a sentence for them.
pub fn waiting(claim: &ClaimFile, memory: &ClaimMemory, most: u32) -> Option<String> {
    let pr = claim.watched_pull()?;
    let is_red = memory.mail.iter().any(|mail| mail.red);
    let is_closed = memory.told.state == Some(PullState::Closed);
    if !is_red || is_closed || !memory.rounds.are_used_up(most) {
        return None;
    }
    let told = match memory.rounds.told {
        1 => "1 failure".into(),
        told => format!("{told} failures"),
    };
    Some(format!(
        "CI of PR #{pr} failed again, and the agent was told of {told} since your last prompt. It \
         waits for you: it is told of this one with your next prompt"
    ))
}

/// The same, once for each of the person's prompts.
pub(super) fn untold(claim: &ClaimFile, memory: &mut ClaimMemory, most: u32) -> Option<String> {
    let sentence = waiting(claim, memory, most)?;
    let known = core::mem::replace(&mut memory.rounds.person_told, true);
    (!known).then_some(sentence)
}
