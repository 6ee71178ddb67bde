//! `mainspring claim abort`: give the issue back.

use mainspring_kernel::Name;
use mainspring_kernel::hidden::{escape_name, quote};
use mainspring_kernel::machines::claim::claim_file::{ClaimFile, status};
use mainspring_kernel::machines::claim::memory::ClaimMemory;
use mainspring_kernel::machines::claim::verbs;
use mainspring_kernel::machines::claim::work::{CardMove, Release};

use super::{CommandContext, Result, commit, github_context};
use crate::machines::claim::github_context::GitHubContext;
use crate::machines::claim::{self, Change};

/// Give the issue back: move its card to Todo, remove assignment and claim; branch, commits and
/// pull request stay.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(_: &Args, cmd: &CommandContext) -> Result {
    cmd.permit(Name::Claim)?;
    let context = cmd.context()?;
    // What is refused changes nothing, here or elsewhere.
    let state = claim::state(&context)?.0;
    let (claim, memory) = verbs::claimed(&state)?;
    let mut warnings = Vec::new();
    // If the server cannot be reached, the claim is given up here all the same.
    let held = match github_context(&context) {
        Err(error) => {
            warnings.push(error.cause);
            memory.lease.is_some()
        }
        Ok(github) => give_back(&github, &claim, &memory, &mut warnings),
    };
    let issue = claim.issue_number;
    let did = commit(cmd, "claim abort", |state| {
        let next = verbs::abort(state, held)?.state;
        Ok((next, format!("issue #{issue} is no longer claimed")))
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

/// Gives the issue back on GitHub and on the git server, if nobody else has it by now. Returns
/// whether the git server still has our reservation.
fn give_back(
    github: &GitHubContext,
    claim: &ClaimFile,
    memory: &ClaimMemory,
    warnings: &mut Vec<String>,
) -> bool {
    let issue = claim.issue_number;
    let (lease, claims) = (memory.lease.as_ref(), &memory.route.claims);
    let asked = || github.taken_by(issue, lease.map(String::as_str), claims);
    if let Some(by) = memory.lost.clone().or_else(asked) {
        warnings.push(format!(
            "{} has taken the issue over, so its card and assignment stay as they are",
            escape_name(&by)
        ));
        return false;
    }
    put_back(github, issue, warnings);
    match claim::release(github, issue, lease, claims) {
        Release::NotHeld | Release::Released => false,
        Release::Theirs(by) => {
            let by = quote(&by, 80);
            warnings.push(format!(
                "the claim on the git server was not released: {by} has taken it over"
            ));
            false
        }
        Release::Failed(cause) => {
            warnings.push(format!(
                "the claim on the git server was not released: {cause}"
            ));
            true
        }
    }
}

/// Card to Todo, without an agent; assignment removed.
fn put_back(github: &GitHubContext, issue: u64, warnings: &mut Vec<String>) {
    let found = match github.find(issue) {
        Ok(found) => found,
        Err(fault) => return warnings.push(fault.cause),
    };
    let mut change = Change::default();
    if let Some(seen) = &found.issue {
        change.unassign(&seen.id, &found.me);
    }
    change.card(&found.board, github.columns.name(status::TODO), "");
    match change.apply(&github.api()).board() {
        CardMove::Moved | CardMove::MovedOnly(_) | CardMove::Off => {}
        CardMove::Lacks(cause) | CardMove::Unreachable(cause) => {
            warnings.push(format!("the board was not updated: {cause}"));
        }
    }
}
