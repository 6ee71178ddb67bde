//! `mainspring claim N`.

use std::path::{Path, PathBuf};

use mainspring_kernel::Name;
use mainspring_kernel::hidden::quote;
use mainspring_kernel::machines::claim::claim_file::{ClaimFile, status};
use mainspring_kernel::machines::claim::phase::Phase;
use mainspring_kernel::machines::claim::verbs::{self, Lease, Refused};
use mainspring_kernel::verbs::Actor;
use mainspring_store::{ShownPath as _, digest};

use super::taking::{Taking, route};
use super::{CommandContext, Result, github_context};
use crate::error::CliError;
use crate::git::Git;
use crate::machines::claim::github_context::{GitHubContext, same};
use crate::machines::claim::lease::Holder;
use crate::machines::claim::query::{self, Board, Found};
use crate::machines::claim::{self, file};
use crate::output;
use crate::people::ask;
use crate::project::Project;

#[derive(Debug, clap::Args)]
#[group(skip)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option")]
pub(super) struct Args {
    /// The issue's number
    #[arg(required = true, value_name = "ISSUE", value_parser = crate::command::number)]
    issue: Option<u64>,
    /// The branch to work on; default: one made from the issue's title
    #[arg(long, allow_hyphen_values = true)]
    branch: Option<String>,
    /// Work in a new worktree beside this checkout
    #[arg(long)]
    pub(super) worktree: bool,
    /// Stay on the branch that is checked out
    #[arg(long, conflicts_with = "worktree")]
    pub(super) no_switch: bool,
    /// Take it over: your own claim in another clone, or one of which nothing was heard for a day
    #[arg(long)]
    pub(super) steal: bool,
    /// Take it although GitHub says that it is somebody else's
    #[arg(long)]
    anyway: bool,
}

pub(super) fn run(args: &Args, cmd: &CommandContext) -> Result {
    let issue = args.issue.ok_or_else(|| {
        CliError::new("no issue is named").hint("`mainspring claim N`, with the issue's number")
    })?;
    cmd.permit(Name::Claim)?;
    let context = cmd.context()?;
    let here = context.project.worktree.clone();
    let (state, _) = claim::state_at(&context, &here)?;
    match verbs::may_take(&state, issue) {
        Ok(Some(claim)) if !args.worktree => return Ok(already(claim)),
        // Beside a claim of this checkout, a worktree may have another.
        Err(Refused::AnotherIssue { .. }) | Ok(_) if args.worktree => {}
        Ok(_) => {}
        Err(refused) => return Err(refused.into()),
    }
    let wanted = args.branch.as_deref();
    verbs::branch_for(wanted, issue, "")?;
    let github_context = github_context(&context)?;
    let found = github_context
        .find(issue)
        .map_err(|fault| CliError::new(fault.cause))?;
    let seen = usable(&github_context, &found, issue)?;
    let name = verbs::branch_for(wanted, issue, &seen.title)?;
    let mut taking = Taking {
        cmd,
        args,
        route: route(&github_context, &found, &name)?,
        github_context,
        found: &found,
        issue,
        branch: name,
        warnings: Vec::new(),
    };
    // Before anything is pushed.
    if let Some(route) = taking.shown() {
        output::stderr(&route);
    }
    let (claim, place) = make(&mut taking, &context.project, &here)?;
    if !context.is_trusted() {
        taking.warnings.push(
            "this project is not trusted yet: no pull request is opened until a person runs \
             `mainspring trust`"
                .into(),
        );
    }
    Ok(told(&claim, &seen.title, &taking, &place))
}

/// The issue, if it is one and open.
fn usable<'a>(
    github_context: &GitHubContext,
    found: &'a Found,
    issue: u64,
) -> Result<&'a query::Issue> {
    if found.is_pull {
        return Err(Refused::IsPull(issue).into());
    }
    let seen = found.issue.as_ref().ok_or_else(|| Refused::NoIssue {
        repository: github_context.base.repository.to_string(),
        issue,
    })?;
    if !seen.is_open {
        return Err(Refused::IssueClosed(issue).into());
    }
    Ok(seen)
}

/// Warns of an issue that GitHub says is somebody else's. A person at a terminal is asked.
fn free(
    cmd: &CommandContext,
    github_context: &GitHubContext,
    found: &Found,
    issue: u64,
) -> Result<()> {
    let Some(whose) = somebody(cmd, github_context, found) else {
        return Ok(());
    };
    let asks = cmd.actor() == Actor::Person && ask::require_terminal().is_ok();
    if asks {
        return ask::confirm(
            &format!("Issue #{issue} is {whose}. Claim it all the same?"),
            cmd.paint,
        );
    }
    Err(Refused::Somebodys { issue, whose }.into())
}

/// Whose the issue is on GitHub, if it is not ours and not nobody's.
fn somebody(cmd: &CommandContext, github_context: &GitHubContext, found: &Found) -> Option<String> {
    let assignees = &found.issue.as_ref()?.assignees;
    let mine = |login: &String| login.eq_ignore_ascii_case(&found.login);
    if !assignees.is_empty() && !assignees.iter().any(mine) {
        return Some(format!("assigned to {}", quote(&assignees.join(", "), 120)));
    }
    let Board::Card(card) = &found.board else {
        return None;
    };
    let todo = same(&card.status, github_context.columns.name(status::TODO));
    let ours = card.agent.starts_with(&format!("{}-", user(cmd)));
    if card.agent.is_empty() || ours || todo {
        return None;
    }
    let (status, agent) = (quote(&card.status, 40), quote(&card.agent, 80));
    Some(format!("{status} on the board, by {agent}"))
}

fn already(claim: &ClaimFile) -> String {
    format!(
        "issue #{} is claimed here already, on branch {}, phase {}\n",
        claim.issue_number,
        claim.branch,
        claim.phase.as_str()
    )
}

/// The claim's owner: the person's name and the time.
pub(super) fn agent_id(cmd: &CommandContext) -> String {
    format!("{}-{}", user(cmd), cmd.env.now().0 / 1_000)
}

fn user(cmd: &CommandContext) -> String {
    let name = cmd.env.var("USER").or_else(|| cmd.env.var("LOGNAME"));
    quote(&name.unwrap_or_else(|| "agent".into()), 60)
}

fn machine() -> String {
    let name = mainspring_platform::host::name();
    name.map_or_else(|| "unknown".into(), |text| quote(&text, 80))
}

/// Who claims here.
pub(super) fn holder(cmd: &CommandContext, git: &Git, place: &Path, agent: &str) -> Holder {
    let email = git.setting("user.email").unwrap_or_default();
    Holder {
        owner: format!("{}@{}", user(cmd), machine()),
        agent: agent.to_owned(),
        email: quote(&email, 120),
        place: digest::of(&[place.as_os_str().as_encoded_bytes()]).0,
        at: cmd.env.now(),
        heard: cmd.env.now(),
        phase: String::new(),
        branch: String::new(),
        generation: 1,
    }
}

/// The refusal for an issue that somebody has.
pub(super) fn held_by(issue: u64, holder: &Holder, me: &Holder) -> Refused {
    let now = me.at;
    let owner = if holder.owner.is_empty() {
        "somebody"
    } else {
        &holder.owner
    };
    let hours = now.since(holder.at).0 / 3_600_000;
    let since = file::iso(holder.at);
    Refused::Held {
        issue,
        holder: format!("{owner} ({}), since {since} ({hours} h ago)", holder.agent),
        lease: if holder.is_same_person(me) {
            Lease::OwnClone
        } else if holder.is_expired(now) {
            Lease::Expired
        } else {
            Lease::Live
        },
    }
}

fn told(claim: &ClaimFile, title: &str, taking: &Taking<'_>, place: &Path) -> String {
    let base = &taking.github_context.base;
    let mut lines = vec![format!("repository {} ({})", base.repository, base.name)];
    if taking.args.worktree {
        lines.push(format!("worktree {}", place.shown()));
    }
    let warnings = taking.warnings.iter();
    lines.extend(warnings.map(|warning| format!("warning: {warning}")));
    format!(
        "claimed issue #{}: {}\nbranch {}{}\n{}\n\
         when the work is ready: mainspring handoff --summary \"…\" --push\n",
        claim.issue_number,
        quote(title, 120),
        claim.branch,
        if taking.args.no_switch {
            ", which is not checked out"
        } else {
            ""
        },
        lines.join("\n")
    )
}

/// Reserves the issue, and does all the rest. If a step fails, the earlier ones are undone.
fn make(taking: &mut Taking<'_>, project: &Project, here: &Path) -> Result<(ClaimFile, PathBuf)> {
    let (cmd, args) = (taking.cmd, taking.args);
    let git = &taking.github_context.programs.git;
    let me = Holder {
        branch: taking.branch.clone(),
        phase: Phase::Coding.as_str().to_owned(),
        ..holder(cmd, git, here, &agent_id(cmd))
    };
    let lease = taking.reserve(me)?;
    // The git server knows best. Who takes a claim over knows whose it is.
    let free = if args.anyway || args.steal {
        Ok(())
    } else {
        free(cmd, &taking.github_context, taking.found, taking.issue)
    };
    let made = free.and_then(|()| taking.begin(project, lease.as_ref()));
    if made.is_err() {
        taking.undo(lease.as_ref());
    }
    made
}
