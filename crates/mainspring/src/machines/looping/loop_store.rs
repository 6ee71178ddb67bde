//! Where a loop's state is kept: in a file of ours, in a topic of `jwz`, or in the seed's
//! Markdown file. A loop is written back to the store that it was read from. The topic and the
//! Markdown file hold one loop each; our own store has a file per session.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use mainspring_kernel::event::{Kind, StartSource};
use mainspring_kernel::journal::FileChange;
use mainspring_kernel::machines::Name;
use mainspring_kernel::machines::looping::{LoopOwner, OwnerLife, Past, Run, State};
use mainspring_kernel::{Millis, SessionId};
use mainspring_store::{CHECKSUM, ShownPath as _, Trouble, atomic, file_name, no_symlink, seal};

use super::jwz::{self, Jwz};
use super::{doc, markdown};
use crate::context::EventContext;
use crate::limits;
use crate::machines::FoundFile;
use crate::markers::LOOP_PAGE;
use crate::people::sessions;
use crate::store::aside_path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoopStore {
    Own,
    Jwz,
    Markdown,
}

/// A loop, and what it was read from.
#[derive(Debug)]
pub(crate) struct StoredLoop {
    pub(crate) place: LoopStore,
    pub(crate) state: State,
    /// The folder of our own files about the project.
    dir: PathBuf,
    /// The file to replace: the store itself, or the outbox of `jwz`.
    pub(crate) file: FoundFile,
    /// The document that the store holds: the newest message of `jwz`, or what is in a file
    /// of ours without its seal.
    document: Option<String>,
}

/// Can there be a loop that concerns this event? Checks only which files exist.
pub(crate) fn any(context: &EventContext<'_>) -> bool {
    // Nor is it trusted, which a store of `jwz` would have to be.
    if context.is_vacant() && !context.is_drop_in() {
        return false;
    }
    (!context.is_drop_in() && has_own(context))
        || (context.project.has(LOOP_PAGE) && context.heeds_repository())
        || Jwz::find(context).is_some()
}

/// Is there a loop in a file of ours? At a stop and at a start, those of other sessions count,
/// too: they may have been left behind.
pub(crate) fn has_own(context: &EventContext<'_>) -> bool {
    let exists = |path: &Path| std::fs::symlink_metadata(path).is_ok();
    let session = context.session();
    let of_session = session.is_some_and(|id| exists(&path_of(context, &id)));
    of_session
        || exists(&context.store.machine_file(Name::Loop))
        || (sees_others(context) && !files_of_sessions(context).is_empty())
}

/// A loop that is somebody else's matters where it may have been left behind, or has lost its
/// session to `/clear`; and to commands and views.
fn sees_others(context: &EventContext<'_>) -> bool {
    context.payload().is_none_or(|payload| {
        matches!(
            payload.event.kind,
            Kind::Stop { .. } | Kind::SessionStart { .. }
        )
    })
}

/// The loop that concerns this session: its own, else one that is nobody's, else the first of the
/// others. Without a session, the first.
pub(crate) fn find(context: &EventContext<'_>) -> Result<StoredLoop, Trouble> {
    let here = context.session();
    let mut others = Vec::new();
    let mut over = None;
    for place in places(context, here.as_ref()) {
        let kept = read_at(context, place)?;
        match &kept.state {
            State::Idle(_) => {
                over.get_or_insert(kept);
            }
            state if is_for(state, here.as_ref()) => return Ok(kept),
            _ => others.push(kept),
        }
    }
    if sees_others(context) && !context.is_drop_in() {
        let paths = files_of_sessions(context).into_iter();
        for path in paths.take(MOST_LOOPS) {
            others.push(read_own(context, path)?);
        }
        others.retain(|kept| !matches!(kept.state, State::Idle(_)));
    }
    let meant = others
        .iter()
        .position(|kept| was_cleared_here(context, &kept.state))
        .or_else(|| {
            others
                .iter()
                .position(|kept| left_for(context, kept).is_some())
        });
    if let Some(meant) = meant.or((!others.is_empty()).then_some(0)) {
        return Ok(others.swap_remove(meant));
    }
    over.map_or_else(|| blank(context, here.as_ref()), Ok)
}

/// Every loop that runs here or cannot be read, for a command that names one.
pub(crate) fn all(context: &EventContext<'_>) -> Result<Vec<StoredLoop>, Trouble> {
    let mut all = Vec::new();
    for place in places(context, None) {
        all.push(read_at(context, place)?);
    }
    for path in files_of_sessions(context).into_iter().take(MOST_LOOPS) {
        all.push(read_own(context, path)?);
    }
    all.retain(|kept| !matches!(kept.state, State::Idle(_)));
    Ok(all)
}

/// More loops are never looked at: each has a session.
const MOST_LOOPS: usize = 1_000;

/// A store that exists, and in which a loop may be.
#[derive(Debug, Clone)]
enum Place {
    Own(PathBuf),
    Jwz,
    Markdown,
}

/// The document of the drop-in knows only the topic and the Markdown file.
fn places(context: &EventContext<'_>, here: Option<&SessionId>) -> Vec<Place> {
    let mut places = Vec::new();
    if !context.is_drop_in() {
        places.extend(here.map(|id| Place::Own(path_of(context, id))));
        places.push(Place::Own(context.store.machine_file(Name::Loop)));
    }
    places.extend(Jwz::find(context).map(|_| Place::Jwz));
    places.extend(context.heeds_repository().then_some(Place::Markdown));
    places
}

fn read_at(context: &EventContext<'_>, place: Place) -> Result<StoredLoop, Trouble> {
    match place {
        Place::Own(path) => read_own(context, path),
        Place::Jwz => read_jwz(context),
        Place::Markdown => read_markdown(context),
    }
}

/// Does this loop concern the session: is it its own, or nobody's, or unreadable?
fn is_for(state: &State, here: Option<&SessionId>) -> bool {
    let owner = match state {
        State::Active(run) | State::Completing { run, .. } | State::Stuck(run) => &run.owner,
        State::Aborted { owner, .. } => owner,
        State::Idle(_) => return false,
        State::Corrupt(_) => return true,
    };
    here.is_none_or(|here| owner.is(here)) || owner.session().is_none()
}

/// Did the owner go on in this client under the session's new id?
fn was_cleared_here(context: &EventContext<'_>, state: &State) -> bool {
    let clears = context.payload().is_some_and(|payload| {
        let source = StartSource::Clear;
        payload.event.kind == Kind::SessionStart { source }
    });
    let client = super::client(context);
    match super::running(state).map(|run| &run.owner) {
        Some(LoopOwner::Session { client: last, .. }) => {
            clears && last.is_some() && *last == client
        }
        Some(LoopOwner::Nobody | LoopOwner::Next) | None => false,
    }
}

/// The session that left this loop behind: it is gone, and the loop is stale.
pub(crate) fn left_for(context: &EventContext<'_>, kept: &StoredLoop) -> Option<SessionId> {
    let run = super::running(&kept.state)?;
    let id = run.owner.session()?;
    let state = context.store.state();
    let is_live = || sessions::life(context.env, state, id).is_live();
    (is_stale(context, run) && !is_live()).then(|| id.clone())
}

/// Did the loop make no progress for longer than its time? What comes of that is the kernel's to
/// say: `Run::is_stale` and `owner::over`.
pub(crate) fn is_stale(context: &EventContext<'_>, run: &Run) -> bool {
    run.is_stale(context.env.now(), super::ttl(context))
}

/// Does this loop only wait for somebody to notice that it is over? It is stale, and is nobody's,
/// this session's, or one's that is gone.
pub(crate) fn is_over(
    context: &EventContext<'_>,
    kept: &StoredLoop,
    here: Option<&SessionId>,
) -> bool {
    let Some(run) = super::running(&kept.state) else {
        return false;
    };
    let owner = run.owner.session();
    is_stale(context, run)
        && (owner.is_none() || owner == here || left_for(context, kept).is_some())
}

/// The session that owns a loop, if it is known to be gone: it ended, or its client died.
pub(crate) fn gone_owner(context: &EventContext<'_>, state: &State) -> Option<SessionId> {
    let id = super::running(state)?.owner.session()?;
    let is_gone = sessions::life(context.env, context.store.state(), id).is_gone();
    // An agent is there while it runs a command.
    let is_here = context.env.agent_session().as_ref() == Some(id);
    (is_gone && !is_here).then(|| id.clone())
}

/// Whether a loop's owner can be told something.
pub(crate) fn owner_life(context: &EventContext<'_>, state: &State) -> OwnerLife {
    match gone_owner(context, state) {
        Some(_) => OwnerLife::Gone,
        None => OwnerLife::Live,
    }
}

/// The file of a session's loop. A loop that was started for nobody has the machine's file, and
/// stays there when a session takes it.
fn path_of(context: &EventContext<'_>, session: &SessionId) -> PathBuf {
    own_path(context.store.dir(), session)
}

fn own_path(dir: &Path, session: &SessionId) -> PathBuf {
    dir.join(format!("{OF_SESSION}{}.json", file_name(session.as_str())))
}

/// How the name of such a file begins.
pub(crate) const OF_SESSION: &str = "loop-of-";

/// The files of all sessions' loops, by name.
fn files_of_sessions(context: &EventContext<'_>) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(context.store.dir()).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_str().unwrap_or_default();
            name.starts_with(OF_SESSION) && name.ends_with(".json")
        })
        .map(|entry| entry.path())
        .collect();
    paths.sort_unstable();
    paths
}

/// The store of a new loop of ours.
pub(crate) fn blank(
    context: &EventContext<'_>,
    owner: Option<&SessionId>,
) -> Result<StoredLoop, Trouble> {
    let path = match owner {
        Some(session) => path_of(context, session),
        None => context.store.machine_file(Name::Loop),
    };
    read_own(context, path)
}

/// A store that others know, too.
pub(crate) fn read(context: &EventContext<'_>, place: LoopStore) -> Result<StoredLoop, Trouble> {
    match place {
        LoopStore::Own => blank(context, context.session().as_ref()),
        LoopStore::Jwz => read_jwz(context),
        LoopStore::Markdown => read_markdown(context),
    }
}

/// Can a new loop go to `jwz`?
pub(crate) fn has_jwz(context: &EventContext<'_>) -> bool {
    Jwz::find(context).is_some()
}

fn read_own(context: &EventContext<'_>, path: PathBuf) -> Result<StoredLoop, Trouble> {
    let bytes = atomic::read(&path, limits::STATE_FILE)?;
    let (state, document) = match text(&path, bytes.as_deref())? {
        None => (State::Idle(Past::Blank), None),
        Some(text) => own(&path, text)?,
    };
    Ok(StoredLoop {
        place: LoopStore::Own,
        state,
        dir: context.store.dir().into(),
        file: FoundFile { path, bytes },
        document,
    })
}

fn read_jwz(context: &EventContext<'_>) -> Result<StoredLoop, Trouble> {
    let Some(jwz) = Jwz::find(context) else {
        return Err(Trouble::Other(
            "`jwz` is not on the path, or has no store in this project".into(),
        ));
    };
    let (outgoing, file) = jwz::outbox(context)?;
    let document = jwz.read(outgoing)?;
    let state = document
        .as_deref()
        .map_or(State::Idle(Past::Blank), doc::read);
    Ok(StoredLoop {
        place: LoopStore::Jwz,
        state,
        dir: context.store.dir().into(),
        file,
        document,
    })
}

/// Whoever edits the page moves the loop. The drop-in's document has only the date in it.
fn read_markdown(context: &EventContext<'_>) -> Result<StoredLoop, Trouble> {
    let path = context.project.file(LOOP_PAGE);
    let bytes = no_symlink::read(&path, limits::STATE_FILE)?;
    let mut state = match text(&path, bytes.as_deref())? {
        None => State::Idle(Past::Blank),
        Some(text) => named(markdown::read(text, modified(&path)), &path),
    };
    if let State::Active(run) | State::Completing { run, .. } = &mut state
        && !context.is_drop_in()
    {
        run.updated = run.updated.max(modified(&path));
    }
    Ok(StoredLoop {
        place: LoopStore::Markdown,
        state,
        dir: context.store.dir().into(),
        file: FoundFile { path, bytes },
        document: None,
    })
}

impl StoredLoop {
    /// The text that was read.
    pub(crate) fn text(&self) -> Option<&str> {
        match self.place {
            LoopStore::Markdown => std::str::from_utf8(self.file.bytes.as_deref()?).ok(),
            LoopStore::Own | LoopStore::Jwz => self.document.as_deref(),
        }
    }

    /// The store's text with this state.
    pub(crate) fn written(&self, state: &State, now: Millis) -> String {
        match self.place {
            // Of a file that was damaged nothing is kept in the new one.
            LoopStore::Own if matches!(self.state, State::Corrupt(_)) => {
                doc::write(None, state, now)
            }
            LoopStore::Own | LoopStore::Jwz => doc::write(self.text(), state, now),
            LoopStore::Markdown => markdown::write(self.text(), state),
        }
    }

    /// The changes that put this state into the store.
    pub(crate) fn changes(&self, state: &State, now: Millis) -> Result<Vec<FileChange>, Trouble> {
        // A loop that is over leaves no file of ours, so that the next event finds nothing.
        let text = match (self.place, state) {
            (LoopStore::Own, State::Idle(_)) => None,
            _ => Some(self.written(state, now)),
        };
        let mut changes = self.moved(state, text)?;
        if aside(&self.state, state) == Aside::Keep {
            changes.extend(self.aside());
        }
        Ok(changes)
    }

    /// The changes that put this text into the store. A file that is named after a session is
    /// renamed with the loop's owner.
    fn moved(&self, state: &State, text: Option<String>) -> Result<Vec<FileChange>, Trouble> {
        let owner = super::running(state).map(|run| &run.owner);
        let name = self.file.path.file_name().and_then(|name| name.to_str());
        let named = name.is_some_and(|name| name.starts_with(OF_SESSION));
        let target = match owner {
            Some(LoopOwner::Session { id, .. }) if named => own_path(&self.dir, id),
            Some(_) | None => self.file.path.clone(),
        };
        if self.place != LoopStore::Own || target == self.file.path {
            return Ok(vec![self.change_to(text)?]);
        }
        let text = text.map(|text| seal::seal(&target, &text)).transpose()?;
        Ok(vec![
            atomic::change(&target, None, text),
            self.change_to(None)?,
        ])
    }

    /// The change that keeps what was found in a file beside it.
    pub(crate) fn aside(&self) -> Option<FileChange> {
        let before = std::str::from_utf8(self.file.bytes.as_deref()?).ok()?;
        // `jwz` keeps its earlier messages itself.
        (self.place != LoopStore::Jwz).then(|| {
            let path = aside_path(&self.file.path, before.as_bytes());
            atomic::change(&path, None, Some(before.into()))
        })
    }

    /// The change that puts this text into the store.
    pub(crate) fn change_to(&self, text: Option<String>) -> Result<FileChange, Trouble> {
        let (path, was) = (&self.file.path, self.file.bytes.as_deref());
        match self.place {
            LoopStore::Own => {
                let text = text.map(|text| seal::seal(path, &text)).transpose()?;
                Ok(atomic::change(path, was, text))
            }
            LoopStore::Markdown => Ok(atomic::change(path, was, text)),
            LoopStore::Jwz => {
                let after = self.document.as_deref().map(str::as_bytes);
                jwz::change(&self.file, after, text.unwrap_or_default())
            }
        }
    }
}

/// Whether the old content is kept next to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Aside {
    Keep,
    Drop,
}

/// A loop that did not end by its own signal may still be needed.
fn aside(before: &State, after: &State) -> Aside {
    use mainspring_kernel::machines::looping::Ending;
    match (before, after) {
        (State::Corrupt(_), _)
        | (
            State::Active(_) | State::Completing { .. },
            State::Idle(Past::Done(Ending::Stuck | Ending::MaxIterations)),
        ) => Aside::Keep,
        (
            State::Idle(_)
            | State::Active(_)
            | State::Completing { .. }
            | State::Stuck(_)
            | State::Aborted { .. },
            _,
        ) => Aside::Drop,
    }
}

/// What a file of ours says, and its document. A file that was damaged is a corrupt loop: it
/// ends, loudly, and the file is kept.
fn own(path: &Path, text: &str) -> Result<(State, Option<String>), Trouble> {
    let corrupt = |problem: String| {
        let state = named(State::Corrupt(problem), path);
        Ok((state, Some(text.to_owned())))
    };
    let document = match seal::unseal(path, text.as_bytes()) {
        Ok(document) => String::from_utf8_lossy(&document).into_owned(),
        Err(Trouble::Damaged { .. }) => return corrupt(CHECKSUM.into()),
        Err(trouble) => return Err(trouble),
    };
    // On `jwz`, others may post messages that are no loop's state; this file is written only
    // by us.
    if document.trim_start().starts_with(['[', '"']) {
        return corrupt("it is not an object".into());
    }
    Ok((named(doc::read(&document), path), Some(document)))
}

/// Adds the file's path to the problem, and where the file will be kept.
fn named(state: State, path: &Path) -> State {
    match state {
        State::Corrupt(problem) => State::Corrupt(format!(
            "{}: {problem}. The file is kept next to it, as *.aside-*",
            path.shown()
        )),
        state => state,
    }
}

fn text<'a>(path: &Path, bytes: Option<&'a [u8]>) -> Result<Option<&'a str>, Trouble> {
    bytes
        .map(std::str::from_utf8)
        .transpose()
        .map_err(|_| Trouble::corrupt(path, "it is not UTF-8 text"))
}

fn modified(path: &Path) -> Millis {
    let modified = std::fs::symlink_metadata(path).and_then(|meta| meta.modified());
    let since_epoch = modified.map(|at| at.duration_since(UNIX_EPOCH).unwrap_or_default());
    Millis::seconds(since_epoch.map_or(0, |span| span.as_secs()))
}
