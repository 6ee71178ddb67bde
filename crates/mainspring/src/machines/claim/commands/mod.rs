//! `mainspring claim`: claim an issue, show the claim, finish it or give it back.

mod abort;
mod again;
mod done;
pub(crate) mod handoff;
mod list;
mod release;
mod repair;
mod status;
mod take;
pub(crate) mod watch;

use mainspring_kernel::machines::claim::news::Look;
use mainspring_kernel::machines::claim::pull::Pull;
use mainspring_kernel::machines::claim::work::Fault;
use mainspring_kernel::machines::claim::{State, verbs};
use mainspring_kernel::{Millis, Name};
use mainspring_store::{ShownPath as _, Trouble};

use crate::command::{CommandContext, Result};
use crate::context::EventContext;
use crate::error::CliError;
use crate::machines::claim;
use crate::machines::claim::github_context::{ContextError, GitHubContext};

/// Claim an issue for this checkout; Mainspring then opens its pull request, watches the checks
/// and closes the issue.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:\n  mainspring claim 42              take issue 42, and switch to a branch made from its title\n  mainspring claim status --now\n  mainspring claim list            who has which issue, as the git server knows it\n  mainspring claim done            when it is merged and the user said yes\n  mainspring claim abort           give it back"
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
    List(list::Args),
    Done(done::Args),
    Retry(again::Retry),
    Rework(again::Rework),
    Abort(abort::Args),
    Release(release::Args),
    Repair(repair::Args),
    /// Wait for news of the pull request; hosts run this in the background
    Watch,
}

pub(crate) fn run(args: &Args, cmd: &CommandContext) -> Result {
    match &args.verb {
        None => take::run(&args.take, cmd),
        Some(Verb::Status(args)) => status::run(args, cmd),
        Some(Verb::List(args)) => list::run(args, cmd),
        Some(Verb::Done(args)) => done::run(args, cmd),
        Some(Verb::Retry(_)) => again::retry(cmd),
        Some(Verb::Rework(_)) => again::rework(cmd),
        Some(Verb::Release(args)) => release::run(args, cmd),
        Some(Verb::Repair(args)) => repair::run(args, cmd),
        Some(Verb::Abort(args)) => abort::run(args, cmd),
        Some(Verb::Watch) => Err(CliError::usage(
            "`mainspring claim watch` takes no arguments",
        )),
    }
}

/// Records what a look at the pull request saw. Returns the text that the agent has now read.
fn take_in(
    cmd: &CommandContext,
    command: &str,
    pull: &Pull,
    phrases: &[String],
) -> Result<Option<String>> {
    let (actor, now) = (cmd.actor(), cmd.env.later());
    let look = Look { pull, now, phrases };
    let context = cmd.context()?;
    // If nothing changed, there is no record.
    if verbs::look(&claim::state(&context)?.0, look, &actor)?
        .0
        .rule
        .is_empty()
    {
        return Ok(None);
    }
    let mut told = None;
    commit(cmd, command, |state| {
        let (step, text) = verbs::look(state, look, &actor)?;
        told = text;
        let did = format!("PR #{}: {}", pull.number, status::words(pull));
        Ok((step.state, did))
    })?;
    Ok(told)
}

/// Takes a step of the claim, under the lock. `step` returns the next state, and what was done.
fn commit(
    cmd: &CommandContext,
    command: &str,
    step: impl FnOnce(&State) -> Result<(State, String)>,
) -> Result {
    cmd.commit(Name::Claim, command, |context| {
        let (state, found) = claim::state(context)?;
        let (next, did) = step(&state)?;
        Ok((claim::changes(&found, &state, &next)?, did))
    })
}

impl From<Fault> for CliError {
    fn from(fault: Fault) -> Self {
        Self::new(fault.cause)
    }
}

/// How long a command may wait for GitHub.
const LIMIT: Millis = Millis::seconds(60);

fn is_repository(context: &EventContext<'_>) -> bool {
    let mut folders = context.root().ancestors();
    folders.any(|folder| folder.join(".git").exists())
}

fn github_context(context: &EventContext<'_>) -> Result<GitHubContext> {
    let permit = context.permit(Name::Claim).map_err(Trouble::from)?;
    GitHubContext::open(context, permit, LIMIT).map_err(|none| match none {
        ContextError::Remote(_) if !is_repository(context) => {
            CliError::not_found(format!("{} is no git repository", context.root().shown()))
                .hint("run it in a clone of the repository that has the issue")
        }
        ContextError::Remote(why) => CliError::not_found(why)
            .hint("`git remote -v` lists the remotes; `remote` under `[claim]` in mainspring.toml names the one to use"),
        ContextError::Trouble(trouble) => trouble.into(),
    })
}
