//! `mainspring claim abort`: give the issue back.

use mainspring_kernel::Name;
use mainspring_kernel::machines::claim::claim_file::status;
use mainspring_kernel::machines::claim::verbs;
use mainspring_kernel::machines::claim::work::Board as Moved;

use super::{CommandContext, Result, github_context};
use crate::event_context::EventContext;
use crate::machine::claim::{self, Change, lease, query};

/// Give the issue back: move its card to Todo, remove assignment and claim; branch, commits and
/// pull request stay.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(_: &Args, cmd: &CommandContext) -> Result {
    cmd.permit(Name::Claim)?;
    let (project, store) = cmd.project()?;
    let context = EventContext::new(&cmd.env, &project, &store, None);
    let (claim, memory) = verbs::claimed(&claim::state(&context)?.0)?;
    let issue = claim.issue_number;
    let mut warnings = Vec::new();
    // If the server cannot be reached, the claim is given up here all the same.
    match github_context(&context) {
        Err(error) => warnings.push(error.cause),
        Ok(github_context) => {
            match query::find(
                &github_context.github(),
                issue,
                "",
                github_context.board.as_ref(),
            ) {
                Err(fault) => warnings.push(fault.cause),
                Ok(found) => {
                    let mut change = Change::default();
                    if let Some(seen) = &found.issue {
                        change.unassign(&seen.id, &found.me);
                    }
                    change.card(&found.board, status::TODO, "");
                    match change.apply(&github_context.github()).board() {
                        Moved::Moved | Moved::Off => {}
                        Moved::Lacks(cause) | Moved::Unreachable(cause) => {
                            warnings.push(format!("the board was not updated: {cause}"));
                        }
                    }
                }
            }
            if let Some(commit) = &memory.lease
                && let Err(cause) = lease::release(
                    &github_context.programs.git,
                    &github_context.remote,
                    issue,
                    commit,
                )
            {
                warnings.push(format!(
                    "the claim on the git server was not released: {cause}"
                ));
            }
        }
    }
    let did = cmd.commit(Name::Claim, "claim abort", |context| {
        let (state, found) = claim::state(context)?;
        let files = claim::changes(&found, &state, &verbs::abort(&state)?.state)?;
        Ok((files, format!("issue #{issue} is no longer claimed")))
    })?;
    let lines: Vec<String> = warnings
        .iter()
        .map(|text| format!("warning: {text}\n"))
        .collect();
    Ok(format!("{did}\n{}", lines.concat()))
}
