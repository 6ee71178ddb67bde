//! `mainspring sessions`: who is live, in which host, and held by what.

use std::collections::BTreeMap;
use std::path::PathBuf;

use mainspring_kernel::hidden::{escape_name, name};
use mainspring_kernel::{Millis, Name, SessionId};
use mainspring_store::ShownPath as _;
use serde::Serialize;

use crate::command::{CommandContext, Result, timestamp};
use crate::context::{Caller, EventContext};
use crate::machines;
use crate::people::sessions::{self, Attendance, Session};
use crate::people::which_session;
use crate::project::Project;
use crate::store::{ProjectStore, StateDir};

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

#[derive(Debug, Serialize)]
struct View {
    session: String,
    host: String,
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
    #[serde(skip)]
    at: Millis,
}

#[derive(Debug, Serialize)]
struct Work {
    name: &'static str,
    state: &'static str,
}

pub(crate) fn run(args: &Args, cmd: &CommandContext) -> Result {
    let state = cmd.state()?;
    let here = cmd.project().ok().map(|(project, _)| project.root);
    // What is the same for all sessions of a project is read once.
    let mut places: BTreeMap<(PathBuf, PathBuf), (Project, Vec<Session>)> = BTreeMap::new();
    for live in sessions::live(&cmd.env, &state) {
        let Some(project) = sessions::project_of(&cmd.env, &state, &live) else {
            continue;
        };
        let place = (project.root.clone(), project.worktree.clone());
        let (_, there) = places.entry(place).or_insert((project, Vec::new()));
        there.push(live);
    }
    let mut all: Vec<View> = Vec::new();
    for (project, there) in places.values() {
        let is_here = here.as_ref() == Some(&project.root);
        all.extend(views(cmd, &state, (project, is_here), there));
    }
    all.sort_by_key(|view| (!view.here, std::cmp::Reverse(view.at)));
    if args.json {
        return crate::command::json_list("sessions", &all);
    }
    Ok(cmd.fitted(&render(cmd, &all)))
}

fn views(
    cmd: &CommandContext,
    state: &StateDir,
    (project, here): (&Project, bool),
    there: &[Session],
) -> Vec<View> {
    let store = ProjectStore::new(state.clone(), &project.root);
    let recorded = which_session::last_events(&store);
    let context = EventContext::new(&cmd.env, (project.clone(), store), Caller::COMMAND);
    let view = |live: &Session| {
        let session = Some(live.id.clone());
        let context = context.seen_by(Caller::View { session });
        let at = live
            .at
            .max(recorded.get(&live.id).copied().unwrap_or_default());
        View {
            session: live.id.to_string(),
            host: live.host.clone(),
            client: live.client.as_ref().map(|client| client.pid),
            attendance: live.attendance,
            machines: at_work(&context, &live.id),
            project: project.root.shown(),
            here,
            last_event: timestamp(at),
            at,
        }
    };
    there.iter().map(view).collect()
}

fn at_work(context: &EventContext<'_>, session: &SessionId) -> Vec<Work> {
    let at_work = Name::ALL.iter().filter_map(|name| {
        let input = machines::view(*name, context).ok()??;
        machines::works_for(&input, session).then(|| Work {
            name: name.as_str(),
            state: input.label(),
        })
    });
    at_work.collect()
}

fn render(cmd: &CommandContext, all: &[View]) -> String {
    if all.is_empty() {
        return "no session is live\n".into();
    }
    let paint = cmd.paint;
    let mut out = String::new();
    for view in all {
        let kind = match view.attendance {
            Attendance::Attended => "",
            Attendance::Headless => ", headless",
            Attendance::Helper => ", started by an agent",
        };
        let place = if view.here { " (here)" } else { "" };
        out += &format!(
            "{}  {}{kind}, latest event {}\n",
            paint.bold(&escape_name(&view.session)),
            escape_name(&view.host),
            which_session::ago(cmd.env.now(), view.at)
        );
        out += &format!("  {}{place}\n", name(&view.project));
        let machines: Vec<String> = view
            .machines
            .iter()
            .map(|work| format!("{} {}", work.name, work.state))
            .collect();
        out += &if machines.is_empty() {
            paint.dim("  no machine is at work for it\n")
        } else {
            format!("  {}\n", paint.good(&machines.join(" · ")))
        };
    }
    out
}
