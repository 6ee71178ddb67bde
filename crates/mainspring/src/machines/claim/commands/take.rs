//! `mainspring claim N`: reserves the issue on the git server, and does all the rest. If a step
//! fails, the earlier ones are undone.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mainspring_kernel::Name;
use mainspring_kernel::hidden::quote;
use mainspring_kernel::journal::FileChange;
use mainspring_kernel::machines::claim::claim_file::{ClaimFile, status};
use mainspring_kernel::machines::claim::memory::Route;
use mainspring_kernel::machines::claim::phase::Phase;
use mainspring_kernel::machines::claim::verbs::{self, Refused, Reserved};
use mainspring_kernel::machines::claim::work::{CardMove, Release};
use mainspring_kernel::verbs::Actor;
use mainspring_platform::path;
use mainspring_store::{ShownPath as _, Trouble, atomic, path_text};

use super::{CommandContext, Result, github_context};
use crate::context::{Caller, EventContext};
use crate::error::CliError;
use crate::git::Git;
use crate::limits;
use crate::machines::claim::github_context::{GitHubContext, same};
use crate::machines::claim::lease::{self, Holder, Taken};
use crate::machines::claim::query::{self, IssueCard, OnGitHub};
use crate::machines::claim::route::Remote;
use crate::machines::claim::{self, Change, file};
use crate::output;
use crate::people::ask;
use crate::project::Project;
use crate::store::ProjectStore;

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
    worktree: bool,
    /// Stay on the branch that is checked out
    #[arg(long, conflicts_with = "worktree")]
    no_switch: bool,
    /// Take it over: your own claim in another clone, or one of which nothing was heard for a day
    #[arg(long)]
    steal: bool,
    /// Take it although GitHub says that it is somebody else's
    #[arg(long)]
    anyway: bool,
}

pub(super) fn run(args: &Args, cmd: &CommandContext) -> Result {
    let issue = args.issue.ok_or_else(|| {
        CliError::usage("no issue is named").hint("`mainspring claim N`, with the issue's number")
    })?;
    cmd.permit(Name::Claim)?;
    let context = cmd.context()?;
    let (state, _) = claim::state_at(&context, &context.project.worktree)?;
    match verbs::may_take(&state, issue) {
        Ok(Some(claim)) if !args.worktree => return Ok(already(claim)),
        // Beside a claim of this checkout, a worktree may have another.
        Err(Refused::AnotherIssue { .. }) | Ok(_) if args.worktree => {}
        Ok(_) => {}
        Err(refused) => return Err(refused.into()),
    }
    let wanted = args.branch.as_deref();
    verbs::branch_for(wanted, issue, "")?;
    let github = github_context(&context)?;
    let found = github.find(issue)?;
    let seen = usable(&github, &found, issue)?;
    let branch = verbs::branch_for(wanted, issue, &seen.title)?;
    let (push, claims) = remotes(&github, &found, &branch)?;
    let mut taking = Taking {
        cmd,
        args,
        project: &context.project,
        github,
        found: &found,
        push,
        claims,
        issue,
        branch,
        warnings: Vec::new(),
    };
    taking.show_fork();
    let (claim, place) = taking.make()?;
    if !context.is_trusted() {
        taking.warnings.push(
            "this project is not trusted yet: no pull request is opened until a person runs \
             `mainspring trust`"
                .into(),
        );
    }
    Ok(taking.told(&claim, &seen.title, &place))
}

fn already(claim: &ClaimFile) -> String {
    format!(
        "issue #{} is claimed here already, on branch {}, phase {}\n",
        claim.issue_number,
        claim.branch,
        claim.phase.as_str()
    )
}

/// The issue, if it is one and open.
fn usable<'a>(github: &GitHubContext, found: &'a OnGitHub, issue: u64) -> Result<&'a query::Issue> {
    if found.is_pull {
        return Err(Refused::IsPull(issue).into());
    }
    let seen = found.issue.as_ref().ok_or_else(|| Refused::NoIssue {
        repository: github.base.repository.to_string(),
        issue,
    })?;
    if !seen.is_open {
        return Err(Refused::IssueClosed(issue).into());
    }
    Ok(seen)
}

/// Where the branch is pushed and where the claim is recorded. Who may not push to the repository
/// needs a fork.
fn remotes(github: &GitHubContext, found: &OnGitHub, branch: &str) -> Result<(Remote, Remote)> {
    let base = &github.base;
    let mut push = github.push(branch, "").map_err(CliError::new)?;
    if push == *base && !found.may_push {
        push = github.fork().ok_or_else(|| {
            CliError::new(format!("you may not push to {}", base.repository))
                .hint("`gh repo fork --remote` makes a fork to push to")
        })?;
    }
    let claims = if found.may_push { base } else { &push };
    Ok((push.clone(), claims.clone()))
}

/// A claim that is being made: what is reserved, set and written, and how it is undone.
struct Taking<'a> {
    cmd: &'a CommandContext,
    args: &'a Args,
    project: &'a Project,
    github: GitHubContext,
    found: &'a OnGitHub,
    /// Where the branch is pushed.
    push: Remote,
    /// Where the claim is recorded.
    claims: Remote,
    issue: u64,
    branch: String,
    warnings: Vec<String>,
}

impl Taking<'_> {
    fn make(&mut self) -> Result<(ClaimFile, PathBuf)> {
        let git = &self.github.programs.git;
        let me = Holder {
            branch: self.branch.clone(),
            phase: Phase::Coding.as_str().to_owned(),
            ..Holder::here(&self.cmd.env, git, &self.project.worktree)
        };
        let agent = me.agent.clone();
        let lease = self.reserve(me)?;
        // The git server knows best. Who takes a claim over knows whose it is.
        let free = if self.args.anyway || self.args.steal {
            Ok(())
        } else {
            self.refuse_somebodys()
        };
        let made = free.and_then(|()| self.begin(agent, lease.as_ref()));
        if made.is_err() {
            self.undo(lease.as_ref());
        }
        made
    }

    /// Takes the issue on the git server, before anything else is touched.
    fn reserve(&mut self, mut me: Holder) -> Result<Option<String>> {
        let (git, remote) = (&self.github.programs.git, &self.claims.name);
        let taken = lease::take(git, remote, self.issue, &me).map_err(CliError::new)?;
        let taken = match taken {
            Taken::Theirs { holder, commit } if self.takes_over(&holder, &me)? => {
                me.generation = holder.generation.saturating_add(1);
                lease::steal(git, remote, self.issue, &me, &commit).map_err(CliError::new)?
            }
            taken => taken,
        };
        match taken {
            Taken::Ours(commit) => Ok(Some(commit)),
            Taken::Refused(why) => {
                self.warnings.push(format!(
                    "the git server does not accept claims ({why}), so another computer may claim this issue too"
                ));
                Ok(None)
            }
            Taken::Theirs { holder, .. } => Err(holder.refuses(self.issue, &me).into()),
        }
    }

    /// Is there a person at a terminal who can be asked?
    fn can_ask(&self) -> bool {
        self.cmd.actor() == Actor::Person && ask::require_terminal().is_ok()
    }

    /// May the claim be taken over? Of their own one in another clone, a person at a terminal is
    /// asked; an agent must say `--steal`, else the agents of one person's fleet would take issues
    /// from each other.
    fn takes_over(&self, holder: &Holder, me: &Holder) -> Result<bool> {
        let own = holder.is_same_person(me);
        if self.args.steal {
            return Ok(own || holder.is_expired(me.at));
        }
        if !own || !self.can_ask() {
            return Ok(false);
        }
        let ago = me.at.since(holder.heard).in_words();
        let question = format!(
            "You have claimed issue #{} in another clone ({}, phase {}, last heard of {ago} ago). \
             Take it over here?",
            self.issue, holder.owner, holder.phase
        );
        ask::confirm(&question, self.cmd.paint)?;
        Ok(true)
    }

    /// Refuses an issue that GitHub says is somebody else's. A person at a terminal is asked.
    fn refuse_somebodys(&self) -> Result<()> {
        let Some(whose) = self.whose() else {
            return Ok(());
        };
        let issue = self.issue;
        if self.can_ask() {
            let question = format!("Issue #{issue} is {whose}. Claim it all the same?");
            return ask::confirm(&question, self.cmd.paint);
        }
        Err(Refused::Somebodys { issue, whose }.into())
    }

    /// Whose the issue is on GitHub, if it is not ours and not nobody's.
    fn whose(&self) -> Option<String> {
        let assignees = &self.found.issue.as_ref()?.assignees;
        let mine = |login: &String| login.eq_ignore_ascii_case(&self.found.login);
        if !assignees.is_empty() && !assignees.iter().any(mine) {
            return Some(format!("assigned to {}", quote(&assignees.join(", "), 120)));
        }
        let IssueCard::Card(card) = &self.found.board else {
            return None;
        };
        let todo = same(&card.status, self.github.columns.name(status::TODO));
        let user = lease::user(&self.cmd.env);
        let ours = card.agent.starts_with(&format!("{user}-"));
        if card.agent.is_empty() || ours || todo {
            return None;
        }
        let (status, agent) = (quote(&card.status, 40), quote(&card.agent, 80));
        Some(format!("{status} on the board, by {agent}"))
    }

    /// Branch or worktree, card and assignee, and last the file.
    fn begin(&mut self, agent: String, lease: Option<&String>) -> Result<(ClaimFile, PathBuf)> {
        let place = if self.args.worktree {
            self.add_worktree()?
        } else {
            if !self.args.no_switch {
                self.switch()?;
            }
            self.project.worktree.clone()
        };
        let (item, synced) = self.announce(&agent);
        let claim = ClaimFile {
            last_synced_status: synced.then(|| status::IN_PROGRESS.to_owned()),
            ..ClaimFile::claimed(self.issue, self.branch.clone(), agent, item)
        };
        let reserved = Reserved {
            lease: lease.cloned(),
            route: Route {
                push: self.push.name.clone(),
                claims: self.claims.name.clone(),
            },
            worktree: (place != self.project.root).then(|| path_text::to_text(&place)),
        };
        self.write(&place, &claim, reserved)?;
        Ok((claim, place))
    }

    /// A worktree of its own, beside the checkout, on the claim's branch.
    fn add_worktree(&self) -> Result<PathBuf> {
        let root = &self.project.root;
        let mut name = root.file_name().unwrap_or_default().to_owned();
        name.push(format!("-{}", self.issue));
        let place = root.with_file_name(name);
        if place.exists() {
            return Err(CliError::new(format!("{} exists already", place.shown()))
                .hint("move it away, or claim without --worktree"));
        }
        let Some(text) = place.to_str() else {
            let place = place.shown();
            return Err(CliError::new(format!("{place} is not UTF-8 text"))
                .hint("create the worktree yourself, and claim in it without --worktree"));
        };
        let git = &self.github.programs.git;
        git.add_worktree(text, &self.branch)
            .map_err(CliError::new)?;
        path::real(&place).map_err(|error| Trouble::io("find", &place)(error).into())
    }

    /// Switches to the branch. A new one begins at the base, unless the base is checked out.
    fn switch(&self) -> Result<()> {
        let git = &self.github.programs.git;
        let current = git.current_branch();
        if current.as_ref() == Some(&self.branch) {
            return Ok(());
        }
        let (remote, base) = (&self.github.base.name, &self.found.base);
        let tracked = format!("refs/remotes/{remote}/{base}");
        let start = (current.as_ref() != Some(base) && git.resolve(&tracked).is_some())
            .then_some(tracked.as_str());
        git.switch(&self.branch, start).map_err(|why| {
            CliError::new(why).hint("`--no-switch` claims it and leaves the branch to you")
        })
    }

    /// Sets card, agent and assignee in one call. Returns the card's id, and whether it was moved.
    fn announce(&mut self, agent: &str) -> (String, bool) {
        let mut change = Change::default();
        if let Some(issue) = &self.found.issue {
            change.assign(&issue.id, &self.found.me);
        }
        let column = self.github.columns.name(status::IN_PROGRESS);
        change.card(&self.found.board, column, agent);
        let applied = change.apply(&self.github.api());
        if let Err(fault) = applied.part("assign") {
            let warning = format!("the issue was not assigned: {}", fault.cause);
            self.warnings.push(warning);
        }
        let (moved, warning) = match applied.board() {
            CardMove::Moved => (true, None),
            CardMove::MovedOnly(cause) => (true, Some(format!("the card was moved, but {cause}"))),
            CardMove::Off => (false, None),
            CardMove::Lacks(cause) | CardMove::Unreachable(cause) => {
                (false, Some(format!("the board was not updated: {cause}")))
            }
        };
        self.warnings.extend(warning);
        let item = match &self.found.board {
            IssueCard::Card(card) => card.item.clone(),
            IssueCard::Off | IssueCard::Lacks(_) => String::new(),
        };
        (item, moved)
    }

    /// The claim file, and a line in `.gitignore` so that nobody commits it.
    fn write(&self, place: &Path, claim: &ClaimFile, reserved: Reserved) -> Result<()> {
        let cmd = self.cmd;
        let there = Project {
            worktree: place.into(),
            ..self.project.clone()
        };
        let gitignore = ignored(cmd, &there, place)?;
        let command = format!("claim {}", claim.issue_number);
        cmd.commit(Name::Claim, &command, |context| {
            let there = (there, context.store.clone());
            let context = EventContext::new(&cmd.env, there, Caller::COMMAND);
            let (state, found) = claim::state_at(&context, place)?;
            let now = cmd.env.now();
            let step = verbs::take(&state, claim.clone(), reserved, &cmd.actor(), now)?;
            let mut files = claim::changes(&found, &state, &step.state)?;
            files.extend(gitignore);
            Ok((files, format!("issue #{} is claimed", claim.issue_number)))
        })?;
        Ok(())
    }

    /// Gives back what was reserved, and puts the card where it was.
    fn undo(&self, lease: Option<&String>) {
        let mut change = Change::default();
        if let IssueCard::Card(card) = &self.found.board {
            change.card(&self.found.board, &card.status, &card.agent);
        }
        if let Some(issue) = &self.found.issue
            && !issue.assignees.contains(&self.found.login)
        {
            change.unassign(&issue.id, &self.found.me);
        }
        drop(change.apply(&self.github.api()));
        let released = claim::release(&self.github, self.issue, lease, &self.claims.name);
        if let Release::Failed(cause) = released {
            output::stderr(&format!(
                "warning: the issue is still reserved on the git server: {cause}; `mainspring claim \
                 release {}` gives it back",
                self.issue
            ));
        }
    }

    /// Where everything is and goes, for somebody who pushes to another repository than that with
    /// the issues. It is shown before anything is pushed.
    fn show_fork(&self) {
        let (base, push, claims) = (&self.github.base, &self.push, &self.claims);
        if push == base {
            return;
        }
        let mut text = format!(
            "issues  {} ({})\npush    {} ({})\npull    {}:{} into {}",
            base.repository,
            base.name,
            push.repository,
            push.name,
            push.repository.owner,
            self.branch,
            base.repository
        );
        if claims != base {
            text += &format!(
                "\nclaim   in {}: you may not push to {}, so only your own clones see it",
                claims.repository, base.repository
            );
        }
        output::stderr(&text);
    }

    fn told(&self, claim: &ClaimFile, title: &str, place: &Path) -> String {
        let base = &self.github.base;
        let mut lines = vec![format!("repository {} ({})", base.repository, base.name)];
        if self.args.worktree {
            lines.push(format!("worktree {}", place.shown()));
        }
        let warnings = self.warnings.iter();
        lines.extend(warnings.map(|warning| format!("warning: {warning}")));
        let beside = if self.args.no_switch {
            ", which is not checked out"
        } else {
            ""
        };
        format!(
            "claimed issue #{}: {}\nbranch {}{beside}\n{}\n\
             when the work is ready: mainspring handoff --summary \"…\" --push\n",
            claim.issue_number,
            quote(title, 120),
            claim.branch,
            lines.join("\n")
        )
    }
}

/// The change of `.gitignore`, if git does not ignore the file yet.
fn ignored(cmd: &CommandContext, project: &Project, place: &Path) -> Result<Option<FileChange>> {
    let store = ProjectStore::new(cmd.state()?, &project.root);
    let context = EventContext::new(&cmd.env, (project.clone(), store), Caller::COMMAND);
    let until = Instant::now() + Duration::from_millis(super::LIMIT.0);
    let permit = context.permit(Name::Claim).map_err(Trouble::from)?;
    let git = Git::of(&context, permit, until)?.in_dir(place);
    if git.ignores(file::NAME) {
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
