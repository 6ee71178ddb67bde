//! `mainspring gate`: no stop until the agent says the done token itself.

use std::fmt::Write as _;
use std::path::PathBuf;

use mainspring_kernel::authority::Grounds;
use mainspring_kernel::journal::FileChange;
use mainspring_kernel::machines::gate::State;
use mainspring_kernel::machines::gate::verbs::{self, Refused, Switch};
use mainspring_kernel::verbs::Actor;
use mainspring_kernel::{Name, SessionId};
use mainspring_store::{ShownPath as _, atomic};
use serde::Serialize;

use super::session::{self, Named};
use super::{CommandContext, Result};
use crate::error::CliError;
use crate::event_context::EventContext;
use crate::host;
use crate::machine::gate::switch::{self, GateSwitch, Progress, SwitchedBy, Switches};
use crate::machine::gate::{self, counter, token};
use crate::signal::{self, Sighting, Signal};
use crate::transcript::{LastBlock, Transcript};

/// Hold every stop until the agent says its done token.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring gate on --project           every session in this project\n  mainspring gate on --session last      only the most recent session\n  mainspring gate status\n  mainspring gate off --project"
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
        /// the agent's own
        #[arg(long, value_name = session::VALUE)]
        session: Option<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Look for the done token in a transcript: print where it is, or exit with 1
    Check(Check),
}

#[derive(Debug, clap::Args)]
struct Whose {
    /// For every session in this project
    #[arg(long, conflicts_with = "session")]
    project: bool,
    /// Which session: its id, the beginning of it, or `last` for the live one here; default:
    /// the agent's own
    #[arg(long, value_name = session::VALUE)]
    session: Option<String>,
}

#[derive(Debug, clap::Args)]
struct Check {
    /// The session whose token to look for: its id, the beginning of it, or `last` for the live
    /// one here
    #[arg(long, value_name = session::VALUE)]
    session: String,
    /// A transcript, or the agent's final message as text; default: the session's own
    /// transcript
    file: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, cmd: &CommandContext) -> Result {
    match &args.verb {
        Verb::On(whose) => set(cmd, whose, Switch::On),
        Verb::Off(whose) => set(cmd, whose, Switch::Off),
        Verb::Status { session, json } => status(cmd, session.as_deref(), *json),
        Verb::Check(check) => look(cmd, check),
    }
}

fn set(cmd: &CommandContext, whose: &Whose, to: Switch) -> Result {
    let word = to.as_str();
    if whose.project {
        let command = format!("gate {word} --project");
        cmd.may(&command, Grounds::Nothing)?;
        let did = cmd.commit(Name::Gate, &command, |context| {
            let file = switch_project(context, to)?;
            let did =
                format!("the gate is {word} for every session here that has no switch of its own");
            Ok((vec![file], did))
        })?;
        return Ok(format!("{did}\n"));
    }
    let named = session::wanted(cmd, whose.session.as_deref())?;
    let named = named.ok_or(Refused::NoSession(to))?;
    let session = named.id.clone();
    let command = format!("gate {word} --session {session}");
    let place = session::project_of(cmd, &session)?;
    let did = cmd.commit_in(&place, Name::Gate, &command, |context| {
        let switches = Switches::read(context, &session)?;
        let grounds = match (switches.session.switch, switches.session.by) {
            (Some(Switch::On), SwitchedBy::ItsAgent) => Grounds::BegunBy(&session),
            (Some(_) | None, _) => Grounds::Nothing,
        };
        cmd.may(&command, grounds)?;
        switch_session(context, &named, &switches, to)
    })?;
    Ok(format!("{did}\n"))
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
            (after, next, format!("the gate is {word} for {named}"))
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
    session: Option<Session>,
}

#[derive(Serialize)]
struct Session {
    id: SessionId,
    gate: Switch,
    token: String,
}

fn status(cmd: &CommandContext, named: Option<&str>, json: bool) -> Result {
    let named = session::wanted(cmd, named)?;
    let (project, store) = match &named {
        Some(named) => session::project_of(cmd, &named.id)?,
        None => cmd.project()?,
    };
    let context = EventContext::new(&cmd.env, &project, &store, None);
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
                id,
            })
        }
    };
    let view = View {
        project: switch.as_str(),
        by,
        session,
    };
    if json {
        return super::json(&view);
    }
    let mut out = match view.by {
        "" => format!("project  {}\n", view.project),
        by => format!("project  {} (set by {by})\n", view.project),
    };
    if let Some(session) = &view.session {
        let _ = writeln!(out, "session  {} for {}", session.gate.as_str(), session.id);
        let _ = writeln!(out, "token    {}", session.token);
    }
    Ok(out)
}

/// The switch for every session that has none of its own, and what set it.
pub(super) fn everyone(context: &EventContext<'_>) -> Result<(Switch, &'static str)> {
    let (project, _) = switch::project(context)?;
    let enabled = context.config()?.get("gate.enabled");
    Ok(match project.switch {
        Some(Switch::On) => (Switch::On, "`mainspring gate on --project`"),
        Some(Switch::Off) => (Switch::Off, "`mainspring gate off --project`"),
        None if enabled.is_some_and(crate::config::Value::switch) => {
            (Switch::On, "the configuration")
        }
        None => (Switch::Off, ""),
    })
}

fn look(cmd: &CommandContext, check: &Check) -> Result {
    let id = session::of_text(cmd, &check.session)?;
    let (project, store) = session::project_of(cmd, &id)?;
    let config = cmd.config(&project, &store)?;
    let token = token(&config, &id);
    let path = match &check.file {
        Some(file) => cmd.cwd.join(file),
        None => {
            (host::of_environment(&cmd.env).transcript.find)(&cmd.env, &id).ok_or_else(|| {
                CliError::new(format!("no transcript of session {id} was found"))
                    .hint("name the file: `mainspring gate check --session ID FILE`")
            })?
        }
    };
    let shown = path.shown();
    match sighting(cmd, &path, &token)? {
        Sighting::Said { line, .. } => Ok(format!(
            "{} was said: {shown}, line {line} of the final message\n",
            token.line()
        )),
        Sighting::NearMiss(near) => Err(CliError::new(format!(
            "{} was not said in {shown}",
            token.line()
        ))
        .hint(near.to_string())),
        Sighting::Absent => Err(
            CliError::new(format!("{} was not said in {shown}", token.line()))
                .hint("the agent must say it in its final message, on a line of its own"),
        ),
    }
}

/// A transcript is one JSON object per line; anything else is the final message itself.
fn sighting(cmd: &CommandContext, path: &std::path::Path, token: &Signal) -> Result<Sighting> {
    let transcript = Transcript::open(path).map_err(CliError::new)?;
    let entry = host::of_environment(&cmd.env).transcript.entry;
    let tail = transcript
        .tail(entry, LastBlock::None)
        .map_err(CliError::new)?;
    if !tail.final_texts.is_empty() {
        let texts = tail.final_texts.iter().map(String::as_str);
        return Ok(signal::find_last(texts, std::slice::from_ref(token)));
    }
    let bytes = atomic::read(path, crate::limits::STDIN)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let is_transcript = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .is_some_and(|line| serde_json::from_str::<serde_json::Map<_, _>>(line).is_ok());
    if is_transcript {
        return Ok(Sighting::Absent);
    }
    Ok(signal::find(&text, std::slice::from_ref(token)))
}
