//! `mainspring stop`, `pause`, `resume`: the human's brake. No model is in its path.

use mainspring_kernel::orders::{Scope, Until};
use mainspring_kernel::{Millis, Name, Orders};
use mainspring_store::ShownPath as _;

use super::{CommandContext, Result, timestamp};
use crate::error::CliError;
use crate::store::orders::{OFF_FILE, Recorded};

/// Let everything here go at the agent's next stop, until `mainspring resume`.
///
/// Works from any terminal, while the agent works. What the machines remember is kept. To
/// switch a project off without us: create a file `.mainspring-off` in it.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring stop          everything in this project\n  mainspring stop loop     only the loop"
)]
pub(crate) struct StopArgs {
    /// Only this machine
    #[arg(value_parser = super::records::machine)]
    machine: Option<Name>,
}

/// Let everything here go for a while: 90s, 30m, 2h.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  mainspring pause 30m\n  mainspring pause 2h gate")]
pub(crate) struct PauseArgs {
    /// For how long
    #[arg(value_name = "SPAN", value_parser = crate::config::span)]
    span: Millis,
    /// Only this machine
    #[arg(value_parser = super::records::machine)]
    machine: Option<Name>,
}

/// Go on with what was stopped or paused.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring resume\n  mainspring resume loop     the rest stays stopped"
)]
pub(crate) struct ResumeArgs {
    /// Only this machine
    #[arg(value_parser = super::records::machine)]
    machine: Option<Name>,
}

pub(crate) fn stop(args: &StopArgs, cmd: &CommandContext) -> Result {
    let command = command("stop", args.machine);
    order(cmd, args.machine, &command, |orders| {
        let did = format!(
            "{} lets go from the next stop on; `mainspring resume` goes on",
            subject(args.machine)
        );
        Ok((orders.stopped(scope(args.machine), Until::Resumed), did))
    })
}

pub(crate) fn pause(args: &PauseArgs, cmd: &CommandContext) -> Result {
    let end = cmd.env.now().plus(args.span);
    let command = command(&format!("pause {}s", args.span.0 / 1_000), args.machine);
    order(cmd, args.machine, &command, |orders| {
        let did = format!("{} lets go until {}", subject(args.machine), timestamp(end));
        Ok((orders.stopped(scope(args.machine), Until::At(end)), did))
    })
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
    let command = command("resume", args.machine);
    order(cmd, args.machine, &command, |orders| {
        let braked = |name: &Name| orders.brake(*name, now).is_some();
        let any = match args.machine {
            Some(name) => braked(&name),
            None => Name::ALL.iter().any(braked),
        };
        if !any {
            let cause = match args.machine {
                Some(name) => format!("{name} is neither stopped nor paused here"),
                None => "nothing is stopped or paused here".into(),
            };
            return Err(CliError::new(cause).hint("`mainspring status` shows what is going on"));
        }
        let did = format!(
            "{} is asked again from the next stop on",
            subject(args.machine)
        );
        Ok((orders.resumed(scope(args.machine), now), did))
    })
}

/// Changes this project's orders, as a person only: an agent that may take its own brake
/// off, or put it on to be let go, has none.
pub(super) fn order(
    cmd: &CommandContext,
    machine: Option<Name>,
    command: &str,
    change: impl FnOnce(Orders) -> Result<(Orders, String)>,
) -> Result {
    cmd.person_only("give orders", command)?;
    let did = cmd.commit(machine, command, |context| {
        let recorded = Recorded::load(context.store)?;
        let (orders, did) = change(recorded.orders.clone())?;
        Ok((vec![recorded.change(&orders)?], did))
    })?;
    Ok(format!("{did}\n"))
}

fn scope(machine: Option<Name>) -> Scope {
    machine.map_or(Scope::Everything, Scope::Machine)
}

fn subject(machine: Option<Name>) -> String {
    machine.map_or_else(|| "everything here".into(), |name| name.to_string())
}

fn command(verb: &str, machine: Option<Name>) -> String {
    machine.map_or_else(|| verb.to_owned(), |name| format!("{verb} {name}"))
}
