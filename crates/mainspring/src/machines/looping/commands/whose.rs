//! Whose loop it is, and which session could take one that is nobody's.

use mainspring_kernel::SessionId;
use mainspring_kernel::authority::Grounds;
use mainspring_kernel::machines::looping::verbs::Refused;
use mainspring_kernel::machines::looping::{Client, LoopOwner, Run, State};

use super::how_to_end;
use crate::command::{CommandContext, Result};
use crate::context::EventContext;
use crate::env::Environment;
use crate::machines::looping::loop_store::StoredLoop;
use crate::machines::looping::running;
use crate::people::sessions::{self, Attendance};
use crate::people::which_session::{self, Named};
use crate::store::ProjectStore;

/// The only one of these loops.
pub(super) fn only(mut loops: Vec<StoredLoop>) -> Result<StoredLoop> {
    match loops.len() {
        0 => Err(Refused::NoLoop.into()),
        1 => Ok(loops.remove(0)),
        _ => {
            let ids = loops.iter().filter_map(|kept| owner(&kept.state).cloned());
            Err(Refused::Several(ids.collect()).into())
        }
    }
}

/// The session that a loop belongs to.
pub(super) fn owner(state: &State) -> Option<&SessionId> {
    match state {
        State::Aborted { owner, .. } => owner.session(),
        state => running(state)?.owner.session(),
    }
}

pub(super) fn is_of(state: &State, session: &SessionId) -> bool {
    owner(state) == Some(session)
}

/// Whose loop it is. One that cannot be read holds nobody.
pub(super) fn grounds(state: &State) -> Grounds<'_> {
    let owner = running(state).and_then(|run| run.owner.session());
    owner.map_or(Grounds::Nobodys, Grounds::BegunBy)
}

/// The live sessions that a loop without an owner is for: those that somebody attends, the one with
/// the latest event first.
pub(super) fn attended(env: &Environment, store: &ProjectStore) -> Vec<SessionId> {
    let here = which_session::here(env, store).into_iter();
    here.filter(|(one, _)| one.attendance == Attendance::Attended)
        .map(|(one, _)| one.id)
        .collect()
}

/// The session that a person means who names none.
pub(super) fn only_session(cmd: &CommandContext) -> Result<Named> {
    let (_, store) = cmd.project()?;
    match attended(&cmd.env, &store).as_slice() {
        [] => Err(Refused::NoSession.into()),
        [one] => Ok(Named::live(&cmd.env, one.clone())),
        several => Err(Refused::SeveralSessions(several.to_vec()).into()),
    }
}

/// The client of a live session: after `/clear`, the loop goes on there.
pub(super) fn client_of(context: &EventContext<'_>, session: &SessionId) -> Option<Client> {
    let found = sessions::find(context.store.state(), session)?;
    Some(Client(found.client?.pid))
}

/// What a loop that was started does from now on.
pub(super) fn started(context: &EventContext<'_>, state: &State) -> String {
    let Some(run) = running(state) else {
        return String::new();
    };
    let what = match &run.owner {
        LoopOwner::Session { id, .. } => keeps(&format!("session {id}"), run),
        LoopOwner::Next => keeps("the next session that starts here", run),
        LoopOwner::Nobody => match attended(context.env, &context.store).as_slice() {
            [] => keeps("the next session that you attend here", run),
            // Only a push: a start gives it to this one.
            [_] => keeps("the only session that you attend here", run),
            several => format!(
                "the loop may run for {}, but {} sessions are live here, so it holds none of them \
                 yet: `mainspring loop adopt --session last` gives it to the one with the latest \
                 event, or name one: {}",
                up_to(run),
                several.len(),
                named(several),
            ),
        },
    };
    format!("{what}. {}", how_to_end(run.top.mode))
}

fn keeps(whose: &str, run: &Run) -> String {
    format!("the loop keeps {whose} going for {}", up_to(run))
}

fn up_to(run: &Run) -> String {
    match run.top.max {
        1 => "one iteration".into(),
        max => format!("up to {max} iterations"),
    }
}

fn named(sessions: &[SessionId]) -> String {
    let first = sessions.iter().take(5);
    let named: Vec<String> = first.map(|id| format!("`--session {id}`")).collect();
    named.join(" or ")
}
