//! The state of the stand-in: accounts, tokens, repositories, issues, pull requests, checks and
//! boards.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::board::Board;
use super::check::Check;
use super::git;
use super::graphql::Failure;
use super::items::{Comment, Issue, Merging, PullRequest, PullRequestState, Review};

/// The whole state, behind one lock.
#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) accounts: Vec<Account>,
    pub(crate) tokens: BTreeMap<String, Token>,
    pub(crate) repositories: Vec<Repository>,
    pub(crate) boards: Vec<Board>,
    last_id: u64,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Account {
    pub(crate) id: String,
    pub(crate) login: String,
    pub(crate) kind: AccountKind,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AccountKind {
    User,
    Organization,
}

/// The owner of a token, and its rights.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Token {
    pub login: String,
    pub grant: Grant,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Grant {
    /// A classic token: GitHub names its scopes in a header and refuses a whole
    /// document for one field that it does not cover.
    Scopes(BTreeSet<String>),
    /// A fine-grained token without access to projects: boards do not exist for it.
    WithoutProjects,
}

impl Token {
    pub fn classic(login: &str, scopes: &[&str]) -> Self {
        Self {
            login: login.to_owned(),
            grant: Grant::Scopes(scopes.iter().map(|scope| (*scope).to_owned()).collect()),
        }
    }

    pub fn without_projects(login: &str) -> Self {
        Self {
            login: login.to_owned(),
            grant: Grant::WithoutProjects,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Repository {
    pub(crate) id: String,
    pub(crate) host: String,
    pub(crate) owner: String,
    pub(crate) name: String,
    pub(crate) default_branch: String,
    /// The bare repository that determines the branches, if there is one.
    pub(crate) git_dir: Option<PathBuf>,
    /// Branch to head, as last seen.
    pub(crate) branches: BTreeMap<String, String>,
    /// Names of the checks that a merge requires.
    pub(crate) required: BTreeSet<String>,
    /// Checks by the commit they ran on.
    pub(crate) checks: BTreeMap<String, Vec<Check>>,
    pub(crate) issues: BTreeMap<u64, Issue>,
    pub(crate) pulls: BTreeMap<u64, PullRequest>,
    /// What the token's owner may do: `ADMIN`, `WRITE`, `READ` …
    pub(crate) permission: String,
    /// Logs by job.
    pub(crate) logs: BTreeMap<u64, String>,
}

/// What a new pull request is made from.
#[derive(Debug)]
pub(crate) struct NewPullRequest<'a> {
    pub(crate) author: &'a str,
    /// `branch`, or `owner:branch`.
    pub(crate) head: &'a str,
    pub(crate) base: &'a str,
    pub(crate) title: &'a str,
    pub(crate) body: &'a str,
    pub(crate) draft: bool,
}

impl World {
    /// An id that looks like GitHub's and is never used twice.
    pub(crate) fn id(&mut self, prefix: &str) -> String {
        self.last_id += 1;
        format!("{prefix}_kwDO{:06}", self.last_id)
    }

    pub(crate) fn add_account(&mut self, login: &str, kind: AccountKind) {
        if self.account(login).is_none() {
            let id = self.id(match kind {
                AccountKind::User => "U",
                AccountKind::Organization => "O",
            });
            self.accounts.push(Account {
                id,
                login: login.to_owned(),
                kind,
            });
        }
    }

    /// Logins are case-insensitive.
    pub(crate) fn account(&self, login: &str) -> Option<&Account> {
        self.accounts
            .iter()
            .find(|account| account.login.eq_ignore_ascii_case(login))
    }

    pub(crate) fn repository(&self, host: &str, owner: &str, name: &str) -> Option<usize> {
        self.repositories.iter().position(|repository| {
            repository.host == host
                && repository.owner.eq_ignore_ascii_case(owner)
                && repository.name.eq_ignore_ascii_case(name)
        })
    }

    /// Reads the branches of every repository with a git directory. The head of an open pull
    /// request follows its branch; a branch that is gone closes it, as at GitHub.
    pub(crate) fn follow_branches(&mut self) {
        for repository in &mut self.repositories {
            if let Some(git_dir) = &repository.git_dir {
                repository.branches = git::branches(git_dir);
            }
        }
        for at in 0..self.repositories.len() {
            let mut pulls = std::mem::take(&mut self.repositories[at].pulls);
            for pull in pulls.values_mut() {
                if pull.state == PullRequestState::Open {
                    let head = self.head_repository(at, &pull.head_owner);
                    match head.and_then(|head| head.branches.get(&pull.head)) {
                        Some(sha) => pull.head_sha.clone_from(sha),
                        None => pull.state = PullRequestState::Closed { at: now() },
                    }
                }
            }
            self.repositories[at].pulls = pulls;
        }
    }

    /// The repository with the branch of a pull request: the base itself, or a fork of it.
    fn head_repository(&self, base: usize, owner: &str) -> Option<&Repository> {
        let Repository { host, name, .. } = &self.repositories[base];
        let at = self.repository(host, owner, name)?;
        Some(&self.repositories[at])
    }

    /// The commit of a pull request's branch, and the bare repository that has it.
    fn head_of(&self, base: usize, owner: &str, branch: &str) -> (Option<String>, Option<PathBuf>) {
        let Some(head) = self.head_repository(base, owner) else {
            return (None, None);
        };
        (head.branches.get(branch).cloned(), head.git_dir.clone())
    }

    /// Creates a pull request, or returns GitHub's message why not.
    pub(crate) fn create_pull(
        &mut self,
        repository: usize,
        new: &NewPullRequest<'_>,
    ) -> Result<u64, Failure> {
        if new.title.trim().is_empty() {
            return Err(Failure::unprocessable("Title can't be blank"));
        }
        at_most("Title", new.title, TITLE_LIMIT)?;
        at_most("Body", new.body, BODY_LIMIT)?;
        let id = self.id("PR");
        let own = self.repositories[repository].owner.clone();
        let (owner, branch) = new.head.split_once(':').unwrap_or((&own, new.head));
        let (head_sha, head_dir) = self.head_of(repository, owner, branch);
        let repository = &mut self.repositories[repository];
        let (Some(head_sha), Some(base_sha)) = (head_sha, repository.branches.get(new.base)) else {
            return Err(Failure::unprocessable(format!(
                "Head sha can't be blank, Base sha can't be blank, No commits between {} and {branch}, \
                 Head ref must be a branch",
                new.base
            )));
        };
        let ahead = match &head_dir {
            Some(git_dir) => git::is_ahead(git_dir, base_sha, &head_sha),
            None => head_sha != *base_sha,
        };
        if !ahead {
            return Err(Failure::unprocessable(format!(
                "No commits between {} and {branch}",
                new.base
            )));
        }
        let is_same = |pull: &PullRequest| {
            pull.state == PullRequestState::Open
                && pull.head == branch
                && pull.head_owner == owner
                && pull.base == new.base
        };
        if repository.pulls.values().any(is_same) {
            return Err(already_exists(owner, branch));
        }
        let number = repository.next_number();
        repository.pulls.insert(
            number,
            PullRequest {
                id,
                number,
                title: new.title.to_owned(),
                body: new.body.to_owned(),
                author: new.author.to_owned(),
                head_owner: owner.to_owned(),
                head: branch.to_owned(),
                base: new.base.to_owned(),
                head_sha,
                draft: new.draft,
                state: PullRequestState::Open,
                review: Review::NotRequired,
                merging: Merging::default(),
                assignees: Vec::new(),
                comments: Vec::new(),
                created_at: now(),
            },
        );
        Ok(number)
    }

    pub(crate) fn comment(
        &mut self,
        repository: usize,
        number: u64,
        author: &str,
        body: &str,
    ) -> Result<Comment, Failure> {
        if body.trim().is_empty() {
            return Err(Failure::unprocessable("Body can't be blank"));
        }
        at_most("Body", body, BODY_LIMIT)?;
        let comment = Comment {
            id: self.id("IC"),
            author: author.to_owned(),
            body: body.to_owned(),
            created_at: now(),
        };
        let repository = &mut self.repositories[repository];
        let issue = repository
            .issues
            .get_mut(&number)
            .map(|issue| &mut issue.comments);
        let pull = repository
            .pulls
            .get_mut(&number)
            .map(|pull| &mut pull.comments);
        let comments = issue
            .or(pull)
            .ok_or_else(|| Failure::not_found("Not Found"))?;
        comments.push(comment.clone());
        Ok(comment)
    }
}

/// GitHub's own limits, in characters.
const TITLE_LIMIT: usize = 256;
const BODY_LIMIT: usize = 65_536;

fn at_most(what: &str, text: &str, limit: usize) -> Result<(), Failure> {
    if text.chars().count() > limit {
        return Err(Failure::unprocessable(format!(
            "{what} is too long (maximum is {limit} characters)"
        )));
    }
    Ok(())
}

pub(crate) fn already_exists(owner: &str, branch: &str) -> Failure {
    Failure::unprocessable(format!(
        "A pull request already exists for {owner}:{branch}."
    ))
}

impl Repository {
    /// Issues and pull requests are numbered together.
    pub(crate) fn next_number(&self) -> u64 {
        let issue = self.issues.keys().next_back();
        let pull = self.pulls.keys().next_back();
        issue.max(pull).map_or(1, |last| last + 1)
    }

    pub(crate) fn full_name(&self) -> String {
        format!("{}/{}", self.owner, self.name)
    }

    pub(crate) fn url(&self) -> String {
        format!("https://{}/{}", self.host, self.full_name())
    }

    pub(crate) fn checks_on(&self, sha: &str) -> &[Check] {
        self.checks.get(sha).map_or(&[], Vec::as_slice)
    }
}

/// The time in the form that GitHub writes.
pub(crate) fn now() -> String {
    jiff::Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%SZ")
        .to_string()
}
