//! What failed at a stop is tried again when it is due, also while the agent is idle: at an idle
//! event, and by the watcher.

use super::claim_file::ClaimFile;
use super::memory::{ClaimMemory, Consent};
use super::phase::{Phase, Task};
use super::results::Meaning;
use super::stop::{CLOSE_LIMIT, OPEN_LIMIT};
use super::work::{Close, Effect, Open};
use super::{Claim, State};
use crate::ids::Millis;
use crate::machine::Input;

/// The event, which is not a stop.
#[derive(Debug, Clone, Copy)]
pub(super) enum At {
    Idle,
    Watch,
}

/// The effect that is due, and how long it may take. What nobody may do waits for a stop, which
/// says so.
pub(super) fn due(
    claim: &ClaimFile,
    memory: &ClaimMemory,
    input: &Input<'_, Claim>,
) -> Option<(Effect, Millis)> {
    let Phase::Failed(failure) = &claim.phase else {
        return None;
    };
    if !failure.next.is_due(input.now) {
        return None;
    }
    match failure.during {
        Task::Open => {
            let open = Open::of(claim, memory).ok()?;
            Some((Effect::Open(open), OPEN_LIMIT))
        }
        Task::Close if memory.consent == Consent::Given => {
            Some((Effect::Close(Close::of(claim, memory)), CLOSE_LIMIT))
        }
        Task::Close => None,
    }
}

/// The arrow for what came of it.
pub(super) const fn rule(at: At, meaning: &Meaning) -> &'static str {
    let State::Claimed { claim, .. } = &meaning.state else {
        return match at {
            At::Idle => "idle-closed",
            At::Watch => "watch-closed",
        };
    };
    match (at, &claim.phase) {
        (At::Idle, Phase::PrCreated) => "idle-opened",
        (At::Watch, Phase::PrCreated) => "watch-opened",
        (At::Idle, Phase::ReadyForPr) => "idle-lacking",
        (At::Watch, Phase::ReadyForPr) => "watch-lacking",
        (At::Idle, Phase::MergedDetected) => "idle-integrated",
        (At::Watch, Phase::MergedDetected) => "watch-integrated",
        (At::Idle, _) => "idle-failed",
        (At::Watch, _) => "watch-failed",
    }
}
