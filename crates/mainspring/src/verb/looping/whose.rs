//! Whose loop it is, and which session could take one that is nobody's.

use mainspring_kernel::SessionId;
use mainspring_kernel::authority::Grounds;
use mainspring_kernel::machines::looping::verbs::Refused;
use mainspring_kernel::machines::looping::{LoopOwner, Run, State};

use super::how_to_end;
use crate::env::Environment;
use crate::event_context::EventContext;
use crate::machine::looping::loop_store::StoredLoop;
use crate::machine::looping::running;
use crate::sessions::Attendance;
use crate::store::ProjectStore;
use crate::verb::session::{self, Named};
use crate::verb::{CommandContext, Result};

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
    let owner = match state {
        State::Aborted { owner, .. } => owner,
        state => &running(state)?.owner,
    };
    match owner {
        LoopOwner::Session { id, .. } => Some(id),
        LoopOwner::Nobody => None,
    }
}

pub(super) fn is_of(state: &State, session: &SessionId) -> bool {
    owner(state) == Some(session)
}

/// Whose loop it is. One that cannot be read holds nobody.
pub(super) fn grounds(state: &State) -> Grounds<'_> {
    match running(state).map(|run| &run.owner) {
        Some(LoopOwner::Session { id, .. }) => Grounds::BegunBy(id),
        Some(LoopOwner::Nobody) | None => Grounds::Nobodys,
    }
}

/// The live sessions that a loop without an owner could hold, the one with the latest event first.
/// A headless one does not count beside one that somebody attends.
fn candidates(env: &Environment, store: &ProjectStore) -> Vec<SessionId> {
    let here = session::here(env, store);
    let is_attended = |attendance: Attendance| attendance == Attendance::Attended;
    let any_attended = here.iter().any(|(one, _)| is_attended(one.attendance));
    here.into_iter()
        .filter(|(one, _)| !any_attended || is_attended(one.attendance))
        .map(|(one, _)| one.id)
        .collect()
}

/// The session that a person means who names none.
pub(super) fn only_session(cmd: &CommandContext) -> Result<Named> {
    let (_, store) = cmd.project()?;
    match candidates(&cmd.env, &store).as_slice() {
        [] => Err(Refused::NoSession.into()),
        [one] => Ok(Named::live(&cmd.env, one.clone())),
        several => Err(Refused::SeveralSessions(several.to_vec()).into()),
    }
}

/// What a loop that was started does from now on.
pub(super) fn started(context: &EventContext<'_>, state: &State) -> String {
    let Some(run) = running(state) else {
        return String::new();
    };
    let what = match &run.owner {
        LoopOwner::Session { id, .. } => keeps(&format!("session {id}"), run),
        LoopOwner::Nobody => match candidates(context.env, context.store).as_slice() {
            [] | [_] => keeps(
                "the only session here, or else the next one that starts,",
                run,
            ),
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
