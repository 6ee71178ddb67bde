//! `mainspring loop start`: whose loop it is, and in which store it goes.

use std::fmt::Write as _;

use mainspring_kernel::machines::looping::verbs::{self, Refused};
use mainspring_kernel::machines::looping::{Ending, LoopOwner, Past, State};
use mainspring_kernel::{Name, SessionId};

use super::whose::{self, owner, started};
use super::{Start, Store, change, frame, is_aborted, new_id, posted, prompted};
use crate::command::{Change, CommandContext, Result};
use crate::context::EventContext;
use crate::machines::looping::client;
use crate::machines::looping::loop_store::{self, LoopStore, StoredLoop};
use crate::markers;
use crate::people::{brake, which_session};

/// What `--session` names whichever session starts next.
const NEXT: &str = "next";

pub(super) fn run(cmd: &CommandContext, start: &Start) -> Result {
    let is_next = start.session.as_deref() == Some(NEXT);
    let named = match start.session.as_deref() {
        Some(NEXT) => None,
        named => which_session::wanted(cmd, named)?,
    };
    let place = match &named {
        Some(named) => which_session::project_of(cmd, &named.id)?,
        None => cmd.project()?,
    };
    let named = named.map(|named| named.id);
    let did = cmd.commit_in(&place, Name::Loop, "loop start", |context| {
        let only = match (
            &named,
            whose::attended(context.env, &context.store).as_slice(),
        ) {
            (None, [only]) if !is_next => Some(only.clone()),
            _ => None,
        };
        let owner = match named.as_ref().or(only.as_ref()) {
            Some(id) => owned_by(id.clone(), context),
            None if is_next => LoopOwner::Next,
            None => LoopOwner::Nobody,
        };
        begin(cmd, start, context, (named.as_ref(), owner))
    })?;
    let but = brake::but_ordered(cmd, &place, Name::Loop)?;
    Ok(format!("{did}\n{but}"))
}

fn begin(
    cmd: &CommandContext,
    start: &Start,
    context: &EventContext<'_>,
    (named, owner): (Option<&SessionId>, LoopOwner),
) -> Result<Change> {
    let session = owner.session().cloned();
    let session = session.as_ref();
    let loops = Loops::find(context, session)?;
    let before = loops.of(context, named)?;
    let gone = before.and_then(|kept| loop_store::gone_owner(context, &kept.state));
    if let Some(gone) = gone.filter(|gone| Some(gone) != session) {
        return Err(Refused::Gone(gone).into());
    }
    let state = verbs::start(
        before.map_or(&State::Idle(Past::Blank), |kept| &kept.state),
        new_id("loop", cmd),
        frame(&start.shape, cmd),
        (owner.clone(), &cmd.actor()),
        cmd.env.now(),
    )?
    .state;
    let target = target(context, start.store, &loops)?;
    let kept = match target {
        LoopStore::Own => loop_store::blank(context, session)?,
        LoopStore::Jwz | LoopStore::Markdown => loop_store::read(context, target)?,
    };
    let text = prompted(&kept, &state, &start.shape, cmd, context.root())?;
    let mut files = Vec::new();
    let mut message = None;
    // An aborted loop of the same session, and those that are stale, make room.
    let aborted = before.into_iter();
    for gone in aborted.chain(&loops.over) {
        if gone.file.path == kept.file.path {
            files.extend(gone.aside().filter(|_| !is_aborted(gone)));
            continue;
        }
        let over = State::Idle(if is_aborted(gone) {
            Past::Aborted
        } else {
            Past::Done(Ending::Stuck)
        });
        message = posted(gone, || gone.written(&over, cmd.env.now())).or(message);
        files.extend(gone.changes(&over, cmd.env.now())?);
    }
    let message = posted(&kept, || text.clone()).or(message);
    files.push(kept.change_to(Some(text))?);
    let did = started(context, &state) + &loops.elsewhere(start.store) + &loops.retired();
    Ok(change(files, did, message))
}

/// The loops that are here when another is to start.
struct Loops {
    running: Vec<StoredLoop>,
    /// These are stale, and nobody was told yet.
    over: Vec<StoredLoop>,
}

impl Loops {
    /// What a repository brings does not count before a person trusts it.
    fn find(context: &EventContext<'_>, session: Option<&SessionId>) -> Result<Self> {
        let counts = |kept: &StoredLoop| {
            kept.place != LoopStore::Markdown
                || context.is_trusted()
                || owner(&kept.state).is_some()
        };
        let all = loop_store::all(context)?.into_iter().filter(counts);
        let (over, running) = all.partition(|kept| loop_store::is_over(context, kept, session));
        Ok(Self { running, over })
    }

    /// The loop that keeps this session from having another: its own, or one that is nobody's. A
    /// person who names no session means whatever runs here.
    fn of(
        &self,
        context: &EventContext<'_>,
        session: Option<&SessionId>,
    ) -> Result<Option<&StoredLoop>> {
        let own = loop_store::blank(context, session)?;
        let concerns = |kept: &&StoredLoop| match (owner(&kept.state), session) {
            (Some(owner), Some(session)) => owner == session,
            // Nobody knows whose it is, but the file tells.
            (None, Some(_)) if matches!(kept.state, State::Corrupt(_)) => {
                kept.file.path == own.file.path
            }
            (None, _) | (_, None) => true,
        };
        Ok(self.running.iter().find(concerns))
    }

    /// The loop in a store that holds one.
    fn in_store(&self, place: LoopStore) -> Option<&StoredLoop> {
        self.running.iter().find(|kept| kept.place == place)
    }

    /// Why the new loop is not in the store that others know.
    fn elsewhere(&self, wanted: Option<Store>) -> String {
        let busy = [LoopStore::Jwz, LoopStore::Markdown]
            .into_iter()
            .find_map(|place| self.in_store(place));
        match busy {
            Some(kept) if wanted.is_none() => format!(
                ". {} holds {}, so this one is in Mainspring's own store",
                store_name(kept.place),
                holder(kept)
            ),
            Some(_) | None => String::new(),
        }
    }

    fn retired(&self) -> String {
        let mut out = String::new();
        for kept in &self.over {
            let whose = match owner(&kept.state) {
                Some(id) => format!("of session {id}"),
                None => "that was nobody's".into(),
            };
            let _ = write!(out, ". The stale loop {whose} was put aside");
        }
        out
    }
}

/// Does a loop in this store hold anybody? What a repository's files say, and a program that is
/// started for it, wait for a person's trust.
pub(super) fn heeded(
    context: &EventContext<'_>,
    place: LoopStore,
) -> std::result::Result<(), Refused> {
    match place {
        LoopStore::Own => Ok(()),
        LoopStore::Jwz | LoopStore::Markdown if context.is_trusted() => Ok(()),
        LoopStore::Jwz | LoopStore::Markdown => Err(Refused::Untrusted {
            store: store_name(place),
        }),
    }
}

/// Where the new loop goes. The topic and the Markdown file hold one loop each.
fn target(
    context: &EventContext<'_>,
    wanted: Option<Store>,
    loops: &Loops,
) -> std::result::Result<LoopStore, Refused> {
    let place = match wanted {
        Some(Store::Jwz) => LoopStore::Jwz,
        Some(Store::Markdown) => LoopStore::Markdown,
        None if loop_store::has_jwz(context) && loops.in_store(LoopStore::Jwz).is_none() => {
            return Ok(LoopStore::Jwz);
        }
        Some(Store::Own) | None => return Ok(LoopStore::Own),
    };
    heeded(context, place)?;
    match loops.in_store(place) {
        Some(kept) if !is_aborted(kept) => Err(Refused::Taken {
            store: store_name(place),
            by: holder(kept),
        }),
        Some(_) | None => Ok(place),
    }
}

fn store_name(place: LoopStore) -> &'static str {
    match place {
        LoopStore::Own => "Mainspring's own store",
        LoopStore::Jwz => "the topic loop:current",
        LoopStore::Markdown => markers::LOOP_PAGE,
    }
}

fn holder(kept: &StoredLoop) -> String {
    match owner(&kept.state) {
        Some(id) => format!("the loop of session {id}"),
        None => "a loop that is nobody's".into(),
    }
}

fn owned_by(id: SessionId, context: &EventContext<'_>) -> LoopOwner {
    let own = context.env.agent_session().as_ref() == Some(&id);
    let client = client(context).filter(|_| own);
    LoopOwner::Session {
        client: client.or_else(|| whose::client_of(context, &id)),
        id,
    }
}
