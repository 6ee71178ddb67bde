//! `mainspring handoff`: the claimed work is ready for a pull request.

use mainspring_kernel::machines::claim::State;
use mainspring_kernel::machines::claim::memory::ClaimMemory;
use mainspring_kernel::machines::claim::phase::Phase;
use mainspring_kernel::machines::claim::work::Open;

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
    let (project, store) = cmd.project()?;
    let context = EventContext::new(&cmd.env, &project, &store, None);
    let (mut claim, _) = super::claim::claimed(&claim::state(&context)?.0)?;
    claim.summary.clone_from(&args.summary);
    Open::of(&claim).map_err(|lack| CliError::new(lack.advice(&claim)))?;
    if args.push {
        push(&context, &claim.branch)?;
    }
    let session = cmd.env.agent_session();
    let did = cmd.commit("handoff", |context| {
        let (state, found) = claim::state(context)?;
        let (mut claim, memory) = super::claim::claimed(&state)?;
        claim.summary.clone_from(&args.summary);
        claim.phase = Phase::ReadyForPr;
        let issue = claim.issue_number;
        let memory = ClaimMemory {
            owner: session.clone().or(memory.owner.clone()),
            lacking: None,
            ..memory
        };
        let next = State::Claimed { claim, memory };
        let files = claim::changes(&found, &state, &next)?;
        Ok((
            files,
            format!("issue #{issue} is ready for its pull request"),
        ))
    })?;
    Ok(match session {
        Some(_) => format!("{did}: it is opened when you stop\n"),
        None => format!("{did}: it is opened at the agent's next stop\n"),
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
