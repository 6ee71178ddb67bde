//! `mainspring loop start`: whose loop it is, and in which store it goes.

use std::fmt::Write as _;

use mainspring_kernel::machines::looping::verbs::{self, Refused};
use mainspring_kernel::machines::looping::{Ending, LoopOwner, Past, State};
use mainspring_kernel::{Name, SessionId};

use super::whose::{owner, started};
use super::{Start, Store, change, frame, new_id, posted, prompted};
use crate::event_context::EventContext;
use crate::machine::looping::client;
use crate::machine::looping::loop_store::{self, LoopStore, StoredLoop};
use crate::markers;
use crate::verb::{Change, CommandContext, Result, brake, session};

pub(super) fn run(cmd: &CommandContext, start: &Start) -> Result {
    let named = session::wanted(cmd, start.session.as_deref())?;
    let place = match &named {
        Some(named) => session::project_of(cmd, &named.id)?,
        None => cmd.project()?,
    };
    let owner = named.map(|named| named.id);
    let did = cmd.commit_in(&place, Name::Loop, "loop start", |context| {
        begin(cmd, start, context, owner.as_ref())
    })?;
    let but = brake::but_ordered(cmd, &place, Name::Loop)?;
    Ok(format!("{did}\n{but}"))
}

fn begin(
    cmd: &CommandContext,
    start: &Start,
    context: &EventContext<'_>,
    session: Option<&SessionId>,
) -> Result<Change> {
    let loops = Loops::find(context)?;
    let before = loops.of(context, session)?;
    let gone = before.and_then(|kept| loop_store::gone_owner(context, &kept.state));
    if let Some(gone) = gone.filter(|gone| Some(gone) != session) {
        return Err(Refused::Gone(gone).into());
    }
    let target = target(context, start.store, &loops)?;
    let state = verbs::start(
        before.map_or(&State::Idle(Past::Blank), |kept| &kept.state),
        new_id("loop", cmd),
        frame(&start.shape, cmd),
        (owner_of(session.cloned(), context), &cmd.actor()),
        cmd.env.now(),
    )?
    .state;
    let kept = match target {
        LoopStore::Own => loop_store::blank(context, session)?,
        LoopStore::Jwz | LoopStore::Markdown => loop_store::read(context, target)?,
    };
    let text = prompted(&kept, &state, &start.shape, cmd, context.root())?;
    let mut files = Vec::new();
    let mut message = None;
    // An aborted loop of the same session, and those that were left behind, make room.
    let aborted = before.into_iter();
    for gone in aborted.chain(&loops.left) {
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
    /// Nobody comes back for these.
    left: Vec<StoredLoop>,
}

impl Loops {
    /// What a repository brings does not count before a person trusts it.
    fn find(context: &EventContext<'_>) -> Result<Self> {
        let counts = |kept: &StoredLoop| {
            kept.place != LoopStore::Markdown
                || context.is_trusted()
                || owner(&kept.state).is_some()
        };
        let all = loop_store::all(context)?.into_iter().filter(counts);
        let (left, running) = all.partition(|kept| loop_store::left_for(context, kept).is_some());
        Ok(Self { running, left })
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
                whose(kept)
            ),
            Some(_) | None => String::new(),
        }
    }

    fn retired(&self) -> String {
        let mut out = String::new();
        for id in self.left.iter().filter_map(|kept| owner(&kept.state)) {
            let _ = write!(
                out,
                ". The loop of session {id}, which is gone, was put aside"
            );
        }
        out
    }
}

fn is_aborted(kept: &StoredLoop) -> bool {
    matches!(kept.state, State::Aborted { .. })
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
    match loops.in_store(place) {
        Some(kept) if !is_aborted(kept) => Err(Refused::Taken {
            store: store_name(place),
            by: whose(kept),
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

fn whose(kept: &StoredLoop) -> String {
    match owner(&kept.state) {
        Some(id) => format!("the loop of session {id}"),
        None => "a loop that is nobody's".into(),
    }
}

fn owner_of(session: Option<SessionId>, context: &EventContext<'_>) -> LoopOwner {
    match session {
        None => LoopOwner::Nobody,
        Some(id) => LoopOwner::Session {
            client: client(context).filter(|_| context.env.agent_session().as_ref() == Some(&id)),
            id,
        },
    }
}
