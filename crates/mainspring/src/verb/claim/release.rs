//! `mainspring claim release N`: give an issue back on the git server.

use mainspring_kernel::Name;
use mainspring_kernel::machines::claim::verbs::Refused;

use super::{CommandContext, Result, github_context, take};
use mainspring_store::ShownPath as _;

use crate::error::CliError;
use crate::event_context::EventContext;
use crate::machine::claim::{self, lease, places};

/// Give an issue back on the git server: your own, from any clone; somebody else's when nothing
/// was heard of it for a day.
///
/// Card, assignment and pull request stay. If the issue is claimed in this repository, use
/// `mainspring claim abort` instead.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The issue's number
    #[arg(value_name = "ISSUE", value_parser = crate::verb::number)]
    issue: u64,
}

pub(super) fn run(args: &Args, cmd: &CommandContext) -> Result {
    cmd.permit(Name::Claim)?;
    let issue = args.issue;
    let (project, store) = cmd.project()?;
    let context = EventContext::new(&cmd.env, &project, &store, None);
    for place in places::all(&context) {
        let state = claim::state_at(&context, &place)?.0;
        if let mainspring_kernel::machines::claim::State::Newer { version } = state {
            return Err(Refused::Newer(version).into());
        }
        let claimed = mainspring_kernel::machines::claim::verbs::claimed(&state);
        if claimed.is_ok_and(|(claim, _)| claim.issue_number == issue) {
            return Err(
                CliError::new(format!("issue #{issue} is claimed in {}", place.shown())).hint(
                    "`mainspring claim abort` there gives it back, with its card and assignment",
                ),
            );
        }
    }
    let github_context = github_context(&context)?;
    let git = &github_context.programs.git;
    let remote = &github_context.base.name;
    let held = lease::read(git, remote, issue).map_err(CliError::new)?;
    let (commit, holder) = held.ok_or(Refused::NotHeld(issue))?;
    let me = take::holder(cmd, git, &project.worktree, "");
    let now = cmd.env.now();
    if !holder.is_same_person(&me) && !holder.is_expired(now) {
        return Err(take::held_by(issue, &holder, &me).into());
    }
    lease::release(git, remote, issue, &commit).map_err(CliError::new)?;
    // What we remember of a claim whose file is gone must not give it back a second time.
    cmd.commit(Name::Claim, &format!("claim release {issue}"), |context| {
        let (state, found) = claim::state(context)?;
        let mut next = state.clone();
        if let mainspring_kernel::machines::claim::State::Unclaimed(memory) = &state
            && memory.issue == Some(issue)
        {
            let mut memory = memory.clone();
            memory.lease = None;
            next = state.with_memo(memory.after());
        }
        let files = claim::changes(&found, &state, &next)?;
        Ok((files, format!("issue #{issue} is free on the git server")))
    })
    .map(|did| did + "\n")
}
