//! Who owns a loop. A loop never holds another session's stop.

use alloc::format;

use super::{
    Client, Door, Ending, Facts, Loop, LoopOwner, OtherSessions, OwnerLife, Past, Run, State,
    messages,
};
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

/// Is this the loop of a session that is gone, and did it not move for too long? Then nobody waits
/// for it.
pub(super) fn is_left(run: &Run, input: &Input<'_, Loop>) -> bool {
    let another = match (&run.owner, &input.event.session) {
        (LoopOwner::Session { id, .. }, Some(here)) => id != here,
        _ => false,
    };
    let stale = input.now.since(run.updated) > input.facts.ttl;
    another && stale && input.facts.owner == OwnerLife::Gone
}

pub(super) fn retire<V>(run: &Run, input: &Input<'_, Loop>, pass: V) -> Step<Loop, V> {
    let whose = match &run.owner {
        LoopOwner::Session { id, .. } => id.as_str(),
        LoopOwner::Nobody => "nobody",
    };
    let note = format!(
        "the loop of session {whose} was ended: the session is gone, and the loop did not move for \
         {} minutes (iteration {} of {})",
        input.now.since(run.updated).0 / 60_000,
        run.top.iter,
        run.top.max
    );
    let over = State::Idle(Past::Done(Ending::Stuck));
    Step::take("retired", over, pass).note(note)
}

/// A session starts. It may be the owner under a new id, or the first session that an ownerless
/// loop meets. A fork is neither. After a compaction the owner has forgotten its loop.
pub(super) fn on_start(state: &State, input: &Input<'_, Loop>) -> Step<Loop, OnContext> {
    let (Some(run), Some(here)) = (run(state), &input.event.session) else {
        return Step::ignore(state, OnContext::Pass);
    };
    let Kind::SessionStart { source } = input.event.kind else {
        return Step::ignore(state, OnContext::Pass);
    };
    if is_left(run, input) {
        return retire(run, input, OnContext::Pass);
    }
    let client = input.facts.client;
    let prompt = input.facts.prompt.as_deref();
    let moved = |rule, by: Option<Client>| {
        let run = Run {
            updated: input.now,
            ..owned(run, here, by)
        };
        let note = messages::goes_on(&run);
        let tell = OnContext::Tell(messages::reminder(&run, prompt));
        Step::take(rule, State::Active(run), tell).note(note)
    };
    match (&run.owner, source) {
        (LoopOwner::Session { id, .. }, StartSource::Compact) if id == here => {
            let tell = OnContext::Tell(messages::reminder(run, prompt));
            Step::take("remind", state.clone(), tell).note(messages::goes_on(run))
        }
        (_, StartSource::Compact | StartSource::Fork) => Step::ignore(state, OnContext::Pass),
        (LoopOwner::Session { id, .. }, _) if id == here => moved("return", client),
        (LoopOwner::Session { client: last, .. }, StartSource::Clear)
            if last.is_some() && *last == client =>
        {
            moved("follow", client)
        }
        (LoopOwner::Session { .. }, _) => Step::ignore(state, OnContext::Pass),
        (LoopOwner::Nobody, _) => {
            let run = Run {
                updated: input.now,
                ..owned(run, here, client)
            };
            let mut tell = messages::given(&run);
            if let Some(prompt) = prompt {
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
