//! `mainspring check`: what the checks have shown, and what they would.

mod init;
mod log;
mod prove;
mod run;
mod verify;
mod view;

use mainspring_kernel::Name;
use mainspring_kernel::machines::check::verbs::Refused;
use mainspring_store::Trouble;

use crate::children::permit::Permit;
use crate::command::{CommandContext, Result};
use crate::context::EventContext;
use crate::people::trust::{Proposal, TrustedChecks};

/// Show the checks that you trusted: which passed over this very tree, which did not, and when.
///
/// A check is a command in `mainspring.toml`, such as the tests. It runs when the agent stops; while
/// it is red, the agent is kept going.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:\n  mainspring check init          propose checks for this project\n  mainspring check run tests     run one now\n  mainspring check log tests     what it printed"
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

/// The checks that a person trusted. If there is none, the error says what to do.
fn trusted(context: &EventContext<'_>) -> Result<TrustedChecks> {
    let root = context.root();
    let checks = context.permission().checks(root)?;
    if !checks.definitions.is_empty() {
        return Ok(checks);
    }
    let proposal = Proposal::of(context.env, context.store.state(), root)?;
    let waiting = proposal.checks(root).into_iter().map(|check| check.name);
    let waiting: Vec<String> = waiting.collect();
    Err(if waiting.is_empty() {
        Refused::NoChecks.into()
    } else {
        Refused::Waiting(waiting).into()
    })
}

fn permit(context: &EventContext<'_>) -> Result<Permit> {
    Ok(context.permit(Name::Check).map_err(Trouble::from)?)
}
