//! `mainspring debug`: for whoever looks into Mainspring itself.

mod myself;
mod replay;
mod simulate;
mod state;

use crate::command::{CommandContext, Result};

/// Look into Mainspring itself: the program, what it keeps, and its decisions.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring debug self     this program, and where it is registered\n  mainspring debug state    what is kept for each project"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Simulate(simulate::Args),
    Replay(replay::Args),
    State(state::Args),
    #[command(name = "self")]
    Myself(myself::Args),
}

pub(crate) fn run(args: &Args, cmd: &CommandContext) -> Result {
    match &args.verb {
        Verb::Simulate(args) => simulate::run(args, cmd),
        Verb::Replay(args) => replay::run(args, cmd),
        Verb::State(args) => state::run(args, cmd),
        Verb::Myself(args) => myself::run(args, cmd),
    }
}
