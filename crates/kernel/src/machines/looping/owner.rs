//! Who owns a loop. A loop never holds another session's stop.

use super::{
    Client, Ending, Facts, Loop, LoopOwner, OtherSessions, OwnerLife, Past, Run, State, messages,
};
use crate::event::{EndReason, Kind, StartSource};
use crate::ids::SessionId;
use crate::machine::{Input, Nothing, OnContext, Step};

/// How the session that stops is related to the loop.
pub(super) enum Ownership {
    Ours(Run),
    /// The loop had no owner; now it is this session's.
    Taken(Run),
    /// Another session's, or not for this one.
    Others,
    /// The loop has no owner, and several sessions could become it.
    Unclear,
}

/// Without a name of its own, a session gets here only where a loop needs no owner.
pub(super) fn ownership(run: &Run, here: Option<&SessionId>, facts: &Facts) -> Ownership {
    let Some(here) = here else {
        return Ownership::Ours(run.clone());
    };
    match (&run.owner, facts.company) {
        (LoopOwner::Session { id, client }, _) if id == here => {
            Ownership::Ours(owned(run, here, facts.client.or(*client)))
        }
        (LoopOwner::Nobody | LoopOwner::Next, company)
            if facts.rules.for_anybody && company != OtherSessions::Helper =>
        {
            Ownership::Ours(owned(run, here, facts.client))
        }
        (LoopOwner::Nobody, OtherSessions::Alone) => {
            Ownership::Taken(owned(run, here, facts.client))
        }
        (LoopOwner::Nobody, OtherSessions::Several) => Ownership::Unclear,
        (LoopOwner::Nobody, OtherSessions::Headless | OtherSessions::Helper)
        | (LoopOwner::Session { .. } | LoopOwner::Next, _) => Ownership::Others,
    }
}

/// The loop, if it is stale and this event ends it. The person must read that, so where nobody
/// would, it only holds nobody. Another session's is left to it as long as it can come back. One
/// that waits for its person does so until they prompt.
pub(super) fn over<'a>(state: &'a State, input: &Input<'_, Loop>) -> Option<&'a Run> {
    let (run, facts) = (run(state)?, input.facts);
    if !run.is_stale(input.now, facts.ttl) {
        return None;
    }
    let here = input.event.session.as_ref();
    let prompted = matches!(
        input.event.kind,
        Kind::Prompt { .. } | Kind::Expansion { .. }
    );
    let ends = match (run.owner.session(), here) {
        (_, None) => facts.rules.for_anybody,
        (Some(id), Some(here)) if id == here => !(prompted && facts.waits),
        (Some(_), Some(_)) => {
            let gone = facts.owner == OwnerLife::Gone && facts.company.is_attended();
            gone || was_cleared(run, input)
        }
        (None, Some(_)) => facts.rules.for_anybody || facts.company.is_attended(),
    };
    ends.then_some(run)
}

pub(super) fn end<V>(run: &Run, input: &Input<'_, Loop>, pass: V) -> Step<Loop, V> {
    let over = State::Idle(Past::Done(Ending::Stuck));
    let note = messages::stale(run, input.event.session.as_ref(), input.now);
    Step::take("stale", over, pass).note(note)
}

/// Did the owner go on in this client under the session's new id?
fn was_cleared(run: &Run, input: &Input<'_, Loop>) -> bool {
    let source = StartSource::Clear;
    match &run.owner {
        LoopOwner::Session { client: last, .. } => {
            let here = last.is_some() && *last == input.facts.client;
            here && input.event.kind == Kind::SessionStart { source }
        }
        LoopOwner::Nobody | LoopOwner::Next => false,
    }
}

/// The person asks for something new: a signal from before no longer counts, and the loop's time
/// begins again.
pub(super) fn on_persons_word(
    taken_back: &'static str,
    state: &State,
    input: &Input<'_, Loop>,
) -> Step<Loop, OnContext> {
    if let Some(run) = over(state, input) {
        return end(run, input, OnContext::Pass);
    }
    match (run(state), &input.event.session) {
        (Some(run), Some(here)) if run.owner.is(here) => {
            let rule = match state {
                State::Completing { .. } => taken_back,
                _ => "renewed",
            };
            let run = Run {
                updated: input.now,
                ..run.clone()
            };
            Step::take(rule, State::Active(run), OnContext::Pass)
        }
        _ => Step::ignore(state, OnContext::Pass),
    }
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
    if let Some(run) = over(state, input) {
        return end(run, input, OnContext::Pass);
    }
    let client = input.facts.client;
    let prompt = input.facts.prompt.as_deref();
    let moved = |rule, by: Option<Client>| {
        let run = Run {
            updated: input.now,
            adopted: false,
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
        (LoopOwner::Session { .. }, _) if was_cleared(run, input) => moved("follow", client),
        (LoopOwner::Nobody | LoopOwner::Next, _) if takes(run, input) => {
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
        _ => Step::ignore(state, OnContext::Pass),
    }
}

/// May this session, which starts, have the loop that is nobody's?
fn takes(run: &Run, input: &Input<'_, Loop>) -> bool {
    let company = input.facts.company;
    let may = match run.owner {
        LoopOwner::Nobody => company.is_attended(),
        LoopOwner::Next => company != OtherSessions::Helper,
        LoopOwner::Session { .. } => false,
    };
    may && !run.is_stale(input.now, input.facts.ttl)
}

/// A session that is cleared goes on under a new id in the same client, so its client is
/// remembered. Of a loop that a command ended, nobody is left to be told.
pub(super) fn on_end(state: &State, input: &Input<'_, Loop>) -> Step<Loop, Nothing> {
    let cleared = Kind::SessionEnd {
        reason: EndReason::Clear,
    };
    match (run(state), &input.event.session) {
        (Some(run), Some(here)) if run.owner.is(here) && input.event.kind == cleared => {
            let next = State::Active(owned(run, here, input.facts.client));
            Step::take("leave", next, Nothing)
        }
        (None, Some(here)) if matches!(state, State::Aborted { owner, .. } if owner.is(here)) => {
            Step::take("forget", State::Idle(Past::Aborted), Nothing)
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
        State::Idle(_) | State::Stuck(_) | State::Aborted { .. } | State::Corrupt(_) => None,
    }
}
