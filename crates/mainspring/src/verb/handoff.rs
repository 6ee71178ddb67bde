//! `mainspring handoff`: the claimed work is ready for a pull request.

use mainspring_kernel::Name;
use mainspring_kernel::machines::claim::verbs;
use mainspring_kernel::machines::verbs::Actor;

use super::{CommandContext, Result};
use crate::error::CliError;
use crate::event_context::EventContext;
use crate::machine::claim;
use crate::machine::claim::programs::{Hooks, Programs, said};

/// Hand the claimed work over: its pull request is opened at the agent's next stop.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring handoff --summary \"Fix the race in the cache\" --push"
)]
pub(crate) struct Args {
    /// What the change does: the first line is the pull request's title
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    summary: String,
    /// Push the branch first, with the repository's own hooks
    #[arg(long)]
    push: bool,
}

/// A push may take this long.
const PUSH_LIMIT: mainspring_kernel::Millis = mainspring_kernel::Millis::seconds(300);

pub(crate) fn run(args: &Args, cmd: &CommandContext) -> Result {
    let actor = cmd.actor();
    if args.push {
        let (project, store) = cmd.project()?;
        let context = EventContext::new(&cmd.env, &project, &store, None);
        let (state, _) = claim::state(&context)?;
        // What is refused is not pushed.
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
        Actor::Agent(_) => format!("{did}: it is opened when you stop\n"),
        Actor::Person => format!("{did}: it is opened at the agent's next stop\n"),
    })
}

fn push(context: &EventContext<'_>, branch: &str) -> Result<()> {
    let programs = Programs::of(context, PUSH_LIMIT)?;
    let remote = context
        .config()?
        .get("claim.remote")
        .and_then(crate::config::Value::text);
    let remote = remote.unwrap_or("origin");
    let refspec = format!("refs/heads/{branch}:refs/heads/{branch}");
    let pushed = programs
        .git_with(
            &["push", "--quiet", "--set-upstream", remote, &refspec],
            Hooks::On,
            &[],
        )
        .map_err(CliError::new)?;
    said(&pushed)
        .map(drop)
        .map_err(|cause| CliError::new(format!("git push: {cause}")))
}
