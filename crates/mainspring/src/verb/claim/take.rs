//! `mainspring claim N`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mainspring_kernel::hidden::quote;
use mainspring_kernel::machines::claim::State;
use mainspring_kernel::machines::claim::claim_file::{ClaimFile, status};
use mainspring_kernel::machines::claim::verbs::{self, Lease, Refused};
use mainspring_kernel::machines::claim::work::Board as Moved;
use mainspring_kernel::{Millis, Name};
use mainspring_store::{ShownPath as _, Trouble, atomic, digest};

use super::{CommandContext, Result, github_context};
use crate::error::CliError;
use crate::event_context::EventContext;
use crate::git::Git;
use crate::limits;
use crate::machine::claim::github_context::GitHubContext;
use crate::machine::claim::lease::{self, Holder, Taken};
use crate::machine::claim::query::{self, Board, Found};
use crate::machine::claim::{self, Change, file};
use crate::permit::Permit;
use crate::project::Project;
use crate::store::ProjectStore;

#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct Args {
    /// The issue's number
    #[arg(required = true, value_name = "ISSUE", value_parser = crate::verb::number)]
    issue: Option<u64>,
    /// The branch to work on; default: one made from the issue's title
    #[arg(long, allow_hyphen_values = true)]
    branch: Option<String>,
    /// Work in a new worktree beside this checkout
    #[arg(long)]
    worktree: bool,
    /// Take it over from somebody who has had it for more than a day
    #[arg(long)]
    steal: bool,
}

pub(super) fn run(args: &Args, cmd: &CommandContext) -> Result {
    let issue = args.issue.ok_or_else(|| {
        CliError::new("no issue is named").hint("`mainspring claim N`, with the issue's number")
    })?;
    cmd.permit(Name::Claim)?;
    let (project, store) = cmd.project()?;
    let context = EventContext::new(&cmd.env, &project, &store, None);
    let (state, _) = claim::state(&context)?;
    if !args.worktree
        && let Some(claim) = verbs::may_take(&state, issue)?
    {
        return Ok(already(claim));
    }
    let wanted = args.branch.as_deref();
    verbs::branch_for(wanted, issue, "")?;
    let github_context = github_context(&context)?;
    let found = query::find(
        &github_context.github(),
        issue,
        wanted.unwrap_or_default(),
        github_context.board.as_ref(),
    )
    .map_err(|fault| CliError::new(fault.cause))?;
    let seen = found.issue.as_ref().ok_or_else(|| Refused::NoIssue {
        repository: github_context.repository.to_string(),
        issue,
    })?;
    if !seen.is_open {
        return Err(Refused::IssueClosed(issue).into());
    }
    let name = verbs::branch_for(wanted, issue, &seen.title)?;
    let agent = agent_id(cmd);
    let mut warnings = Vec::new();
    let me = holder(cmd, &project.worktree, &agent);
    let lease = reserve(args, &github_context, issue, me, &mut warnings)?;
    let place = if args.worktree {
        worktree(&github_context, &project, issue, &name)?
    } else {
        project.worktree.clone()
    };
    let (item, synced) = begin(&github_context, &found, &agent, &mut warnings);
    let claim = ClaimFile {
        last_synced_status: synced.then(|| status::IN_PROGRESS.to_owned()),
        ..ClaimFile::claimed(issue, name, agent, item)
    };
    write(cmd, &project, &place, &claim, lease)?;
    if !context.is_trusted() {
        warnings.push(
            "this project is not trusted yet: no pull request is opened until a person runs \
             `mainspring trust`"
                .into(),
        );
    }
    Ok(told(&claim, &seen.title, args, &place, &warnings))
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
fn agent_id(cmd: &CommandContext) -> String {
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

fn holder(cmd: &CommandContext, place: &Path, agent: &str) -> Holder {
    Holder {
        owner: format!("{}@{}", user(cmd), machine()),
        agent: agent.to_owned(),
        place: digest::of(&[place.as_os_str().as_encoded_bytes()]).0,
        at: cmd.env.now(),
        generation: 1,
    }
}

/// Takes the issue on the git server, before anything else is touched.
fn reserve(
    args: &Args,
    github_context: &GitHubContext,
    issue: u64,
    mut me: Holder,
    warnings: &mut Vec<String>,
) -> Result<Option<String>> {
    let now = me.at;
    let taken = lease::take(
        &github_context.programs.git,
        &github_context.remote,
        issue,
        &me,
    )
    .map_err(CliError::new)?;
    let taken = match taken {
        Taken::Theirs { holder, commit } if args.steal && holder.is_expired(now) => {
            me.generation = holder.generation.saturating_add(1);
            lease::steal(
                &github_context.programs.git,
                &github_context.remote,
                issue,
                &me,
                &commit,
            )
            .map_err(CliError::new)?
        }
        taken => taken,
    };
    match taken {
        Taken::Ours(commit) => Ok(Some(commit)),
        Taken::Refused(why) => {
            warnings.push(format!(
                "the git server does not accept claims ({why}), so another computer may claim this issue too"
            ));
            Ok(None)
        }
        Taken::Theirs { holder, .. } => Err(held_by(issue, &holder, now).into()),
    }
}

fn held_by(issue: u64, holder: &Holder, now: Millis) -> Refused {
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
        lease: if holder.is_expired(now) {
            Lease::Expired
        } else {
            Lease::Live
        },
    }
}

/// Sets card, agent and assignee in one call. Returns the card's id, and whether it was moved.
fn begin(
    github_context: &GitHubContext,
    found: &Found,
    agent: &str,
    warnings: &mut Vec<String>,
) -> (String, bool) {
    let mut change = Change::default();
    if let Some(issue) = &found.issue {
        change.assign(&issue.id, &found.me);
    }
    change.card(&found.board, status::IN_PROGRESS, agent);
    let applied = change.apply(&github_context.github());
    if let Err(fault) = applied.part("assign") {
        warnings.push(format!("the issue was not assigned: {}", fault.cause));
    }
    let moved = match applied.board() {
        Moved::Moved => true,
        Moved::Off => false,
        Moved::Lacks(cause) | Moved::Unreachable(cause) => {
            warnings.push(format!("the board was not updated: {cause}"));
            false
        }
    };
    let item = match &found.board {
        Board::Card(card) => card.item.clone(),
        Board::Off | Board::Lacks(_) => String::new(),
    };
    (item, moved)
}

/// A worktree of its own, beside the checkout, on the claim's branch.
fn worktree(
    github_context: &GitHubContext,
    project: &Project,
    issue: u64,
    branch: &str,
) -> Result<PathBuf> {
    let mut name = project.root.file_name().unwrap_or_default().to_owned();
    name.push(format!("-{issue}"));
    let place = project.root.with_file_name(name);
    if place.exists() {
        return Err(CliError::new(format!("{} exists already", place.shown()))
            .hint("move it away, or claim without --worktree"));
    }
    let Some(text) = place.to_str() else {
        let place = place.shown();
        return Err(CliError::new(format!("{place} is not UTF-8 text"))
            .hint("create the worktree yourself, and claim in it without --worktree"));
    };
    let git = &github_context.programs.git;
    git.add_worktree(text, branch).map_err(CliError::new)?;
    std::fs::canonicalize(&place).map_err(|error| Trouble::io("find", &place)(error).into())
}

/// The signal file, and a line in `.gitignore` so that nobody commits it.
fn write(
    cmd: &CommandContext,
    project: &Project,
    place: &Path,
    claim: &ClaimFile,
    lease: Option<String>,
) -> Result<()> {
    let there = Project {
        worktree: place.into(),
        ..project.clone()
    };
    let gitignore = ignored(cmd, &there, place)?;
    let command = format!("claim {}", claim.issue_number);
    cmd.commit(Name::Claim, &command, |context| {
        let context = EventContext::new(&cmd.env, &there, context.store, None);
        let (mut state, mut found) = claim::state(&context)?;
        if found.file.path.parent() != Some(place) {
            // What was found is the root's file; a new worktree has no file of its own yet.
            found.file = crate::machine::FoundFile {
                path: place.join(file::NAME),
                bytes: None,
            };
            state = State::Unclaimed(state.memory().cloned().unwrap_or_default());
        }
        let step = verbs::take(&state, claim.clone(), lease, &cmd.actor())?;
        let mut files = claim::changes(&found, &state, &step.state)?;
        files.extend(gitignore);
        Ok((files, format!("issue #{} is claimed", claim.issue_number)))
    })?;
    Ok(())
}

/// The change of `.gitignore`, if git does not ignore the file yet.
fn ignored(
    cmd: &CommandContext,
    project: &Project,
    place: &Path,
) -> Result<Option<mainspring_kernel::journal::FileChange>> {
    let store = ProjectStore::new(cmd.state()?, &project.root);
    let context = EventContext::new(&cmd.env, project, &store, None);
    let until = Instant::now() + Duration::from_millis(super::LIMIT.0);
    let permit = Permit::of(&context, Name::Claim).map_err(Trouble::from)?;
    if Git::of(&context, permit, until)?
        .in_dir(place)
        .ignores(file::NAME)
    {
        return Ok(None);
    }
    let path = place.join(".gitignore");
    let bytes = atomic::read(&path, limits::CONFIG)?;
    let mut text = match &bytes {
        None => String::new(),
        Some(bytes) => String::from_utf8(bytes.clone())
            .map_err(|_| Trouble::corrupt(&path, "it is not UTF-8 text"))?,
    };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(file::NAME);
    text.push('\n');
    Ok(Some(atomic::change(&path, bytes.as_deref(), Some(text))))
}

fn told(claim: &ClaimFile, title: &str, args: &Args, place: &Path, warnings: &[String]) -> String {
    let mut out = format!(
        "claimed issue #{}: {}\nbranch {}\n",
        claim.issue_number,
        quote(title, 120),
        claim.branch
    );
    if args.worktree {
        out += &format!("worktree {}\n", place.shown());
    }
    for warning in warnings {
        out += &format!("warning: {warning}\n");
    }
    out + "when the work is ready: mainspring handoff --summary \"…\" --push\n"
}
