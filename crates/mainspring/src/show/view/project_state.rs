//! One project as it is now: machines, sessions, orders, running work, and what is wrong.

use mainspring_kernel::at_work::AtWork;
use mainspring_kernel::orders::{Mode, Orders};
use mainspring_kernel::{Millis, Name, SessionId};
use mainspring_store::Trouble;

use super::super::status;
use super::history::{Journal, Row};
use super::site::{KnownProject, Site};
use crate::context::{Caller, EventContext};
use crate::env::Environment;
use crate::machines;
use crate::machines::at_work;
use crate::people::orders;
use crate::people::sessions::{self, Session};
use crate::people::trust::TrustNotice;
use crate::project::{self, Project};
use crate::store::ProjectStore;

/// A session that was not heard of for this long is not shown.
const RECENT: Millis = Millis::seconds(24 * 60 * 60);
/// More sessions of one project need not be shown.
const MOST_SESSIONS: usize = 12;

/// A project that can be looked at.
#[derive(Debug)]
pub(super) struct OpenProject {
    pub(super) known: KnownProject,
    pub(super) env: Environment,
    pub(super) project: Project,
    pub(super) store: ProjectStore,
}

/// Its state, for people.
pub(super) struct ProjectState {
    pub(super) known: KnownProject,
    /// Its folder, as people write it.
    pub(super) place: String,
    pub(super) trusted: bool,
    /// What waits for a person to trust it.
    pub(super) notice: Option<TrustNotice>,
    pub(super) observing: bool,
    /// The brake on everything, in words.
    pub(super) stopped: Option<String>,
    pub(super) machines: Vec<status::Machine>,
    pub(super) sessions: Vec<SessionState>,
    /// Effects that run now.
    pub(super) running: Vec<AtWork>,
    /// Effects whose process is gone, and whose result nobody took in.
    pub(super) interrupted: Vec<AtWork>,
    /// What could not be read.
    pub(super) problems: Vec<String>,
    pub(super) damaged: usize,
}

pub(super) struct SessionState {
    pub(super) id: SessionId,
    /// Its client, if the session is live.
    pub(super) live: Option<Session>,
    /// Its latest record, if there is one.
    pub(super) last: Option<Row>,
    /// The machines that are at work for it.
    pub(super) machines: Vec<status::Machine>,
}

impl OpenProject {
    pub(super) fn new(site: &Site, known: KnownProject) -> Result<Self, Trouble> {
        let env = site.env.afresh();
        let project = project::of_command(&env, &site.state, None, &known.root)?;
        let store = ProjectStore::new(site.state.clone(), &known.root);
        Ok(Self {
            known,
            env,
            project,
            store,
        })
    }

    /// For what is about this session, or about none.
    pub(super) fn context(&self, session: Option<SessionId>) -> EventContext<'_> {
        let place = (self.project.clone(), self.store.clone());
        EventContext::new(&self.env, place, Caller::View { session })
    }

    pub(super) fn look(self, journal: Option<&Journal>) -> ProjectState {
        let now = self.env.now();
        let mut problems = Vec::new();
        let orders = orders::in_force(&self.project, &self.store).unwrap_or_else(|trouble| {
            problems.push(trouble.to_string());
            Orders::default()
        });
        let sessions = self.sessions(journal, now);
        let latest = sessions.first().map(|session| session.id.clone());
        let context = self.context(latest);
        let machines = Name::ALL.iter().map(|name| status::Machine {
            suspended: orders.suspension(*name, now).map(status::words),
            ..status::foreseen(*name, &context)
        });
        let notice = context.trust_notice().unwrap_or_else(|trouble| {
            problems.push(trouble.to_string());
            None
        });
        let (running, interrupted) =
            at_work::by_life(&self.env, &self.store).unwrap_or_else(|trouble| {
                problems.push(trouble.to_string());
                (Vec::new(), Vec::new())
            });
        let everything = orders.everything.filter(|until| until.holds(now));
        ProjectState {
            trusted: context.is_trusted(),
            notice,
            observing: orders.mode == Mode::Observe,
            stopped: everything.map(status::words),
            machines: machines.collect(),
            sessions,
            running,
            interrupted,
            problems,
            damaged: journal.map_or(0, |journal| journal.damaged),
            place: self.known.place(self.env.home().as_deref()),
            known: self.known,
        }
    }

    /// The live sessions, the latest first, and then those that were heard of lately.
    fn sessions(&self, journal: Option<&Journal>, now: Millis) -> Vec<SessionState> {
        let state = self.store.state();
        let mut ids: Vec<(SessionId, Option<Session>)> = Vec::new();
        for live in sessions::live_in(&self.env, state, &self.known.root) {
            ids.push((live.id.clone(), Some(live)));
        }
        let rows = journal.map_or(&[][..], |journal| &journal.rows);
        for row in rows.iter().rev() {
            if now.since(row.at) > RECENT || ids.len() >= MOST_SESSIONS {
                break;
            }
            if let Some(id) = &row.session
                && ids.iter().all(|(known, _)| known != id)
            {
                ids.push((id.clone(), None));
            }
        }
        let last = |id: &SessionId| {
            let mut rows = rows.iter().rev();
            rows.find(|row| row.session.as_ref() == Some(id)).cloned()
        };
        ids.into_iter()
            .map(|(id, live)| SessionState {
                last: last(&id),
                machines: self.machines_of(&id),
                live,
                id,
            })
            .collect()
    }

    /// The machines that are at work for a session.
    fn machines_of(&self, session: &SessionId) -> Vec<status::Machine> {
        let context = self.context(Some(session.clone()));
        let machines = Name::ALL.iter();
        let machines = machines.map(|name| status::machine(*name, &context));
        let works = |machine: &status::Machine| {
            let input = machine.details.as_ref();
            input.is_some_and(|input| machines::works_for(input, session))
        };
        machines.filter(works).collect()
    }
}
