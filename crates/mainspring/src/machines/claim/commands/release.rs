//! `mainspring claim release N`: give an issue back on the git server.

use mainspring_kernel::Name;
use mainspring_kernel::hidden::quote;
use mainspring_kernel::machines::claim::State;
use mainspring_kernel::machines::claim::memory::ClaimMemory;
use mainspring_kernel::machines::claim::verbs::Refused;
use mainspring_kernel::machines::claim::work::Release;

use super::{CommandContext, Result, github_context};
use mainspring_store::ShownPath as _;

use crate::error::CliError;
use crate::machines::claim::lease::{self, Holder};
use crate::machines::claim::{self, places};

/// Give an issue back on the git server: your own, from any clone; somebody else's when nothing
/// was heard of it for a day.
///
/// Card, assignment and pull request stay. If the issue is claimed in this repository, use
/// `mainspring claim abort` instead.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The issue's number
    #[arg(value_name = "ISSUE", value_parser = crate::command::number)]
    issue: u64,
}

pub(super) fn run(args: &Args, cmd: &CommandContext) -> Result {
    cmd.permit(Name::Claim)?;
    let issue = args.issue;
    let context = cmd.context()?;
    // What is refused changes nothing, here or elsewhere.
    claim::state(&context)?;
    for place in places::all(&context) {
        match claim::state_at(&context, &place)?.0 {
            State::Newer { version } => return Err(Refused::Newer(version).into()),
            State::Claimed { claim, .. } if claim.issue_number == issue => {
                let place = place.shown();
                return Err(CliError::refused(format!("issue #{issue} is claimed in {place}")).hint(
                    "`mainspring claim abort` there gives it back, with its card and assignment",
                ));
            }
            State::Claimed { .. } | State::Unclaimed(_) => {}
        }
    }
    let github = github_context(&context)?;
    let git = &github.programs.git;
    let me = Holder::here(&cmd.env, git, &context.project.worktree);
    let mut refused = Refused::NotHeld(issue);
    let mut ours = None;
    // A claim in a fork is its person's own; the repository may have somebody else's.
    for remote in github.claim_remotes() {
        let held = lease::read(git, &remote.name, issue).map_err(CliError::new)?;
        match held {
            Some((commit, holder)) if holder.is_same_person(&me) || holder.is_expired(me.at) => {
                ours = Some((remote.name, commit));
                break;
            }
            Some((_, holder)) => refused = holder.refuses(issue, &me),
            None => {}
        }
    }
    let (remote, commit) = ours.ok_or(refused)?;
    let released = lease::release(git, &remote, issue, &commit).map_err(CliError::new)?;
    if let Release::Theirs(by) = released {
        let by = quote(&by, 80);
        return Err(CliError::new(format!("{by} has taken it over")));
    }
    // What we remember of a claim whose file is gone must not give it back a second time.
    let did = super::commit(cmd, &format!("claim release {issue}"), |state| {
        let next = match state {
            State::Unclaimed(memory) if memory.issue == Some(issue) => {
                let memory = ClaimMemory {
                    lease: None,
                    ..memory.clone()
                };
                State::Unclaimed(memory.after())
            }
            other => other.clone(),
        };
        Ok((next, format!("issue #{issue} is free on the git server")))
    })?;
    Ok(did + "\n")
}
