//! A claim that is being made: what is reserved, set and written, and how it is undone.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mainspring_kernel::Name;
use mainspring_kernel::machines::claim::claim_file::{ClaimFile, status};
use mainspring_kernel::machines::claim::memory::Route;
use mainspring_kernel::machines::claim::verbs::{self, Reserved};
use mainspring_kernel::machines::claim::work::{CardMove, Release};
use mainspring_kernel::verbs::Actor;
use mainspring_platform::path;
use mainspring_store::{ShownPath as _, Trouble, atomic, path_text};

use super::take::{Args, agent_id, held_by};
use super::{CommandContext, Result};
use crate::context::{Caller, EventContext};
use crate::error::CliError;
use crate::git::Git;
use crate::limits;
use crate::machines::claim::github_context::GitHubContext;
use crate::machines::claim::lease::{self, Holder, Taken};
use crate::machines::claim::query::{Board, Found};
use crate::machines::claim::route::Remote;
use crate::machines::claim::{self, Change, file};
use crate::output;
use crate::people::ask;
use crate::project::Project;
use crate::store::ProjectStore;

/// Where the branch is pushed and where the claim is recorded. Who may not push to the repository
/// needs a fork.
pub(super) fn route(
    github_context: &GitHubContext,
    found: &Found,
    branch: &str,
) -> Result<ForkRoute> {
    let base = &github_context.base;
    let mut push = github_context.push(branch, "").map_err(CliError::new)?;
    if push == *base && !found.may_push {
        push = github_context.fork().ok_or_else(|| {
            CliError::new(format!("you may not push to {}", base.repository))
                .hint("`gh repo fork --remote` makes a fork to push to")
        })?;
    }
    let claims = if found.may_push {
        base.clone()
    } else {
        push.clone()
    };
    Ok(ForkRoute { push, claims })
}

pub(super) struct ForkRoute {
    push: Remote,
    claims: Remote,
}

/// A claim that is being made.
pub(super) struct Taking<'a> {
    pub(super) cmd: &'a CommandContext,
    pub(super) args: &'a Args,
    pub(super) github_context: GitHubContext,
    pub(super) found: &'a Found,
    pub(super) route: ForkRoute,
    pub(super) issue: u64,
    pub(super) branch: String,
    pub(super) warnings: Vec<String>,
}

impl Taking<'_> {
    /// Where everything is and goes, for somebody who pushes to another repository than that with
    /// the issues.
    pub(super) fn shown(&self) -> Option<String> {
        let base = &self.github_context.base;
        let ForkRoute { push, claims } = &self.route;
        if push == base {
            return None;
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
        Some(text)
    }

    /// Takes the issue on the git server, before anything else is touched.
    pub(super) fn reserve(&mut self, mut me: Holder) -> Result<Option<String>> {
        let (git, remote) = (&self.github_context.programs.git, &self.route.claims.name);
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
            Taken::Theirs { holder, .. } => Err(held_by(self.issue, &holder, &me).into()),
        }
    }

    /// May the claim be taken over? Of their own one in another clone, a person at a terminal is
    /// asked; an agent must say `--steal`, else the agents of one person's fleet would take issues
    /// from each other.
    fn takes_over(&self, holder: &Holder, me: &Holder) -> Result<bool> {
        let own = holder.is_same_person(me);
        if self.args.steal {
            return Ok(own || holder.is_expired(me.at));
        }
        let is_person = self.cmd.actor() == Actor::Person;
        if !own || !is_person || ask::require_terminal().is_err() {
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

    /// Branch or worktree, card and assignee, and last the file.
    pub(super) fn begin(
        &mut self,
        project: &Project,
        lease: Option<&String>,
    ) -> Result<(ClaimFile, PathBuf)> {
        let place = if self.args.worktree {
            worktree(&self.github_context, project, self.issue, &self.branch)?
        } else {
            if !self.args.no_switch {
                self.switch()?;
            }
            project.worktree.clone()
        };
        let agent = agent_id(self.cmd);
        let (item, synced) = self.announce(&agent);
        let claim = ClaimFile {
            last_synced_status: synced.then(|| status::IN_PROGRESS.to_owned()),
            ..ClaimFile::claimed(self.issue, self.branch.clone(), agent, item)
        };
        let reserved = Reserved {
            lease: lease.cloned(),
            route: Route {
                push: self.route.push.name.clone(),
                claims: self.route.claims.name.clone(),
            },
            worktree: (place != project.root).then(|| path_text::to_text(&place)),
        };
        write(self.cmd, project, &place, &claim, reserved)?;
        Ok((claim, place))
    }

    /// Switches to the branch. A new one begins at the base, unless the base is checked out.
    fn switch(&self) -> Result<()> {
        let git = &self.github_context.programs.git;
        let current = git.current_branch();
        if current.as_ref() == Some(&self.branch) {
            return Ok(());
        }
        let (remote, base) = (&self.github_context.base.name, &self.found.base);
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
        let column = self.github_context.columns.name(status::IN_PROGRESS);
        change.card(&self.found.board, column, agent);
        let applied = change.apply(&self.github_context.github());
        if let Err(fault) = applied.part("assign") {
            self.warnings
                .push(format!("the issue was not assigned: {}", fault.cause));
        }
        let moved = match applied.board() {
            CardMove::Moved => true,
            CardMove::MovedOnly(cause) => {
                self.warnings
                    .push(format!("the card was moved, but {cause}"));
                true
            }
            CardMove::Off => false,
            CardMove::Lacks(cause) | CardMove::Unreachable(cause) => {
                self.warnings
                    .push(format!("the board was not updated: {cause}"));
                false
            }
        };
        let item = match &self.found.board {
            Board::Card(card) => card.item.clone(),
            Board::Off | Board::Lacks(_) => String::new(),
        };
        (item, moved)
    }

    /// Gives back what was reserved, and puts the card where it was.
    pub(super) fn undo(&self, lease: Option<&String>) {
        let mut change = Change::default();
        if let Board::Card(card) = &self.found.board {
            change.card(&self.found.board, &card.status.clone(), &card.agent.clone());
        }
        if let Some(issue) = &self.found.issue
            && !issue.assignees.contains(&self.found.login)
        {
            change.unassign(&issue.id, &self.found.me);
        }
        drop(change.apply(&self.github_context.github()));
        let remote = &self.route.claims.name;
        let released = claim::release(&self.github_context, self.issue, lease, remote);
        if let Release::Failed(cause) = released {
            output::stderr(&format!(
                "warning: the issue is still reserved on the git server: {cause}; `mainspring claim \
                 release {}` gives it back",
                self.issue
            ));
        }
    }
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
    path::real(&place).map_err(|error| Trouble::io("find", &place)(error).into())
}

/// The claim file, and a line in `.gitignore` so that nobody commits it.
fn write(
    cmd: &CommandContext,
    project: &Project,
    place: &Path,
    claim: &ClaimFile,
    reserved: Reserved,
) -> Result<()> {
    let there = Project {
        worktree: place.into(),
        ..project.clone()
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

/// The change of `.gitignore`, if git does not ignore the file yet.
fn ignored(
    cmd: &CommandContext,
    project: &Project,
    place: &Path,
) -> Result<Option<mainspring_kernel::journal::FileChange>> {
    let store = ProjectStore::new(cmd.state()?, &project.root);
    let context = EventContext::new(&cmd.env, (project.clone(), store), Caller::COMMAND);
    let until = Instant::now() + Duration::from_millis(super::LIMIT.0);
    let permit = context.permit(Name::Claim).map_err(Trouble::from)?;
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
