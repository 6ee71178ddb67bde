//! `mainspring claim`: claim an issue, show the claim, finish it or give it back.

mod abort;
mod done;
mod status;
mod take;
pub(crate) mod watch;

use mainspring_kernel::{Millis, Name};
use mainspring_store::Trouble;

use super::{CommandContext, Result};
use crate::error::CliError;
use crate::event_context::EventContext;
use crate::machine::claim::github_context::{ContextError, GitHubContext};
use crate::permit::Permit;

/// Claim an issue for this checkout; Mainspring then opens its pull request, watches the checks
/// and closes the issue.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:\n  mainspring claim 42              take issue 42, on a branch made from its title\n  mainspring claim status --now\n  mainspring claim done            when it is merged and the user said yes\n  mainspring claim abort           give it back"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    take: take::Args,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Status(status::Args),
    Done(done::Args),
    Abort(abort::Args),
    /// Wait for news of the pull request; hosts run this in the background
    Watch,
}

pub(crate) fn run(args: &Args, cmd: &CommandContext) -> Result {
    match &args.verb {
        None => take::run(&args.take, cmd),
        Some(Verb::Status(args)) => status::run(args, cmd),
        Some(Verb::Done(args)) => done::run(args, cmd),
        Some(Verb::Abort(args)) => abort::run(args, cmd),
        Some(Verb::Watch) => Err(CliError::new("`mainspring claim watch` takes no arguments")),
    }
}

/// How long a command may wait for GitHub.
const LIMIT: Millis = Millis::seconds(60);

fn github_context(context: &EventContext<'_>) -> Result<GitHubContext> {
    let permit = Permit::of(context, Name::Claim).map_err(Trouble::from)?;
    GitHubContext::open(context, permit, LIMIT).map_err(|none| match none {
        ContextError::Remote(why) => CliError::new(why)
            .hint("`git remote -v` lists the remotes; `remote` under `[claim]` in mainspring.toml names the one to use"),
        ContextError::Trouble(trouble) => trouble.into(),
    })
}
