//! Which session a command means.

use mainspring_kernel::{Millis, SessionId};

use super::{CommandContext, Result, records};
use crate::error::CliError;
use crate::store::ProjectStore;

/// The session that was named, by its id or as `last`. If none was named: the agent's own, if
/// an agent runs the command.
pub(crate) fn wanted(
    cmd: &CommandContext,
    store: &ProjectStore,
    named: Option<&str>,
) -> Result<Option<SessionId>> {
    match named {
        None => Ok(cmd.env.agent_session()),
        Some("last") => last(store).map(Some),
        Some(id) => parse(id).map(Some),
    }
}

/// A session's id, as a person types it.
pub(super) fn parse(id: &str) -> Result<SessionId> {
    SessionId::parse(id).ok_or_else(|| {
        CliError::new(format!("{id:?} is not a session's id"))
            .hint("`mainspring status` shows the id of the most recent session")
    })
}

/// The most recent session in this project.
fn last(store: &ProjectStore) -> Result<SessionId> {
    latest(store).map(|(session, _)| session).ok_or_else(|| {
        CliError::new("no session has sent an event from this project yet")
            .hint("start the agent here first, or name a session: `--session ID`")
    })
}

/// The most recent session, and when its latest event was.
pub(crate) fn latest(store: &ProjectStore) -> Option<(SessionId, Millis)> {
    let seen = records::all(store.dir()).ok()?;
    seen.iter().rev().find_map(|seen| match seen {
        records::Shown::Record(record) => Some((record.session()?.clone(), record.at)),
        records::Shown::Problem(_) => None,
    })
}
