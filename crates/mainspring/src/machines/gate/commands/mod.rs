//! `mainspring gate`: no stop until the agent says the done token itself.

mod below;
mod check;
mod switches;

use std::fmt::Write as _;

use mainspring_kernel::authority::Grounds;
use mainspring_kernel::journal::FileChange;
use mainspring_kernel::machines::gate::State;
use mainspring_kernel::machines::gate::verbs::{self, Switch};
use mainspring_kernel::verbs::Actor;
use mainspring_kernel::{Name, SessionId};
use mainspring_store::{ShownPath as _, atomic};
use serde::Serialize;

pub(crate) use self::switches::off_command;
use crate::command::{CommandContext, Result};
use crate::context::{Caller, EventContext};
use crate::hosts::{self, install};
use crate::machines::gate::switch::{self, GateSwitch, Progress, SwitchedBy, Switches};
use crate::machines::gate::{self, counter, token};
use crate::people::brake;
use crate::people::which_session::{self, Named};
use crate::project::Project;
use crate::store::ProjectStore;

/// Hold every stop until the agent says its done token.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring gate on                     the session that is live here, else every session\n  mainspring gate on --project           every session in this project\n  mainspring gate on --session last      the live session here with the latest event\n  mainspring gate status\n  mainspring gate off --project"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Switch the gate on
    On(Whose),
    /// Switch the gate off
    Off(Whose),
    /// Show whether the gate is on, and which token it waits for
    Status {
        /// Which session: its id, the beginning of it, or `last` for the live one here; default:
        /// the agent's own; in your terminal the one that is live here
        #[arg(long, value_name = which_session::VALUE)]
        session: Option<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Look for the done token in a transcript: print where it is, or exit with 1
    Check(check::Check),
}

#[derive(Debug, clap::Args)]
struct Whose {
    /// For every session in this project
    #[arg(long, conflicts_with = "session")]
    project: bool,
    /// Which session: its id, the beginning of it, or `last` for the live one here; default: the
    /// agent's own; in your terminal the one that is live here, or the project if there is none
    /// or several
    #[arg(long, value_name = which_session::VALUE)]
    session: Option<String>,
}

pub(crate) fn run(args: &Args, cmd: &CommandContext) -> Result {
    match &args.verb {
        Verb::On(whose) => set(cmd, whose, Switch::On),
        Verb::Off(whose) => set(cmd, whose, Switch::Off),
        Verb::Status { session, json } => status(cmd, session.as_deref(), *json),
        Verb::Check(check) => check::run(cmd, check),
    }
}

fn set(cmd: &CommandContext, whose: &Whose, to: Switch) -> Result {
    if whose.project {
        return set_project(cmd, to, "");
    }
    if let Some(named) = which_session::wanted(cmd, whose.session.as_deref())? {
        return set_session(cmd, &named, to);
    }
    let (_, store) = cmd.project()?;
    match which_session::here(&cmd.env, &store).as_slice() {
        [] => set_project(cmd, to, "no session is live here"),
        [(session, _)] => set_session(cmd, &Named::live(&cmd.env, session.id.clone()), to),
        several => {
            let why = format!("{} sessions are live here", several.len());
            set_project(cmd, to, &why)
        }
    }
}

/// For every session here. `why` says why this is meant, if nobody said so.
fn set_project(cmd: &CommandContext, to: Switch, why: &str) -> Result {
    let word = to.as_str();
    let command = format!("gate {word} --project");
    cmd.may(&command, Grounds::Nothing)?;
    let place = cmd.project()?;
    let did = cmd.commit_in(&place, Name::Gate, &command, |context| {
        let folder = context.root().shown();
        let (before, by) = everyone(context)?;
        let but = switches::of_sessions(context, to)?;
        if before == to {
            let by = match by {
                "" => String::new(),
                by => format!(", by {by}"),
            };
            return Ok((
                Vec::new(),
                format!("nothing changed: the gate was {word} already in {folder}{by}{but}"),
            ));
        }
        let file = switch_project(context, to)?;
        let did = format!(
            "the gate is {word} in {folder}, for every session that has no switch of its own{but}"
        );
        Ok((vec![file], did))
    })?;
    let (project, store) = &place;
    let below = below::join(cmd, (project, store.state()))?;
    let but = but_ordered(cmd, &place, to)?;
    Ok(match why {
        "" => format!("{did}\n{below}{but}"),
        why => format!("{did} ({why})\n{below}{but}"),
    })
}

fn set_session(cmd: &CommandContext, named: &Named, to: Switch) -> Result {
    let session = named.id.clone();
    let command = format!("gate {} --session {session}", to.as_str());
    let place = which_session::project_of(cmd, &session)?;
    let did = cmd.commit_in(&place, Name::Gate, &command, |context| {
        let switches = Switches::read(context, &session)?;
        let grounds = match (switches.session.switch, switches.session.by) {
            (Some(Switch::On), SwitchedBy::ItsAgent) => Grounds::BegunBy(&session),
            (Some(_) | None, _) => Grounds::Nothing,
        };
        cmd.may(&command, grounds)?;
        if is_so_already(context, &switches, to)? {
            let did = format!(
                "nothing changed: the gate was {} already for {named}{}",
                to.as_str(),
                switches::of_project(context, to)?
            );
            return Ok((Vec::new(), did));
        }
        switch_session(context, named, &switches, to)
    })?;
    let but = but_ordered(cmd, &place, to)?;
    Ok(format!("{did}\n{but}"))
}

/// A gate that is on holds nobody under an order.
fn but_ordered(cmd: &CommandContext, place: &(Project, ProjectStore), to: Switch) -> Result {
    match to {
        Switch::On => brake::but_ordered(cmd, place, Name::Gate),
        Switch::Off => Ok(String::new()),
    }
}

/// Would the command leave everything as it is?
fn is_so_already(context: &EventContext<'_>, switches: &Switches, to: Switch) -> Result<bool> {
    let on = gate::is_on(context, switches)?;
    Ok(match (switches.session.switch, to) {
        (Some(Switch::On), Switch::On) => on,
        (Some(Switch::Off) | None, Switch::Off) => !on,
        (Some(Switch::Off) | None, Switch::On) | (Some(Switch::On), Switch::Off) => false,
    })
}

/// The switch for every session that has none of its own.
fn switch_project(context: &EventContext<'_>, to: Switch) -> Result<FileChange> {
    let (project, file) = switch::project(context)?;
    let next = GateSwitch {
        switch: Some(to),
        ..project
    };
    Ok(switch::change(&file, &next)?)
}

/// The session's own switch. Its count is deleted when the gate goes on or off, because it
/// belongs to a gate that is on.
fn switch_session(
    context: &EventContext<'_>,
    named: &Named,
    switches: &Switches,
    to: Switch,
) -> Result<(Vec<FileChange>, String)> {
    let session = &named.id;
    let (held, counter) = counter::read(context, session)?;
    let before = if gate::is_on(context, switches)? {
        switches.session.stage.state(held)
    } else {
        State::Off
    };
    let (after, next, did) = match (to, context.env.actor()) {
        (Switch::Off, Actor::Agent(_)) => give_back(context, before)?,
        (_, actor) => {
            let after = verbs::switch(before, to).state;
            let next = GateSwitch {
                switch: Some(to),
                stage: Progress::of(after),
                by: switched_by(&switches.session, session, &actor),
            };
            let word = to.as_str();
            let but = switches::of_project(context, to)?;
            (after, next, format!("the gate is {word} for {named}{but}"))
        }
    };
    let mut files = vec![switch::change(&switches.session_file, &next)?];
    if after != before {
        files.push(atomic::change(
            &counter.path,
            counter.bytes.as_deref(),
            None,
        ));
    }
    Ok((files, did))
}

/// An agent takes its own switch back. What a person or the configuration says counts again.
fn give_back(context: &EventContext<'_>, before: State) -> Result<(State, GateSwitch, String)> {
    let (switch, by) = everyone(context)?;
    let (after, did) = match switch {
        Switch::On => (before, format!("the gate stays on, by {by}")),
        Switch::Off => (
            verbs::end(before).state,
            "the gate is off; your user is told of it at the next stop".into(),
        ),
    };
    let next = GateSwitch {
        stage: Progress::of(after),
        ..GateSwitch::default()
    };
    Ok((after, next, did))
}

/// An agent that asks for what a person switched on does not make it its own.
fn switched_by(card: &GateSwitch, session: &SessionId, actor: &Actor) -> SwitchedBy {
    let a_persons = card.switch == Some(Switch::On) && card.by == SwitchedBy::Another;
    if actor.session() == Some(session) && !a_persons {
        SwitchedBy::ItsAgent
    } else {
        SwitchedBy::Another
    }
}

/// The state of the gate.
#[derive(Serialize)]
struct View {
    project: &'static str,
    /// What switched it.
    by: &'static str,
    /// The settings in which the drop-in for its script is registered: it holds whatever the
    /// switches say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    registered: Vec<Registration>,
    session: Option<Session>,
}

/// A settings file that registers `compat taskmaster`.
#[derive(Serialize)]
struct Registration {
    host: &'static str,
    scope: String,
}

#[derive(Serialize)]
struct Session {
    id: SessionId,
    gate: Switch,
    token: String,
    /// Has it a switch of its own?
    #[serde(skip)]
    own: bool,
}

fn status(cmd: &CommandContext, named: Option<&str>, json: bool) -> Result {
    let mut named = which_session::wanted(cmd, named)?;
    let place = match &named {
        Some(named) => which_session::project_of(cmd, &named.id)?,
        None => cmd.project()?,
    };
    let context = EventContext::new(&cmd.env, place, Caller::COMMAND);
    // As `gate on` does: the session that is live here.
    let here = match &named {
        Some(_) => Vec::new(),
        None => which_session::here(&cmd.env, &context.store),
    };
    if let [(session, _)] = here.as_slice() {
        named = Some(Named::live(&cmd.env, session.id.clone()));
    }
    let config = context.config()?;
    let (switch, by) = everyone(&context)?;
    let session = match named {
        None => None,
        Some(Named { id, .. }) => {
            let switches = Switches::read(&context, &id)?;
            let on = gate::is_on(&context, &switches)?;
            Some(Session {
                gate: if on { Switch::On } else { Switch::Off },
                token: token(config, &id).line().to_owned(),
                own: switches.session.switch.is_some(),
                id,
            })
        }
    };
    let view = View {
        project: switch.as_str(),
        by,
        registered: registrations(cmd, &context.project),
        session,
    };
    if json {
        return crate::command::json(&view);
    }
    Ok(cmd.fitted(&shown(&view, here.len())))
}

/// The view for a person; `live` sessions are here, of which nobody named one.
fn shown(view: &View, live: usize) -> String {
    let mut out = match view.by {
        "" => format!("project  {}\n", view.project),
        by => format!("project  {} (set by {by})\n", view.project),
    };
    for Registration { host, scope } in &view.registered {
        let _ = writeln!(
            out,
            "`compat taskmaster` is switched on by its registration in the {scope} settings of {host}, \
             whatever the switches say: `mainspring uninstall --scope {scope}` ends it"
        );
    }
    if let Some(session) = &view.session {
        let own = if session.own { " (its own switch)" } else { "" };
        let gate = session.gate.as_str();
        let _ = writeln!(out, "session  {gate} for {}{own}", session.id);
        let _ = writeln!(out, "token    {}", session.token);
    } else if live > 0 {
        let _ = writeln!(
            out,
            "{live} sessions are live here: `mainspring gate status --session last` shows the one \
             with the latest event"
        );
    }
    out
}

/// Where the drop-in is registered for this project.
fn registrations(cmd: &CommandContext, project: &Project) -> Vec<Registration> {
    let mut found = Vec::new();
    for host in hosts::HOSTS {
        for (scope, file) in install::files(host, &cmd.env, &project.worktree) {
            let is_ours = |one: &install::Handler| {
                let script = one.args.get(1);
                script.is_some_and(|script| script == install::Script::Taskmaster.name())
            };
            if file.is_ok_and(|file| file.found.drop_ins.iter().any(is_ours)) {
                let (host, scope) = (host.agent.name, scope.to_string());
                found.push(Registration { host, scope });
            }
        }
    }
    found
}

/// The switch for every session that has none of its own, and what set it.
pub(crate) fn everyone(context: &EventContext<'_>) -> Result<(Switch, &'static str)> {
    let (project, _) = switch::project(context)?;
    Ok(match project.switch {
        Some(Switch::On) => (Switch::On, "`mainspring gate on --project`"),
        Some(Switch::Off) => (Switch::Off, "`mainspring gate off --project`"),
        None if context.config()?.gate.enabled => (Switch::On, "the configuration"),
        None => (Switch::Off, ""),
    })
}
