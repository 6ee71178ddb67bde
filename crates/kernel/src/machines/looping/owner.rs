//! Who owns a loop. A loop never holds another session's stop.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Client, Door, Facts, Loop, LoopOwner, Mode, OtherSessions, Run, State};
use crate::event::{EndReason, Kind, StartSource};
use crate::ids::SessionId;
use crate::machine::{Input, Nothing, OnContext, Step};

/// How the session that stops is related to the loop.
pub(super) enum Ownership {
    Ours(Run),
    /// The loop had no owner; now it is this session's.
    Taken(Run),
    Others,
    /// The loop has no owner, and several sessions could become it.
    Unclear,
}

/// Only a drop-in is asked by a session that it does not know: its document has no owners, so it
/// holds whoever stops, but no session whose loop it knows to be another's.
pub(super) fn ownership(run: &Run, here: Option<&SessionId>, facts: &Facts) -> Ownership {
    let Some(here) = here else {
        return Ownership::Ours(run.clone());
    };
    match (&run.owner, facts.company) {
        (LoopOwner::Session { id, client }, _) if id == here => {
            Ownership::Ours(owned(run, here, facts.client.or(*client)))
        }
        (LoopOwner::Session { .. }, _) => Ownership::Others,
        (LoopOwner::Nobody, _) if facts.door == Door::Compat => {
            Ownership::Ours(owned(run, here, facts.client))
        }
        (LoopOwner::Nobody, OtherSessions::Alone) => {
            Ownership::Taken(owned(run, here, facts.client))
        }
        (LoopOwner::Nobody, OtherSessions::Several) => Ownership::Unclear,
    }
}

/// What a session is told when a loop is given to it.
pub(super) fn welcome(run: &Run) -> String {
    let top = &run.top;
    let signals: Vec<String> = top
        .mode
        .signals()
        .iter()
        .map(|(element, ending)| format!("`<{element}>{}</{element}>`", ending.as_str()))
        .collect();
    let kind = match top.mode {
        Mode::Loop => "A loop",
        Mode::Issue => "An issue's loop",
        Mode::Grind => "A grind",
    };
    format!(
        "{kind} without an owner was found in this project and given to this session \
         (iteration {} of {}). To end it say one of {} on a line of its own, or run \
         `mainspring loop abort`.",
        top.iter,
        top.max,
        signals.join(", ")
    )
}

/// A session starts. It may be the owner under a new id, or the first session that an ownerless
/// loop meets. A fork is neither, and a compaction is not a start.
pub(super) fn on_start(state: &State, input: &Input<'_, Loop>) -> Step<Loop, OnContext> {
    let (Some(run), Some(here)) = (run(state), &input.event.session) else {
        return Step::ignore(state, OnContext::Pass);
    };
    let Kind::SessionStart { source } = input.event.kind else {
        return Step::ignore(state, OnContext::Pass);
    };
    let client = input.facts.client;
    match (&run.owner, source) {
        (_, StartSource::Compact | StartSource::Fork) => Step::ignore(state, OnContext::Pass),
        (LoopOwner::Session { id, .. }, _) if id == here => {
            let next = State::Active(owned(run, here, client));
            Step::take("return", next, OnContext::Pass)
        }
        (LoopOwner::Session { client: last, .. }, StartSource::Clear)
            if last.is_some() && *last == client =>
        {
            let next = State::Active(owned(run, here, client));
            Step::take("follow", next, OnContext::Pass)
        }
        (LoopOwner::Session { .. }, _) => Step::ignore(state, OnContext::Pass),
        (LoopOwner::Nobody, _) => {
            let run = owned(run, here, client);
            let mut tell = welcome(&run);
            if let Some(prompt) = &input.facts.prompt {
                tell.push_str("\n\n");
                tell.push_str(prompt);
            }
            Step::take("take", State::Active(run), OnContext::Tell(tell))
        }
    }
}

/// A session that is cleared goes on under a new id in the same client, so its client is
/// remembered.
pub(super) fn on_end(state: &State, input: &Input<'_, Loop>) -> Step<Loop, Nothing> {
    let cleared = Kind::SessionEnd {
        reason: EndReason::Clear,
    };
    match (run(state), &input.event.session) {
        (Some(run), Some(here)) if run.owner.is(here) && input.event.kind == cleared => {
            let next = State::Active(owned(run, here, input.facts.client));
            Step::take("leave", next, Nothing)
        }
        _ => Step::ignore(state, Nothing),
    }
}

fn owned(run: &Run, by: &SessionId, client: Option<Client>) -> Run {
    let owner = LoopOwner::Session {
        id: by.clone(),
        client,
    };
    Run {
        owner,
        ..run.clone()
    }
}

/// The run, if it may get another owner. A signal that was given but has not ended a frame yet is
/// lost when the session ends or starts.
fn run(state: &State) -> Option<&Run> {
    match state {
        State::Active(run) | State::Completing { run, .. } => Some(run),
        State::Idle(_) | State::Stuck { .. } | State::Aborted { .. } | State::Corrupt(_) => None,
    }
}
