//! Which session a command means.

use mainspring_kernel::{Millis, SessionId};

use super::{CommandContext, Result, records};
use crate::error::CliError;
use crate::store::ProjectStore;

/// The session that is named, by its id or as `last`; else the agent's own, if an agent
/// runs the command.
pub(crate) fn wanted(
    cmd: &CommandContext,
    store: &ProjectStore,
    named: Option<&str>,
) -> Result<Option<SessionId>> {
    match named {
        None => Ok(cmd.env.agent_session()),
        Some("last") => last(store).map(Some),
        Some(id) => SessionId::parse(id).map(Some).ok_or_else(|| {
            CliError::new(format!("{id:?} cannot be a session"))
                .hint("`last` is the one heard of last; `mainspring log` names them")
        }),
    }
}

/// The session that was last heard of in this project.
fn last(store: &ProjectStore) -> Result<SessionId> {
    latest(store).map(|(session, _)| session).ok_or_else(|| {
        CliError::new("no session has been heard of in this project yet")
            .hint("start the agent here first, or give its id: `--session ID`")
    })
}

/// It, and when that was.
pub(crate) fn latest(store: &ProjectStore) -> Option<(SessionId, Millis)> {
    let seen = records::all(store.dir()).ok()?;
    seen.iter().rev().find_map(|seen| match seen {
        records::Shown::Record(record) => Some((record.session()?.clone(), record.at)),
        records::Shown::Problem(_) => None,
    })
}
