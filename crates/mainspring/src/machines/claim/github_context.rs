//! What an effect at GitHub needs: the programs, the repository, the board.

use mainspring_kernel::Millis;
use mainspring_kernel::machines::claim::claim_file::status;
use mainspring_kernel::machines::claim::remote::Repository;
use mainspring_kernel::machines::claim::work::Fault;
use mainspring_store::Trouble;

use super::gh::GitHub;
use super::lease;
use super::place;
use super::programs::Programs;
use super::query::{self, BoardName, Head, OnGitHub};
use super::route::{Remote, Remotes};
use crate::children::permit::Permit;
use crate::config::Config;
use crate::context::EventContext;
use crate::git::is_remote;

#[derive(Debug)]
pub(crate) struct GitHubContext {
    pub(crate) programs: Programs,
    /// The repository with the issues, and its remote.
    pub(crate) base: Remote,
    remotes: Remotes,
    pub(crate) board: Option<BoardName>,
    pub(crate) columns: Columns,
    pub(crate) now: Millis,
}

/// Why an effect has no context.
#[derive(Debug)]
pub(crate) enum ContextError {
    /// The remote is not a repository that we may change.
    Remote(String),
    Trouble(Trouble),
}

impl From<Trouble> for ContextError {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

impl std::fmt::Display for ContextError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Remote(why) => f.write_str(why),
            Self::Trouble(trouble) => write!(f, "{trouble}"),
        }
    }
}

impl GitHubContext {
    pub(crate) fn open(
        context: &EventContext<'_>,
        permit: Permit,
        limit: Millis,
    ) -> Result<Self, ContextError> {
        // A worktree may have been removed with its claim.
        let place = place(context);
        let dir = if place.is_dir() {
            &place
        } else {
            &context.project.root
        };
        let programs = Programs::of(context, dir, permit, limit)?;
        let config = context.config()?;
        let wanted = remote(config).map_err(ContextError::Remote)?;
        let columns = columns(config).map_err(ContextError::Remote)?;
        let remotes = Remotes::of(context, &programs)?;
        let base = remotes
            .base(&wanted, &programs)
            .map_err(ContextError::Remote)?;
        let board = board_name(context)?.map(|(owner, number)| BoardName {
            owner: if owner.is_empty() {
                base.repository.owner.clone()
            } else {
                owner
            },
            number,
        });
        Ok(Self {
            programs,
            base,
            remotes,
            board,
            columns,
            now: context.env.later(),
        })
    }

    /// Where a branch is pushed.
    pub(crate) fn push(&self, branch: &str, known: &str) -> Result<Remote, String> {
        self.remotes.push(branch, known, &self.base, &self.programs)
    }

    /// Everything about an issue, without its branch.
    pub(crate) fn find(&self, issue: u64) -> Result<OnGitHub, Fault> {
        self.find_branch(issue, "", &self.base.repository)
    }

    /// The same, with a branch and its pull requests.
    pub(crate) fn find_branch(
        &self,
        issue: u64,
        branch: &str,
        repository: &Repository,
    ) -> Result<OnGitHub, Fault> {
        let head = Head { branch, repository };
        query::find(&self.api(), issue, head, self.board.as_ref())
    }

    /// A fork of ours, if one is a remote.
    pub(crate) fn fork(&self) -> Option<Remote> {
        self.remotes.fork(&self.base, &self.programs)
    }

    /// The remote that has the claims, if it is not known otherwise.
    pub(crate) fn claims<'a>(&'a self, known: &'a str) -> &'a str {
        if known.is_empty() {
            &self.base.name
        } else {
            known
        }
    }

    /// Where a claim may be: with the issues, or in a fork, if its person may not push there.
    pub(crate) fn claim_remotes(&self) -> Vec<Remote> {
        let mut remotes = vec![self.base.clone()];
        for remote in self.push("", "").ok().into_iter().chain(self.fork()) {
            if !remotes.contains(&remote) {
                remotes.push(remote);
            }
        }
        remotes
    }

    /// Who has taken the issue over from this claim. If the git server does not tell, nobody has.
    pub(crate) fn taken_by(&self, issue: u64, lease: Option<&str>, claims: &str) -> Option<String> {
        let git = &self.programs.git;
        let taken = lease::taken_by(git, self.claims(claims), issue, lease?);
        taken.ok().flatten()
    }

    pub(crate) fn api(&self) -> GitHub<'_> {
        GitHub {
            programs: &self.programs,
            repository: &self.base.repository,
            now: self.now,
        }
    }
}

/// The name of the configured remote, if one is configured; a repository may do that, too.
fn remote(config: &Config) -> Result<String, String> {
    let remote = &*config.claim.remote;
    if remote.is_empty() || is_remote(remote) {
        return Ok(remote.to_owned());
    }
    Err(format!(
        "claim.remote is {remote:?}, which is not the name of a remote"
    ))
}

/// The configured board: its owner (empty: the repository's) and its number.
pub(crate) fn board_name(context: &EventContext<'_>) -> Result<Option<(String, u64)>, Trouble> {
    let set = &context.config()?.claim;
    Ok((set.project > 0).then(|| (set.owner.to_string(), set.project)))
}

/// The configured columns.
fn columns(config: &Config) -> Result<Columns, String> {
    let names = &config.claim.columns;
    match names.len() {
        0 => Ok(Columns::default()),
        4 => Ok(Columns(names.iter().map(ToString::to_string).collect())),
        other => Err(format!(
            "claim.columns has {other} names; it needs four: for Todo, In Progress, In Review and Done"
        )),
    }
}

/// What the board calls each of its columns, in the order of a claim's life. Without a name of
/// their own, they are called as we call them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Columns(Vec<String>);

impl Columns {
    /// The board's name of a status. A status that somebody wrote by hand is a name already.
    pub(crate) fn name<'a>(&'a self, status: &'a str) -> &'a str {
        let mut pairs = status::ALL.iter().zip(&self.0);
        let known = pairs.find(|(ours, _)| same(ours, status));
        known.map_or(status, |(_, theirs)| theirs)
    }
}

/// Are these the same column? Case and spaces around do not count.
pub(crate) fn same(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_the_names_that_a_person_gave_them() {
        let plain = Columns::default();
        assert_eq!(plain.name("In Progress"), "In Progress");
        let own = Columns(
            ["Backlog", "Doing", "Review", "Shipped"]
                .map(Into::into)
                .into(),
        );
        assert_eq!(own.name("in progress"), "Doing");
        assert_eq!(own.name("Blocked"), "Blocked");
        assert!(same("IN progress ", "In Progress"));
    }
}
