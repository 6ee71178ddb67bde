//! `mainspring stop`, `pause`, `resume`: a person's brake. It works without any model.

use std::fmt::Write as _;

use mainspring_kernel::authority::Grounds;
use mainspring_kernel::orders::{Mode, Scope, Until};
use mainspring_kernel::{Millis, Name, Orders};
use mainspring_store::ShownPath as _;

use super::{CommandContext, Result};
use crate::error::CliError;
use crate::orders::{self, OFF_FILE, Recorded};
use crate::project::Project;
use crate::sessions;
use crate::store::ProjectStore;
use crate::timestamp;

/// Stop holding the agent in this project, until `mainspring resume`.
///
/// It works from any terminal, while the agent is at work, and counts from the agent's next
/// stop on. What runs for a machine, such as a reviewer, is ended at once. The machines keep
/// their state. A file `.mainspring-off` in the project does the
/// same without this command.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring stop          everything in this project\n  mainspring stop loop     only the loop"
)]
pub(crate) struct StopArgs {
    /// Only this machine
    #[arg(value_parser = super::records::machine)]
    machine: Option<Name>,
}

/// Stop holding the agent in this project for a while: 90s, 30m, 2h.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  mainspring pause 30m\n  mainspring pause 2h gate")]
pub(crate) struct PauseArgs {
    /// For how long
    #[arg(value_name = "SPAN", value_parser = pause_span)]
    pub(super) span: Millis,
    /// Only this machine
    #[arg(value_parser = super::records::machine)]
    pub(super) machine: Option<Name>,
}

/// A year, which is longer than anybody means.
const LONGEST: Millis = Millis::seconds(365 * 24 * 60 * 60);

fn pause_span(text: &str) -> std::result::Result<Millis, String> {
    match crate::config::span(text)? {
        Millis(0) => Err("a pause of no time changes nothing: write 90s, 30m or 2h".into()),
        span if span > LONGEST => {
            Err("a pause lasts a year at most; `mainspring stop` has no end".into())
        }
        span => Ok(span),
    }
}

/// Undo `mainspring stop` or `mainspring pause`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring resume\n  mainspring resume loop     the rest stays stopped"
)]
pub(crate) struct ResumeArgs {
    /// Only this machine
    #[arg(value_parser = super::records::machine)]
    pub(super) machine: Option<Name>,
}

pub(crate) fn stop(args: &StopArgs, cmd: &CommandContext) -> Result {
    let typed = command("stop", args.machine);
    let said = order(cmd, args.machine, &typed, |orders| {
        let what = match args.machine {
            None => "nothing here holds the agent any more".to_owned(),
            Some(name) => format!("{name} is stopped"),
        };
        let resume = command("resume", args.machine);
        let did = format!("{what}; `mainspring {resume}` undoes this");
        Ok((orders.stopped(scope(args.machine), Until::Resumed), did))
    })?;
    Ok(format!(
        "{said}{}{}",
        but_observed(&cmd.project()?.1)?,
        elsewhere(cmd, &typed)?
    ))
}

pub(crate) fn pause(args: &PauseArgs, cmd: &CommandContext) -> Result {
    let end = cmd.env.now().plus(args.span);
    let typed = command(&format!("pause {}s", args.span.0 / 1_000), args.machine);
    let said = order(cmd, args.machine, &typed, |orders| {
        let what = match args.machine {
            None => "nothing here holds the agent".to_owned(),
            Some(name) => format!("{name} is paused"),
        };
        let (time, resume) = (
            timestamp::until(cmd.env.now(), end),
            command("resume", args.machine),
        );
        let did = format!("{what} until {time}; `mainspring {resume}` ends the pause");
        Ok((orders.stopped(scope(args.machine), Until::At(end)), did))
    })?;
    Ok(format!(
        "{said}{}{}",
        but_observed(&cmd.project()?.1)?,
        elsewhere(cmd, &typed)?
    ))
}

pub(crate) fn resume(args: &ResumeArgs, cmd: &CommandContext) -> Result {
    let (project, _) = cmd.project()?;
    let off = project.file(OFF_FILE);
    if std::fs::symlink_metadata(&off).is_ok() {
        return Err(
            CliError::new(format!("{} switches everything off here", off.shown()))
                .hint("delete that file to go on"),
        );
    }
    let now = cmd.env.now();
    let typed = command("resume", args.machine);
    let said = order(cmd, args.machine, &typed, |orders| {
        let suspended = |name: &Name| orders.suspension(*name, now).is_some();
        let any = match args.machine {
            Some(name) => suspended(&name),
            None => Name::ALL.iter().any(suspended),
        };
        if !any {
            let did = match args.machine {
                Some(name) => format!("{name} is neither stopped nor paused here"),
                None => "nothing is stopped or paused here".into(),
            };
            return Ok((orders, did));
        }
        let what = args.machine.map_or("everything here", Name::as_str);
        let did = format!("{what} is resumed");
        Ok((orders.resumed(scope(args.machine), now), did))
    })?;
    Ok(format!("{said}{}", but_observed(&cmd.project()?.1)?))
}

/// The line for whoever starts something that an order keeps from holding the agent: this machine,
/// or any.
pub(super) fn but_ordered(cmd: &CommandContext, place: &Place, machine: Name) -> Result {
    let but = but_suspended(cmd, place, Some(machine))?;
    if but.is_empty() {
        return but_observed(&place.1);
    }
    Ok(but)
}

type Place = (Project, ProjectStore);

/// The same, for an order that suspends.
pub(super) fn but_suspended(
    cmd: &CommandContext,
    (project, store): &Place,
    machine: Option<Name>,
) -> Result {
    let orders = orders::in_force(project, store)?;
    let holds = |until: &Until| until.holds(cmd.env.now());
    let one = machine.and_then(|name| Some((name, *orders.machines.get(&name)?)));
    let one = one.filter(|(_, until)| holds(until));
    let everything = orders.everything.filter(holds);
    let (what, resume, until) = match (everything, one) {
        (Some(until), _) => ("everything", command("resume", None), until),
        (None, Some((name, until))) => (name.as_str(), command("resume", Some(name)), until),
        (None, None) => return Ok(String::new()),
    };
    Ok(match until {
        Until::Resumed => {
            format!("but {what} is stopped here: `mainspring {resume}` undoes that\n")
        }
        Until::At(end) => format!(
            "but {what} is paused here until {}: `mainspring {resume}` ends the pause\n",
            timestamp::until(cmd.env.now(), end)
        ),
        Until::FileGone => format!(
            "but {} switches everything off here: delete that file to go on\n",
            project.file(OFF_FILE).shown()
        ),
    })
}

/// The same, while the project is only observed: `resume` does not end that.
fn but_observed(store: &ProjectStore) -> Result {
    Ok(match Recorded::load(store)?.orders.mode {
        Mode::Act => String::new(),
        Mode::Observe => {
            "but Mainspring only observes here: no stop is held until `mainspring observe off`\n"
                .into()
        }
    })
}

/// Changes this project's orders. Only a person may: an agent could otherwise release its own
/// brake, or apply it in order to be let go.
pub(super) fn order(
    cmd: &CommandContext,
    machine: Option<Name>,
    command: &str,
    change: impl FnOnce(Orders) -> Result<(Orders, String)>,
) -> Result {
    cmd.may(command, Grounds::Nothing)?;
    let did = cmd.commit(machine, command, |context| {
        let recorded = Recorded::load(context.store)?;
        let (orders, did) = change(recorded.orders.clone())?;
        Ok((vec![recorded.change(&orders)?], did))
    })?;
    Ok(format!("{did}\n"))
}

/// A line for each live session that began in this project and works for another one; where no
/// live session works for this one, for each of all the others: the order does not reach them.
fn elsewhere(cmd: &CommandContext, typed: &str) -> Result {
    let (here, store) = cmd.project()?;
    let state = store.state();
    let live: Vec<_> = sessions::live(&cmd.env, state)
        .into_iter()
        .filter_map(|session| Some((sessions::project_of(&cmd.env, state, &session)?, session)))
        .collect();
    let is_here = live.iter().any(|(project, _)| project.root == here.root);
    let mut lines = String::new();
    for (project, session) in live {
        let began_here = session.folder.starts_with(&here.root);
        let where_it_is = match (project.root == here.root, began_here) {
            (false, true) => "began here and works for",
            // The agent may have gone to this folder from another project.
            (false, false) if !is_here => "is live, and works for",
            (false, false) | (true, _) => continue,
        };
        let root = project.root.shown();
        let _ = writeln!(
            lines,
            "session {} {where_it_is} {root}: `cd {root} && mainspring {typed}` reaches it",
            session.id,
        );
    }
    Ok(lines)
}

fn scope(machine: Option<Name>) -> Scope {
    machine.map_or(Scope::Everything, Scope::Machine)
}

fn command(verb: &str, machine: Option<Name>) -> String {
    machine.map_or_else(|| verb.to_owned(), |name| format!("{verb} {name}"))
}
