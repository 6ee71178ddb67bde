//! `mainspring check`: what the checks have shown, and what they would.

mod attest;
mod checkout;
mod init;
mod log;
mod prove;
mod run;
mod verify;
mod view;

use mainspring_kernel::Name;
use mainspring_store::Trouble;

use super::{CommandContext, Result};
use crate::event_context::EventContext;
use crate::permit::Permit;

/// Show the checks that you trusted: which passed over this very tree, which did not, and when.
///
/// A check is a command in `mainspring.toml`, such as the tests. It runs when the agent stops; while
/// it is red, the agent is kept going.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:\n  mainspring check init          propose checks for this project\n  mainspring check run tests     run one now\n  mainspring check log tests     what it printed\n  mainspring check --attest checks.json"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    view: view::ViewArgs,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Init(init::Args),
    Run(run::Args),
    Log(log::Args),
    Prove(prove::Args),
    Verify(verify::Args),
}

pub(crate) fn run(args: &Args, cmd: &CommandContext) -> Result {
    match &args.verb {
        None => view::run(&args.view, cmd),
        Some(Verb::Init(args)) => init::run(args, cmd),
        Some(Verb::Run(args)) => run::run(args, cmd),
        Some(Verb::Log(args)) => log::run(args, cmd),
        Some(Verb::Prove(args)) => prove::run(args, cmd),
        Some(Verb::Verify(args)) => verify::run(args, cmd),
    }
}

fn permit(context: &EventContext<'_>) -> Result<Permit> {
    Ok(Permit::of(context, Name::Check).map_err(Trouble::from)?)
}
