//! One project as it is now: machines, sessions, orders, running work, and what needs the person.

use std::cmp::Reverse;

use mainspring_kernel::at_work::AtWork;
use mainspring_kernel::orders::{Mode, Orders};
use mainspring_kernel::{Millis, Name, SessionId};
use mainspring_store::Trouble;
use serde::Serialize;

use super::journal::{Journal, Row};
use super::machine::{MachineState, Suspension};
use super::needs::{self, Need};
use crate::command::timestamp;
use crate::context::{Caller, EventContext};
use crate::env::Environment;
use crate::machines::at_work;
use crate::people::orders;
use crate::people::sessions::{self, Attendance, Session};
use crate::people::trust::TrustNotice;
use crate::project::Project;
use crate::store::ProjectStore;

/// A session that was not heard of for this long is not shown.
const RECENT: Millis = Millis::seconds(24 * 60 * 60);
/// More sessions of one project need not be shown.
const MOST_SESSIONS: usize = 12;

/// A project that can be looked at.
#[derive(Debug)]
pub(crate) struct OpenProject {
    pub(crate) env: Environment,
    pub(crate) project: Project,
    pub(crate) store: ProjectStore,
}

/// How closely a view looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// Again and again: only what is at work.
    Glance,
    /// With what a stop would do now, and what each session has at work.
    Whole,
}

/// Its state, for people. As JSON it is what `status --json` prints.
#[derive(Serialize)]
pub(crate) struct ProjectState {
    pub(crate) project: String,
    /// The linked worktree that is looked at, if it is one.
    pub(crate) worktree: Option<String>,
    /// The session whose machines are shown: the agent's own, or the latest one here.
    pub(crate) session: Option<SessionId>,
    /// When its latest event was.
    heard: Option<String>,
    #[serde(skip)]
    pub(crate) heard_at: Option<Millis>,
    pub(crate) trusted: bool,
    pub(crate) observing: bool,
    /// The order that suspends everything.
    pub(crate) stopped: Option<Suspension>,
    /// Effects that run now.
    pub(crate) at_work: Vec<AtWork>,
    pub(crate) machines: Vec<MachineState>,
    #[serde(skip)]
    pub(crate) sessions: Vec<SessionState>,
    #[serde(skip)]
    pub(crate) needs: Vec<Need>,
    /// Effects whose process is gone, and whose result nobody took in.
    #[serde(skip)]
    pub(super) interrupted: Vec<AtWork>,
    /// What waits for a person to trust it.
    #[serde(skip)]
    pub(super) notice: Option<TrustNotice>,
    /// What could not be read.
    #[serde(skip)]
    pub(crate) problems: Vec<String>,
}

pub(crate) struct SessionState {
    pub(crate) id: SessionId,
    /// Its client, if the session is live.
    pub(crate) live: Option<Session>,
    /// When its latest event was.
    pub(crate) at: Millis,
    /// Its latest record, if there is one.
    pub(crate) last: Option<Row>,
    /// The machines that are at work for it.
    pub(crate) machines: Vec<MachineState>,
}

impl OpenProject {
    /// For what is about this session, or about none.
    pub(crate) fn context(&self, session: Option<SessionId>) -> EventContext<'_> {
        let place = (self.project.clone(), self.store.clone());
        EventContext::new(&self.env, place, Caller::View { session })
    }

    /// The project, for the agent that looks itself, if one does.
    pub(crate) fn look(
        &self,
        journal: &Journal,
        agent: Option<SessionId>,
        look: Look,
    ) -> ProjectState {
        let now = self.env.now();
        let mut problems = Vec::new();
        let orders = read(orders::in_force(&self.project, &self.store), &mut problems);
        let sessions = self.sessions(journal, look);
        let meant = sessions.iter().find(|session| session.is_meant());
        let latest = meant.map(|session| (session.id.clone(), session.at));
        let latest = latest.or_else(|| journal.last_session());
        let heard_at = latest.as_ref().map(|(_, at)| *at);
        let context = self.context(agent.or_else(|| latest.map(|(id, _)| id)));
        let (at_work, interrupted) = read(at_work::by_life(&self.env, &self.store), &mut problems);
        let notice = match look {
            Look::Glance => None,
            Look::Whole => read(context.trust_notice(), &mut problems),
        };
        let everything = orders.everything.filter(|until| until.holds(now));
        let mut state = ProjectState {
            project: self.project.root.to_string_lossy().into_owned(),
            worktree: (self.project.worktree != self.project.root)
                .then(|| self.project.worktree.to_string_lossy().into_owned()),
            session: context.session(),
            heard: heard_at.map(timestamp),
            heard_at,
            trusted: context.is_trusted(),
            observing: orders.mode == Mode::Observe,
            stopped: everything.map(Suspension),
            at_work,
            machines: self.machines(&orders, &context, look),
            sessions,
            needs: Vec::new(),
            interrupted,
            notice,
            problems,
        };
        state.needs = needs::of(&state, journal);
        state
    }

    fn machines(
        &self,
        orders: &Orders,
        context: &EventContext<'_>,
        look: Look,
    ) -> Vec<MachineState> {
        let machines = Name::ALL.iter().map(|name| {
            let machine = MachineState::of(*name, context);
            let order = orders.suspension(*name, self.env.now());
            MachineState {
                suspended: order.map(Suspension),
                ..match look {
                    Look::Glance => machine,
                    Look::Whole => machine.foreseen(context),
                }
            }
        });
        machines.collect()
    }

    /// The live sessions, the latest first, and then those that were heard of lately.
    fn sessions(&self, journal: &Journal, look: Look) -> Vec<SessionState> {
        let now = self.env.now();
        let state = self.store.state();
        let live = sessions::live_in(&self.env, state, &self.project.root).into_iter();
        let mut all: Vec<SessionState> = live
            .map(|live| self.session(live.id.clone(), Some(live), journal, look))
            .collect();
        all.sort_by_key(|session| (Reverse(session.at), session.id.clone()));
        for row in journal.rows.iter().rev() {
            if now.since(row.at) > RECENT || all.len() >= MOST_SESSIONS {
                break;
            }
            if let Some(id) = &row.session
                && all.iter().all(|known| known.id != *id)
            {
                all.push(self.session(id.clone(), None, journal, look));
            }
        }
        all
    }

    pub(crate) fn session(
        &self,
        id: SessionId,
        live: Option<Session>,
        journal: &Journal,
        look: Look,
    ) -> SessionState {
        let last = journal.last_of(&id).cloned();
        let started = live.as_ref().map_or(Millis::default(), |live| live.at);
        SessionState {
            at: last.as_ref().map_or(started, |last| last.at.max(started)),
            machines: match look {
                Look::Glance => Vec::new(),
                Look::Whole => self.at_work_for(&id),
            },
            last,
            live,
            id,
        }
    }

    fn at_work_for(&self, session: &SessionId) -> Vec<MachineState> {
        let context = self.context(Some(session.clone()));
        let all = Name::ALL.iter();
        let all = all.map(|name| MachineState::of(*name, &context));
        all.filter(|machine| machine.works_for(session)).collect()
    }
}

impl ProjectState {
    /// What runs now for this machine.
    pub(crate) fn at_work_of(&self, machine: Name) -> impl Iterator<Item = &AtWork> {
        self.at_work
            .iter()
            .filter(move |work| work.machine == machine)
    }
}

impl SessionState {
    /// Is it one that people mean: live, and no helper of another agent?
    fn is_meant(&self) -> bool {
        let live = self.live.as_ref();
        live.is_some_and(|live| live.attendance != Attendance::Helper)
    }

    /// What kind of session it is, if it is not a person's own.
    pub(crate) fn kind(&self) -> &'static str {
        match self.live.as_ref().map(|live| live.attendance) {
            Some(Attendance::Attended) | None => "",
            Some(Attendance::Headless) => ", headless",
            Some(Attendance::Helper) => ", started by an agent",
        }
    }
}

/// What was read, or nothing, and why.
fn read<T: Default>(found: Result<T, Trouble>, problems: &mut Vec<String>) -> T {
    found.unwrap_or_else(|trouble| {
        problems.push(trouble.to_string());
        T::default()
    })
}
