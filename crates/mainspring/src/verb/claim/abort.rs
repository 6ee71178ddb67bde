//! `mainspring claim abort`: give the issue back.

use mainspring_kernel::Name;
use mainspring_kernel::machines::claim::claim_file::status;
use mainspring_kernel::machines::claim::verbs;
use mainspring_kernel::machines::claim::work::{Board as Moved, Release};

use super::{CommandContext, Result, github_context};
use crate::event_context::EventContext;
use crate::machine::claim::github_context::GitHubContext;
use crate::machine::claim::{self, Change};

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
    let mut held = memory.lease.is_some();
    // If the server cannot be reached, the claim is given up here all the same.
    match github_context(&context) {
        Err(error) => warnings.push(error.cause),
        Ok(github_context) => {
            put_back(&github_context, issue, &mut warnings);
            let lease = memory.lease.as_ref();
            match claim::release(&github_context, issue, lease, &memory.route.claims) {
                Release::NotHeld | Release::Released => held = false,
                // Somebody else's claim is not ours to give back.
                Release::Failed(cause) => {
                    held = !cause.ends_with("has taken it over");
                    warnings.push(format!(
                        "the claim on the git server was not released: {cause}"
                    ));
                }
            }
        }
    }
    let did = cmd.commit(Name::Claim, "claim abort", |context| {
        let (state, found) = claim::state(context)?;
        let files = claim::changes(&found, &state, &verbs::abort(&state, held)?.state)?;
        Ok((files, format!("issue #{issue} is no longer claimed")))
    })?;
    if held {
        warnings.push(format!(
            "it is tried again at the next stop, or with `mainspring claim release {issue}`"
        ));
    }
    let lines: Vec<String> = warnings
        .iter()
        .map(|text| format!("warning: {text}\n"))
        .collect();
    Ok(format!("{did}\n{}", lines.concat()))
}

/// Card to Todo, without an agent; assignment removed.
fn put_back(github_context: &GitHubContext, issue: u64, warnings: &mut Vec<String>) {
    let found = match github_context.find(issue) {
        Ok(found) => found,
        Err(fault) => return warnings.push(fault.cause),
    };
    let mut change = Change::default();
    if let Some(seen) = &found.issue {
        change.unassign(&seen.id, &found.me);
    }
    change.card(&found.board, github_context.columns.name(status::TODO), "");
    match change.apply(&github_context.github()).board() {
        Moved::Moved | Moved::MovedOnly(_) | Moved::Off => {}
        Moved::Lacks(cause) | Moved::Unreachable(cause) => {
            warnings.push(format!("the board was not updated: {cause}"));
        }
    }
}
