//! `mainspring handoff`: the claimed work is ready for a pull request.

use mainspring_kernel::machines::claim::State;
use mainspring_kernel::machines::claim::memo::Memo;
use mainspring_kernel::machines::claim::phase::Phase;
use mainspring_kernel::machines::claim::work::Open;

use super::{Desk, Result};
use crate::error::CliError;
use crate::machine::claim;
use crate::machine::claim::programs::{Hooks, Programs, said};
use crate::scene::Scene;

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

pub(crate) fn run(args: &Args, desk: &Desk) -> Result {
    let (site, store) = desk.site()?;
    let scene = Scene::new(&desk.world, &site, &store, None);
    let (mut signal, _) = super::claim::claimed(&claim::state(&scene)?.0)?;
    signal.summary.clone_from(&args.summary);
    Open::of(&signal).map_err(|lack| CliError::new(lack.advice(&signal)))?;
    if args.push {
        push(&scene, &signal.branch)?;
    }
    let session = desk.world.agent_session();
    let did = desk.commit("handoff", |scene| {
        let (state, found) = claim::state(scene)?;
        let (mut signal, memo) = super::claim::claimed(&state)?;
        signal.summary.clone_from(&args.summary);
        signal.phase = Phase::ReadyForPr;
        let issue = signal.issue_number;
        let memo = Memo {
            owner: session.clone().or(memo.owner.clone()),
            lacking: None,
            ..memo
        };
        let next = State::Claimed { signal, memo };
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

fn push(scene: &Scene<'_>, branch: &str) -> Result<()> {
    let programs = Programs::of(scene, PUSH_LIMIT)?;
    let remote = scene
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
