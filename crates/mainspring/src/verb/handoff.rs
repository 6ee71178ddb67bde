//! `mainspring handoff`: the claimed work is ready for a pull request.

use std::time::{Duration, Instant};

use mainspring_kernel::Name;
use mainspring_kernel::machines::claim::verbs;
use mainspring_kernel::machines::verbs::Actor;
use mainspring_store::Trouble;

use super::{CommandContext, Result};
use crate::error::CliError;
use crate::event_context::EventContext;
use crate::git::Git;
use crate::machine::claim;
use crate::machine::claim::github_context;
use crate::permit::Permit;

/// Hand over the claimed work: Mainspring opens its pull request at the agent's next stop.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring handoff --summary \"Fix the race in the cache\" --push"
)]
pub(crate) struct Args {
    /// What the change does: the first line is the pull request's title
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    summary: String,
    /// Push the branch first; the repository's own git hooks run
    #[arg(long)]
    push: bool,
}

/// How long a push may take.
const PUSH_LIMIT: Duration = Duration::from_secs(300);

pub(crate) fn run(args: &Args, cmd: &CommandContext) -> Result {
    if args.push {
        cmd.permit(Name::Claim)?;
    }
    let actor = cmd.actor();
    if args.push {
        let (project, store) = cmd.project()?;
        let context = EventContext::new(&cmd.env, &project, &store, None);
        let (state, _) = claim::state(&context)?;
        // Do not push what would then be refused.
        verbs::handoff(&state, &args.summary, &actor)?;
        push(&context, &verbs::claimed(&state)?.0.branch)?;
    }
    let did = cmd.commit(Name::Claim, "handoff", |context| {
        let (state, found) = claim::state(context)?;
        let step = verbs::handoff(&state, &args.summary, &actor)?;
        let issue = verbs::claimed(&state)?.0.issue_number;
        let files = claim::changes(&found, &state, &step.state)?;
        Ok((
            files,
            format!("issue #{issue} is ready for its pull request"),
        ))
    })?;
    Ok(match actor {
        Actor::Agent(_) => format!("{did}: Mainspring opens it when you stop\n"),
        Actor::Person => format!("{did}: Mainspring opens it at the agent's next stop\n"),
    })
}

fn push(context: &EventContext<'_>, branch: &str) -> Result<()> {
    let remote = github_context::remote(context.config()?).map_err(CliError::new)?;
    let permit = Permit::of(context, Name::Claim).map_err(Trouble::from)?;
    Git::of(context, permit, Instant::now() + PUSH_LIMIT)?
        .push_branch(&remote, branch)
        .map_err(CliError::new)
}
