//! `mainspring handoff`: the claimed work is ready for a pull request.

use mainspring_kernel::hidden::escape_name;
use mainspring_kernel::machines::claim::branch;
use mainspring_kernel::machines::claim::verbs::{self, Refused};
use mainspring_kernel::machines::claim::work::Missing;
use mainspring_kernel::verbs::Actor;
use mainspring_kernel::{Millis, Name};
use mainspring_store::Trouble;

use crate::command::{CommandContext, Result};
use crate::error::CliError;
use crate::machines::claim;
use crate::machines::claim::github_context::GitHubContext;
use crate::output;

/// Hand over the claimed work: Mainspring opens its pull request at the agent's next stop.
///
/// If another branch is checked out than the claim's, and it is not the default branch, it becomes
/// the claim's.
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
const PUSH_LIMIT: Millis = Millis::seconds(300);

pub(crate) fn run(args: &Args, cmd: &CommandContext) -> Result {
    if args.push {
        cmd.permit(Name::Claim)?;
    }
    let actor = cmd.actor();
    let context = cmd.context()?;
    let (state, _) = claim::state(&context)?;
    let (claim, memory) = verbs::claimed(&state)?;
    let github = context
        .permit(Name::Claim)
        .map_err(Trouble::from)
        .map(|permit| GitHubContext::open(&context, permit, PUSH_LIMIT));
    let github = match github {
        Ok(Ok(github)) => Some(github),
        // Without a push, nothing needs the server yet.
        Ok(Err(_)) | Err(_) if !args.push => None,
        Ok(Err(error)) => return Err(CliError::refused(error)),
        Err(trouble) => return Err(trouble.into()),
    };
    let current = github
        .as_ref()
        .and_then(|github| current(github, &claim.branch));
    // Do not push what would then be refused.
    verbs::handoff(&state, &args.summary, current.as_deref(), &actor)?;
    let taken_by = github.as_ref().and_then(|github| {
        let lease = memory.lease.as_deref();
        github.taken_by(claim.issue_number, lease, &memory.route.claims)
    });
    if let Some(by) = taken_by {
        return Err(Refused::Lacking(Missing::Claim { by }.advice(&claim)).into());
    }
    let branch = current.as_deref().unwrap_or(&claim.branch);
    if let Some(github) = github.as_ref().filter(|_| args.push) {
        push(github, branch, &memory.route.push)?;
    }
    let did = super::commit(cmd, "handoff", |state| {
        let step = verbs::handoff(state, &args.summary, current.as_deref(), &actor)?;
        let issue = claim.issue_number;
        let did = format!("issue #{issue} is ready for its pull request");
        Ok((step.state, did))
    })?;
    let adopted = current.map_or_else(String::new, |branch| {
        format!("its branch is now {}\n", escape_name(&branch))
    });
    cmd.said_until_trusted(match actor {
        Actor::Agent(_) => format!("{did}: Mainspring opens it when you stop\n{adopted}"),
        Actor::Person => {
            format!("{did}: Mainspring opens it at the agent's next stop\n{adopted}")
        }
    })
}

/// The branch that is checked out, if it is another one than the claim's and not the default one.
fn current(github: &GitHubContext, claimed: &str) -> Option<String> {
    let git = &github.programs.git;
    let current = git.current_branch()?;
    let default = git.default_branch(&github.base.name);
    let is_default = match default {
        Some(default) => current == default,
        None => branch::is_usual_default(&current),
    };
    let usable = !is_default && branch::check(&current).is_ok();
    (current != claimed && usable).then_some(current)
}

/// Pushes. Where the pull request goes to another repository, that is shown first.
fn push(github: &GitHubContext, branch: &str, known: &str) -> Result<()> {
    let to = github.push(branch, known).map_err(CliError::new)?;
    if to != github.base {
        output::stderr(&format!(
            "pushing {} to {} ({}); the pull request goes to {}",
            escape_name(branch),
            to.repository,
            to.name,
            github.base.repository
        ));
    }
    let git = &github.programs.git;
    git.push_branch(&to.name, branch).map_err(|why| {
        let error = CliError::new(&why);
        if !why.contains("non-fast-forward") && !why.contains("fetch first") {
            return error;
        }
        let server = git.listed(&to.name, &format!("refs/heads/{branch}"));
        let rewritten = server
            .ok()
            .flatten()
            .is_some_and(|commit| git.was_head(branch, &commit));
        let branch = escape_name(branch);
        if rewritten {
            error.hint(format!(
                "you amended or rebased what the server has: `git push --force-with-lease {} {branch}`, \
                 then hand off again",
                to.name
            ))
        } else {
            error.hint(format!(
                "somebody else pushed to it: `git pull --rebase {} {branch}`, then hand off again",
                to.name
            ))
        }
    })
}
