//! Which sessions are live, on this computer and in a project.
//!
//! A session's start writes one small file: the session, its host, its client's process and its
//! folder. So does the first event of a session that we do not know, for example because
//! Mainspring was installed in the meantime. The session's end moves the file away. Other events
//! only look whether the file is there. It is not synced: if a power loss takes it, the client is
//! gone, too.
//!
//! A session is live while its client's process is. If the host does not tell its process, or
//! runs its hooks in a daemon, the session is live for [`AT_WORK`] after an event; then an event
//! renews the file if it is older than a minute.

mod record;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use mainspring_kernel::event::{Kind, Speaker};
use mainspring_kernel::{Millis, SessionId};
use mainspring_store::{Trouble, file_name};

pub(crate) use self::record::{Attendance, Session};
use crate::env::Environment;
use crate::hosts::{self, HostSpec, Payload, Subagents};
use crate::project;
use crate::store::StateDir;

/// Without a process to look at, a session is live for this long after an event.
const AT_WORK: Millis = Millis::seconds(15 * 60);
/// How old a file without a process may become before an event renews it.
const RENEWED: Millis = Millis::seconds(60);
/// The limit on files to read. More are never there, because old ones are deleted.
const MOST: usize = 10_000;

/// Whether a session is there. Only a live one can answer for what is its own; what is kept for a
/// session is taken from it only once it is known to be gone, because one that nobody knows may be
/// about to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    Live,
    /// It ended at this time.
    Ended(Millis),
    /// Its client is gone, and never said that the session ended.
    Gone,
    /// No event of it was seen, or that was long ago.
    Unknown,
}

impl Life {
    pub(crate) fn is_live(self) -> bool {
        self == Self::Live
    }

    /// Did it end, or its client?
    pub(crate) const fn is_gone(self) -> bool {
        matches!(self, Self::Ended(_) | Self::Gone)
    }
}

/// Takes note of a session's event. Nothing depends on success: what fails here is tried again at
/// the session's next event.
pub(crate) fn note(env: &Environment, payload: &Payload) {
    let (Some(state), Some(id)) = (StateDir::of(env), payload.event.session.as_ref()) else {
        return;
    };
    // Such a session is its agent's, and ends with it.
    let in_own_session = payload.host.reading.subagents == Subagents::InOwnSession;
    if in_own_session && payload.event.speaker == Speaker::Subagent {
        return;
    }
    let folder = payload.host.project_dir(env);
    let folder = folder.or_else(|| payload.cwd.clone());
    let _ = match &payload.event.kind {
        Kind::Other { .. } | Kind::Watch => Ok(()),
        Kind::SessionEnd { .. } => end(env, &state, id, payload.host),
        Kind::SessionStart { .. } => begin(env, &state, id, payload.host, folder),
        _ => renew(env, &state, id, payload.host, folder),
    };
}

/// Takes note of a session whose agent runs a command.
pub(crate) fn note_command(env: &Environment, id: &SessionId, cwd: &Path) {
    if let Some(state) = StateDir::of(env) {
        let folder = hosts::project_dir(env).unwrap_or_else(|| cwd.into());
        let _ = renew(env, &state, id, hosts::of_environment(env), Some(folder));
    }
}

/// Writes the file, unless there is one that is good enough.
fn renew(
    env: &Environment,
    state: &StateDir,
    id: &SessionId,
    host: &HostSpec,
    folder: Option<PathBuf>,
) -> Result<(), Trouble> {
    let age = match fs::symlink_metadata(path_in(&state.live(), id)) {
        Ok(meta) => meta.modified().ok().map(|at| env.now().since(millis(at))),
        Err(_) => return begin(env, state, id, host, folder),
    };
    let by_events = host.client(env).is_none();
    if by_events && age.is_some_and(|age| age > RENEWED) {
        return begin(env, state, id, host, folder);
    }
    Ok(())
}

fn begin(
    env: &Environment,
    state: &StateDir,
    id: &SessionId,
    host: &HostSpec,
    folder: Option<PathBuf>,
) -> Result<(), Trouble> {
    let session = Session {
        id: id.clone(),
        host: host.agent.name.into(),
        client: host.client(env).and_then(record::Client::of),
        attendance: attendance(env, host.is_attended(env)),
        folder: folder.unwrap_or_default(),
        at: env.now(),
    };
    state.create(&state.live())?;
    session.write(&path_in(&state.live(), id))?;
    // It may have been resumed.
    let _ = fs::remove_file(path_in(&state.ended(), id));
    Ok(())
}

/// Another client that has resumed the session in the meantime goes on with it.
fn end(
    env: &Environment,
    state: &StateDir,
    id: &SessionId,
    host: &HostSpec,
) -> Result<(), Trouble> {
    let path = path_in(&state.live(), id);
    let Some(session) = Session::read(&path)? else {
        return Ok(());
    };
    let this = host.client(env);
    let client = session.client.as_ref().map(|client| client.pid);
    if session
        .client
        .as_ref()
        .is_some_and(record::Client::is_alive)
        && client != this
    {
        return Ok(());
    }
    state.create(&state.ended())?;
    let ended = Session {
        at: env.now(),
        ..session
    };
    ended.write(&path_in(&state.ended(), id))?;
    fs::remove_file(&path).map_err(Trouble::io("delete", &path))
}

/// Who attends the session whose client runs this process.
pub(crate) fn attendance(env: &Environment, is_attended: bool) -> Attendance {
    if env.is_nested() {
        Attendance::Helper
    } else if is_attended {
        Attendance::Attended
    } else {
        Attendance::Headless
    }
}

/// All live sessions, the one that was seen last first.
pub(crate) fn live(env: &Environment, state: &StateDir) -> Vec<Session> {
    let mut live: Vec<Session> = all_in(&state.live())
        .into_iter()
        .filter(|session| is_live(env.now(), session))
        .collect();
    live.sort_by_key(|session| (std::cmp::Reverse(session.at), session.id.clone()));
    // A client has one session at a time. If the end of an earlier one was missed, the later
    // file tells.
    let mut clients = HashSet::new();
    live.retain(|session| match &session.client {
        Some(client) => clients.insert(client.clone()),
        None => true,
    });
    live
}

/// The live sessions of a project.
pub(crate) fn live_in(env: &Environment, state: &StateDir, root: &Path) -> Vec<Session> {
    let here = |session: &Session| {
        project_of(env, state, session).is_some_and(|project| project.root == root)
    };
    live(env, state).into_iter().filter(here).collect()
}

/// Is one of the project's live sessions a rival of this one for state without an owner? A helper,
/// which an agent started, is none; nor is a headless session beside an attended one.
pub(crate) fn has_rivals(
    env: &Environment,
    here: &[Session],
    me: &SessionId,
    is_attended: bool,
) -> bool {
    let own = here.iter().find(|session| session.id == *me);
    let mine = own.map_or_else(
        || attendance(env, is_attended),
        |session| session.attendance,
    );
    let rivals = |session: &Session| match session.attendance {
        Attendance::Attended => true,
        Attendance::Headless => mine != Attendance::Attended,
        Attendance::Helper => false,
    };
    let mut here = here.iter();
    here.any(|session| session.id != *me && rivals(session))
}

/// Is this session there? For whoever asks whether the owner of something can come back.
pub(crate) fn life(env: &Environment, state: &StateDir, id: &SessionId) -> Life {
    match Session::read(&path_in(&state.live(), id)) {
        Ok(Some(session)) if is_live(env.now(), &session) => return Life::Live,
        Ok(Some(_)) => return Life::Gone,
        Ok(None) | Err(_) => {}
    }
    match Session::read(&path_in(&state.ended(), id)) {
        Ok(Some(session)) => Life::Ended(session.at),
        Ok(None) | Err(_) => Life::Unknown,
    }
}

/// Every session that is known, live or not: what a beginning of an id may stand for.
pub(crate) fn known(state: &StateDir) -> Vec<SessionId> {
    let mut known: Vec<SessionId> = [state.live(), state.ended()]
        .iter()
        .flat_map(|folder| all_in(folder))
        .map(|session| session.id)
        .collect();
    // A bound session's file is named after it, unless its id is odd.
    known.extend(names(&state.bindings()).filter_map(|name| {
        let plain = !name.starts_with('#') && !name.contains(".aside-");
        SessionId::parse(&name).filter(|_| plain)
    }));
    known.sort_unstable();
    known.dedup();
    known
}

/// The session's project: the one that it is bound to, else the one of its folder.
pub(crate) fn project_of(
    env: &Environment,
    state: &StateDir,
    session: &Session,
) -> Option<project::Project> {
    project::of_session(env, state, &session.id, &session.folder).ok()
}

/// What is known about a session.
pub(crate) fn find(state: &StateDir, id: &SessionId) -> Option<Session> {
    let folders = [state.live(), state.ended()];
    let found = |folder: &PathBuf| Session::read(&path_in(folder, id)).ok().flatten();
    folders.iter().find_map(found)
}

/// Is the client of the session that this file is about still there? For the sweep, which goes by
/// files that are a day old: without a process, such a session is not live.
pub(crate) fn has_client(path: &Path) -> bool {
    let session = Session::read(path).ok().flatten();
    let client = session.and_then(|session| session.client);
    client.is_some_and(|client| client.is_alive())
}

fn is_live(now: Millis, session: &Session) -> bool {
    match &session.client {
        Some(client) => client.is_alive(),
        None => now.since(session.at) <= AT_WORK,
    }
}

fn all_in(folder: &Path) -> Vec<Session> {
    names(folder)
        .filter_map(|name| Session::read(&folder.join(name)).ok().flatten())
        .collect()
}

/// The names of the files in a folder, but those of temp files.
fn names(folder: &Path) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .take(MOST)
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
}

fn path_in(folder: &Path, id: &SessionId) -> PathBuf {
    folder.join(file_name(id.as_str()).as_ref())
}

fn millis(at: std::time::SystemTime) -> Millis {
    let age = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis(u64::try_from(age.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::name;

    struct Disk {
        temp: tempfile::TempDir,
    }

    impl Disk {
        fn env(&self, now: Millis) -> Environment {
            Environment::given(&[(name::HOME, self.temp.path().to_str().unwrap())], now)
        }

        fn begin(&self, id: &str, client: Option<record::Client>, at: Millis) {
            let state = StateDir::of(&self.env(at)).unwrap();
            state.create(&state.live()).unwrap();
            let session = Session {
                id: SessionId::parse(id).unwrap(),
                host: "a host".into(),
                client,
                attendance: Attendance::Attended,
                folder: self.temp.path().into(),
                at,
            };
            session.write(&path_in(&state.live(), &session.id)).unwrap();
        }

        fn live(&self, now: Millis) -> Vec<String> {
            let env = self.env(now);
            let live = live(&env, &StateDir::of(&env).unwrap());
            live.into_iter()
                .map(|session| session.id.to_string())
                .collect()
        }
    }

    fn disk() -> Disk {
        Disk {
            temp: tempfile::tempdir().unwrap(),
        }
    }

    #[test]
    fn without_a_process_to_look_at_a_session_is_live_for_fifteen_minutes_after_an_event() {
        let disk = disk();
        disk.begin("s", None, Millis(0));
        assert_eq!(disk.live(AT_WORK), ["s"]);
        assert!(disk.live(AT_WORK.plus(Millis(1))).is_empty());
    }

    #[test]
    fn with_a_process_a_session_is_live_however_long_it_rests() {
        let disk = disk();
        let me = record::Client::of(std::process::id());
        disk.begin("s", me, Millis(0));
        assert_eq!(disk.live(Millis::seconds(7 * 24 * 60 * 60)), ["s"]);
    }

    #[test]
    fn a_client_has_one_session_even_if_the_end_of_an_earlier_one_was_missed() {
        let disk = disk();
        let me = record::Client::of(std::process::id());
        disk.begin("earlier", me.clone(), Millis(1));
        disk.begin("later", me, Millis(2));
        assert_eq!(disk.live(Millis(3)), ["later"]);
    }

    #[test]
    fn a_file_that_a_power_loss_left_empty_or_somebody_damaged_names_no_session() {
        let disk = disk();
        disk.begin("s", None, Millis(0));
        let state = StateDir::of(&disk.env(Millis(0))).unwrap();
        for bytes in [&b""[..], &[0; 64], b"{", b"[]"] {
            mainspring_store::atomic::replace(&state.live().join("s"), bytes).unwrap();
            assert!(disk.live(Millis(0)).is_empty(), "{bytes:?}");
        }
    }
}
