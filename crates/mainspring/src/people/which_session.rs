//! Which session a command means.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use mainspring_kernel::{Millis, SessionId, ids};

use crate::command::{CommandContext, Result};
use crate::env::Environment;
use crate::error::CliError;
use crate::people::sessions::{self, Attendance, Life, Session};
use crate::project::{self, Project};
use crate::show::journal_cursor::Shown;
use crate::show::records;
use crate::store::{ProjectStore, StateDir};

/// The placeholder for a session in the help of a command.
pub(crate) const VALUE: &str = "last|PREFIX|ID";

/// A session that a command means, and whether it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) id: SessionId,
    life: Life,
    now: Millis,
}

impl Named {
    /// A session that is known to be live.
    pub(crate) fn live(env: &Environment, id: SessionId) -> Self {
        Self {
            id,
            life: Life::Live,
            now: env.now(),
        }
    }
}

/// The session, and that it is not live, if it is not.
impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "session {}", self.id)?;
        match self.life {
            Life::Live => Ok(()),
            Life::Ended(at) => write!(f, " (not live: it ended {})", ago(self.now, at)),
            Life::Gone => f.write_str(" (not live: its client is gone)"),
            Life::Unknown => f.write_str(" (not live)"),
        }
    }
}

/// The session that was named: by its id, by the beginning of its id, or as `last`. If none was
/// named: the agent's own, if an agent runs the command.
pub(crate) fn wanted(cmd: &CommandContext, named: Option<&str>) -> Result<Option<Named>> {
    match named {
        None => {
            let own = cmd.env.agent_session();
            Ok(own.map(|id| Named::live(&cmd.env, id)))
        }
        Some("last") => last(cmd).map(Some),
        Some(id) => by_id(cmd, id).map(Some),
    }
}

/// A session by its id, or by the beginning of its id.
pub(crate) fn by_id(cmd: &CommandContext, text: &str) -> Result<Named> {
    let id = SessionId::parse(text).ok_or_else(|| none(text))?;
    let state = cmd.state()?;
    let named = |id: SessionId| Named {
        life: sessions::life(&cmd.env, &state, &id),
        now: cmd.env.now(),
        id,
    };
    let known = known(cmd, &state);
    if known.contains(&id) {
        return Ok(named(id));
    }
    let begins = known
        .into_iter()
        .filter(|known| known.as_str().starts_with(text));
    let (live, others): (Vec<Named>, Vec<Named>) =
        begins.map(named).partition(|named| named.life.is_live());
    // A live session is meant rather than one that ended.
    let meant = if live.is_empty() { others } else { live };
    match meant.as_slice() {
        [one] => Ok(one.clone()),
        // It may be about to start under this id.
        [] if ids::is_whole(text) => Ok(named(id)),
        [] => Err(none(text)),
        several => {
            let error = CliError::usage(format!("{text:?} can mean {} sessions", several.len()));
            let hints = several
                .iter()
                .take(5)
                .map(|named| format!("`--session {}`", named.id));
            Err(hints.fold(error, CliError::hint))
        }
    }
}

/// The session that a text means, if we know one; else the text is an id. For a look at what may
/// have happened on another computer.
pub(crate) fn of_text(cmd: &CommandContext, text: &str) -> Result<SessionId> {
    if text == "last" {
        return last(cmd).map(|named| named.id);
    }
    let known = by_id(cmd, text).map(|named| named.id);
    known.or_else(|error| SessionId::parse(text).ok_or(error))
}

fn none(text: &str) -> CliError {
    CliError::not_found(format!("no session's id is or begins with {text:?}"))
        .hint("`mainspring sessions` shows the sessions that are live")
}

/// Every session that we know of: from its events, or from this project's journal.
fn known(cmd: &CommandContext, state: &StateDir) -> Vec<SessionId> {
    let mut known = sessions::known(state);
    if let Ok((_, store)) = cmd.project() {
        known.extend(last_events(&store).into_keys());
    }
    known.sort_unstable();
    known.dedup();
    known
}

/// The live session in this project that had an event most recently.
fn last(cmd: &CommandContext) -> Result<Named> {
    let (_, store) = cmd.project()?;
    let here = here(&cmd.env, &store);
    if let Some((session, _)) = here.into_iter().next() {
        return Ok(Named::live(&cmd.env, session.id));
    }
    let error = CliError::not_found("no session is live in this project");
    let error = match in_journal(&store) {
        Some((id, at)) => error.hint(format!(
            "the last one here was {id}, {}: name it to mean it, with `--session {id}`",
            ago(cmd.env.now(), at)
        )),
        None => error.hint("start the agent here first"),
    };
    Err(error.hint("`mainspring sessions` shows the sessions that are live elsewhere"))
}

/// The live sessions of a project that people mean, with the time of their latest event, the most
/// recent first.
pub(crate) fn here(env: &Environment, store: &ProjectStore) -> Vec<(Session, Millis)> {
    let events = last_events(store);
    let live = sessions::live_in(env, store.state(), store.root()).into_iter();
    let mut here: Vec<(Session, Millis)> = live
        .filter(|session| session.attendance != Attendance::Helper)
        .map(|session| {
            let recorded = events.get(&session.id).copied().unwrap_or_default();
            let at = session.at.max(recorded);
            (session, at)
        })
        .collect();
    here.sort_by_key(|(session, at)| (std::cmp::Reverse(*at), session.id.clone()));
    here
}

/// The session that a view of this project is about, and when its latest event was: the live one,
/// else the last one in the journal.
pub(crate) fn latest(env: &Environment, store: &ProjectStore) -> Option<(SessionId, Millis)> {
    let live = here(env, store).into_iter().next();
    live.map(|(session, at)| (session.id, at))
        .or_else(|| in_journal(store))
}

/// The last session in the journal.
fn in_journal(store: &ProjectStore) -> Option<(SessionId, Millis)> {
    let seen = records::all(store.dir()).ok()?;
    seen.iter().rev().find_map(|seen| match seen {
        Shown::Record(record) => Some((record.session()?.clone(), record.at)),
        Shown::Problem(_) => None,
    })
}

/// When each session's latest event in the journal was.
pub(crate) fn last_events(store: &ProjectStore) -> BTreeMap<SessionId, Millis> {
    let seen = records::all(store.dir()).unwrap_or_default();
    let mut last = BTreeMap::new();
    for seen in &seen {
        if let Shown::Record(record) = seen
            && let Some(session) = record.session()
        {
            last.insert(session.clone(), record.at);
        }
    }
    last
}

/// The project of a session, wherever the command was typed; if the session's is not known, the
/// project of the command.
pub(crate) fn project_of(
    cmd: &CommandContext,
    session: &SessionId,
) -> Result<(Project, ProjectStore)> {
    let state = cmd.state()?;
    let found = sessions::find(&state, session).map(|session| session.folder);
    let folder = found.filter(|folder| folder.is_dir());
    let folder: PathBuf = folder.unwrap_or_else(|| cmd.cwd.clone());
    let project = project::of_session(&cmd.env, &state, session, &folder)?;
    let store = ProjectStore::new(state, &project.root);
    Ok((project, store))
}

/// How long ago something was, for people.
pub(crate) fn ago(now: Millis, at: Millis) -> String {
    let seconds = now.since(at).0 / 1_000;
    match seconds {
        0..60 => format!("{seconds} s ago"),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..86_400 => format!("{} h ago", seconds / 3_600),
        86_400..172_800 => "yesterday".into(),
        _ => format!("{} days ago", seconds / 86_400),
    }
}
