//! `mainspring sessions`: who is live, in which host, and held by what.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::PathBuf;

use mainspring_kernel::hidden::{escape_name, name};
use mainspring_kernel::{Name, SessionId};
use mainspring_store::ShownPath as _;
use serde::Serialize;

use super::model::journal::Journal;
use super::model::machine::MachineState;
use super::model::project::{Look, OpenProject, SessionState};
use crate::command::{CommandContext, Result, timestamp};
use crate::people::sessions::{self, Attendance, Session};
use crate::people::which_session;
use crate::store::ProjectStore;

/// Show the sessions that are live, in all projects, and which machines are at work for them.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring sessions\n  mainspring gate on --session last       the live session here with the latest event\n  mainspring why --session 390b           a session by the beginning of its id"
)]
pub(crate) struct Args {
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// A live session, for other programs.
#[derive(Serialize)]
struct View<'a> {
    session: &'a SessionId,
    host: &'a str,
    /// The client's process, if the host tells.
    client: Option<u32>,
    attendance: Attendance,
    project: String,
    /// Is its project the one in which the command was typed?
    here: bool,
    /// Machines that are at work for it: name and state.
    machines: Vec<Work>,
    /// When its latest event was: its start, or the latest one in the journal.
    last_event: String,
}

#[derive(Serialize)]
struct Work {
    name: Name,
    state: Option<&'static str>,
}

/// A live session, and where it is.
struct Placed {
    client: Session,
    session: SessionState,
    project: PathBuf,
    here: bool,
}

pub(crate) fn run(args: &Args, cmd: &CommandContext) -> Result {
    let mut all = live(cmd)?;
    all.sort_by_key(|one| (!one.here, Reverse(one.session.at)));
    if args.json {
        let views: Vec<View<'_>> = all.iter().map(View::of).collect();
        return crate::command::json_list("sessions", &views);
    }
    if all.is_empty() {
        return Ok("no session is live\n".into());
    }
    let texts = all.iter().map(|one| render(cmd, one));
    Ok(cmd.fitted(&texts.collect::<String>()))
}

/// What is the same for all sessions of a project is read once.
fn live(cmd: &CommandContext) -> Result<Vec<Placed>> {
    let state = cmd.state()?;
    let here = cmd.project().ok().map(|(project, _)| project.root);
    let mut places: BTreeMap<(PathBuf, PathBuf), (OpenProject, Journal)> = BTreeMap::new();
    let mut all = Vec::new();
    for client in sessions::live(&cmd.env, &state) {
        let Some(project) = sessions::project_of(&cmd.env, &state, &client) else {
            continue;
        };
        let place = (project.root.clone(), project.worktree.clone());
        let (open, journal) = places.entry(place).or_insert_with(|| {
            let store = ProjectStore::new(state.clone(), &project.root);
            let journal = Journal::of(store.dir());
            let env = cmd.env.clone();
            (
                OpenProject {
                    env,
                    project,
                    store,
                },
                journal,
            )
        });
        all.push(Placed {
            session: open.session(
                client.id.clone(),
                Some(client.clone()),
                journal,
                Look::Whole,
            ),
            project: open.project.root.clone(),
            here: here.as_ref() == Some(&open.project.root),
            client,
        });
    }
    Ok(all)
}

impl<'a> View<'a> {
    fn of(one: &'a Placed) -> Self {
        let machines = one.session.machines.iter().map(|machine| Work {
            name: machine.name,
            state: machine.state,
        });
        Self {
            session: &one.session.id,
            host: &one.client.host,
            client: one.client.client.as_ref().map(|client| client.pid),
            attendance: one.client.attendance,
            project: one.project.shown(),
            here: one.here,
            machines: machines.collect(),
            last_event: timestamp(one.session.at),
        }
    }
}

fn render(cmd: &CommandContext, one: &Placed) -> String {
    let paint = cmd.paint;
    let place = if one.here { " (here)" } else { "" };
    let machines = one.session.machines.iter();
    let machines: Vec<String> = machines.filter_map(MachineState::line).collect();
    let work = if machines.is_empty() {
        paint.dim("  no machine is at work for it")
    } else {
        format!("  {}", paint.good(&machines.join(" · ")))
    };
    format!(
        "{}  {}{}, latest event {}\n  {}{place}\n{work}\n",
        paint.bold(&escape_name(one.session.id.as_str())),
        escape_name(&one.client.host),
        one.session.kind(),
        which_session::ago(cmd.env.now(), one.session.at),
        name(&one.project.shown()),
    )
}
