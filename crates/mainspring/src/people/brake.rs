//! `mainspring stop`, `pause`, `resume`, `observe`: a person's brake. It works without any model.

use std::fmt::Write as _;

use mainspring_kernel::authority::Grounds;
use mainspring_kernel::orders::{Mode, Order, Scope, Until};
use mainspring_kernel::{Millis, Name, Orders};
use mainspring_store::ShownPath as _;

use crate::command::{CommandContext, Result};
use crate::error::CliError;
use crate::people::orders::{self, OFF_FILE, Recorded};
use crate::people::sessions;
use crate::project::Project;
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
    #[arg(value_parser = orders::machine)]
    machine: Option<Name>,
}

/// Stop holding the agent in this project for a while: 90s, 30m, 2h.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  mainspring pause 30m\n  mainspring pause 2h gate")]
pub(crate) struct PauseArgs {
    /// For how long
    #[arg(value_name = "SPAN", value_parser = orders::pause_span)]
    pub(crate) span: Millis,
    /// Only this machine
    #[arg(value_parser = orders::machine)]
    pub(crate) machine: Option<Name>,
}

/// Undo `mainspring stop` or `mainspring pause`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring resume\n  mainspring resume loop     the rest stays stopped"
)]
pub(crate) struct ResumeArgs {
    /// Only this machine
    #[arg(value_parser = orders::machine)]
    pub(crate) machine: Option<Name>,
}

pub(crate) fn stop(args: &StopArgs, cmd: &CommandContext) -> Result {
    give(Order::Stop(scope(args.machine)), cmd)
}

pub(crate) fn pause(args: &PauseArgs, cmd: &CommandContext) -> Result {
    give(Order::Pause(scope(args.machine), args.span), cmd)
}

pub(crate) fn resume(args: &ResumeArgs, cmd: &CommandContext) -> Result {
    give(Order::Resume(scope(args.machine)), cmd)
}

/// Carries out an order, whoever brings it.
pub(crate) fn give(order: Order, cmd: &CommandContext) -> Result {
    match order {
        Order::Stop(_) | Order::Pause(..) => brake(order, cmd),
        Order::Resume(_) => release(order, cmd),
    }
}

fn brake(given: Order, cmd: &CommandContext) -> Result {
    let now = cmd.env.now();
    let typed = orders::command(given);
    let said = order(cmd, orders::machine_of(given), &typed, |orders| {
        Ok((orders.after(given, now), orders::effect(given, now)))
    })?;
    Ok(format!(
        "{said}{}{}",
        but_observed(&cmd.project()?.1)?,
        elsewhere(cmd, &typed)?
    ))
}

fn release(given: Order, cmd: &CommandContext) -> Result {
    let (project, _) = cmd.project()?;
    let off = project.file(OFF_FILE);
    if std::fs::symlink_metadata(&off).is_ok() {
        return Err(
            CliError::refused(format!("{} switches everything off here", off.shown()))
                .hint("delete that file to go on"),
        );
    }
    let now = cmd.env.now();
    let machine = orders::machine_of(given);
    let said = order(cmd, machine, &orders::command(given), |orders| {
        let suspended = |name: &Name| orders.suspension(*name, now).is_some();
        let any = match machine {
            Some(name) => suspended(&name),
            None => Name::ALL.iter().any(suspended),
        };
        if !any {
            let did = match machine {
                Some(name) => format!("{name} is neither stopped nor paused here"),
                None => "nothing is stopped or paused here".into(),
            };
            return Ok((orders, did));
        }
        Ok((orders.after(given, now), orders::effect(given, now)))
    })?;
    Ok(format!("{said}{}", but_observed(&cmd.project()?.1)?))
}

/// The line for whoever starts something that an order keeps from holding the agent: this machine,
/// or any.
pub(crate) fn but_ordered(cmd: &CommandContext, place: &Place, machine: Name) -> Result {
    let but = but_suspended(cmd, place, Some(machine))?;
    if but.is_empty() {
        return but_observed(&place.1);
    }
    Ok(but)
}

type Place = (Project, ProjectStore);

/// The same, for an order that suspends.
fn but_suspended(cmd: &CommandContext, (project, store): &Place, machine: Option<Name>) -> Result {
    let orders = orders::in_force(project, store)?;
    let holds = |until: &Until| until.holds(cmd.env.now());
    let one = machine.and_then(|name| Some((name, *orders.machines.get(&name)?)));
    let one = one.filter(|(_, until)| holds(until));
    let everything = orders.everything.filter(holds);
    let (what, scope, until) = match (everything, one) {
        (Some(until), _) => ("everything", Scope::Everything, until),
        (None, Some((name, until))) => (name.as_str(), Scope::Machine(name), until),
        (None, None) => return Ok(String::new()),
    };
    let resume = orders::command(Order::Resume(scope));
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
fn order(
    cmd: &CommandContext,
    machine: Option<Name>,
    command: &str,
    change: impl FnOnce(Orders) -> Result<(Orders, String)>,
) -> Result {
    cmd.may(command, Grounds::Nothing)?;
    let did = cmd.commit(machine, command, |context| {
        let recorded = Recorded::load(&context.store)?;
        let (orders, did) = change(recorded.orders.clone())?;
        Ok((vec![recorded.change(&orders)?], did))
    })?;
    Ok(format!("{did}\n"))
}

/// Only watch: hold no stop, start nothing, and record what would have happened.
///
/// Every stop is decided as usual, but the agent is always let go. `mainspring why` and
/// `mainspring log` show when it would have been held, and why. The machines keep their state
/// as it is, so each stop is judged as if it were the first.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring observe         nothing is held or started from now on\n  mainspring observe off     the machines act again"
)]
pub(crate) struct ObserveArgs {
    #[arg(value_enum, default_value_t = Switch::On)]
    switch: Switch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Switch {
    On,
    /// Let the machines act again
    Off,
}

pub(crate) fn observe(args: &ObserveArgs, cmd: &CommandContext) -> Result {
    let but = but_suspended(cmd, &cmd.project()?, None)?;
    let (mode, command, did) = match args.switch {
        Switch::On => (
            Mode::Observe,
            "observe",
            "only observing: no stop is held, and `mainspring log` shows what would have happened",
        ),
        Switch::Off if but.is_empty() => (Mode::Act, "observe off", "the machines act"),
        Switch::Off => (Mode::Act, "observe off", "no longer only observing"),
    };
    let said = order(cmd, None, command, |orders| {
        Ok((Orders { mode, ..orders }, did.into()))
    })?;
    Ok(format!("{said}{but}"))
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
