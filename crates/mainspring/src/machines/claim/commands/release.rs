//! `mainspring claim release N`: give an issue back on the git server.

use mainspring_kernel::Name;
use mainspring_kernel::hidden::quote;
use mainspring_kernel::machines::claim::verbs::Refused;
use mainspring_kernel::machines::claim::work::Release;

use super::{CommandContext, Result, github_context, take};
use mainspring_store::ShownPath as _;

use crate::error::CliError;
use crate::machines::claim::{self, lease, places};

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
    cmd.refuse_poser(context.store.state())?;
    claim::state(&context)?;
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
    let me = take::holder(cmd, git, &context.project.worktree, "");
    let mut refused = Refused::NotHeld(issue);
    let mut ours = None;
    // A claim in a fork is its person's own; the repository may have somebody else's.
    for remote in github_context.claim_remotes() {
        let held = lease::read(git, &remote.name, issue).map_err(CliError::new)?;
        match held {
            Some((commit, holder)) if holder.is_same_person(&me) || holder.is_expired(me.at) => {
                ours = Some((remote.name, commit));
                break;
            }
            Some((_, holder)) => refused = take::held_by(issue, &holder, &me),
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
