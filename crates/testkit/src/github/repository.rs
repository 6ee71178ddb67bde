//! A test's handle for one repository.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::check::Check;
use super::items::{Issue, IssueState, Merging, PullRequest, PullRequestState, Review};
use super::state::{AccountKind, Repository, now};
use super::{GitHub, LOGIN};

#[derive(Clone, Copy, Debug)]
pub struct Repo<'a> {
    github: &'a GitHub,
    pub(super) index: usize,
}

impl<'a> Repo<'a> {
    pub(super) fn add(github: &'a GitHub, host: &str, owner: &str, name: &str) -> Self {
        let mut inside = github.shared.lock();
        let world = &mut inside.world;
        world.add_account(owner, AccountKind::Organization);
        let id = world.id("R");
        world.repositories.push(Repository {
            id,
            host: host.to_owned(),
            owner: owner.to_owned(),
            name: name.to_owned(),
            default_branch: "main".to_owned(),
            git_dir: None,
            branches: BTreeMap::from([("main".to_owned(), "0".repeat(40))]),
            required: BTreeSet::new(),
            checks: BTreeMap::new(),
            issues: BTreeMap::new(),
            pulls: BTreeMap::new(),
            permission: "ADMIN".to_owned(),
            logs: BTreeMap::new(),
        });
        let index = world.repositories.len() - 1;
        Self { github, index }
    }

    pub(super) fn find(github: &'a GitHub, owner: &str, name: &str) -> Self {
        let inside = github.shared.lock();
        let index = inside.world.repository("github.com", owner, name);
        let index = index.expect("the repository was added");
        Self { github, index }
    }

    fn change<T>(&self, change: impl FnOnce(&mut Repository) -> T) -> T {
        change(&mut self.github.shared.lock().world.repositories[self.index])
    }

    fn change_pull<T>(&self, number: u64, change: impl FnOnce(&mut PullRequest) -> T) -> T {
        self.change(|known| {
            change(
                known
                    .pulls
                    .get_mut(&number)
                    .expect("the pull request exists"),
            )
        })
    }

    /// From now on, this bare repository determines the branches.
    pub fn follow(&self, git_dir: &Path) {
        self.change(|known| known.git_dir = Some(git_dir.to_owned()));
    }

    pub fn set_default_branch(&self, name: &str) {
        self.change(|known| {
            let sha = known
                .branches
                .get("main")
                .cloned()
                .unwrap_or_else(|| "0".repeat(40));
            known.branches.insert(name.to_owned(), sha);
            name.clone_into(&mut known.default_branch);
        });
    }

    /// Sets a branch, if no bare repository is followed.
    pub fn push(&self, branch: &str, sha: &str) {
        self.change(|known| known.branches.insert(branch.to_owned(), sha.to_owned()));
    }

    /// Requires this check for a merge.
    pub fn require(&self, check: &str) {
        self.change(|known| known.required.insert(check.to_owned()));
    }

    /// Registers a check on a commit, or changes it.
    pub fn set_check(&self, sha: &str, check: Check) {
        self.change(|known| {
            let checks = known.checks.entry(sha.to_owned()).or_default();
            match checks.iter_mut().find(|known| known.name == check.name) {
                Some(known) => *known = check,
                None => checks.push(check),
            }
        });
    }

    pub fn add_issue(&self, number: u64, title: &str) {
        let id = self.github.shared.lock().world.id("I");
        self.change(|known| {
            known.issues.insert(
                number,
                Issue {
                    id,
                    number,
                    title: title.to_owned(),
                    body: String::new(),
                    author: LOGIN.to_owned(),
                    state: IssueState::Open,
                    assignees: Vec::new(),
                    comments: Vec::new(),
                    created_at: now(),
                    closes: 0,
                },
            )
        });
    }

    /// Adds a comment by this author.
    pub fn add_comment(&self, number: u64, author: &str, body: &str) {
        let mut inside = self.github.shared.lock();
        inside.world.add_account(author, AccountKind::User);
        inside
            .world
            .comment(self.index, number, author, body)
            .expect("the issue exists");
    }

    /// The issue as it is now.
    pub fn issue(&self, number: u64) -> Issue {
        self.change(|known| known.issues[&number].clone())
    }

    /// The pull request as it is now.
    pub fn pull(&self, number: u64) -> PullRequest {
        self.follow_branches();
        self.change_pull(number, |pull| pull.clone())
    }

    /// Every pull request, oldest first.
    pub fn pulls(&self) -> Vec<PullRequest> {
        self.follow_branches();
        self.change(|known| known.pulls.values().cloned().collect())
    }

    fn follow_branches(&self) {
        self.github.shared.lock().world.follow_branches();
    }

    /// A person merges. An issue that the body closes is closed too.
    pub fn merge(&self, number: u64) {
        self.follow_branches();
        self.change(|known| {
            let pull = known
                .pulls
                .get_mut(&number)
                .expect("the pull request exists");
            pull.state = PullRequestState::Merged {
                at: now(),
                commit: pull.head_sha.clone(),
            };
            for closed in closing_references(&pull.body) {
                if let Some(issue) = known.issues.get_mut(&closed) {
                    issue.close("COMPLETED");
                }
            }
        });
    }

    /// A person closes the pull request without merging it.
    pub fn close_pull(&self, number: u64) {
        self.change_pull(number, |pull| {
            pull.state = PullRequestState::Closed { at: now() }
        });
    }

    /// What else is known about the merge to come.
    pub fn set_merging(&self, number: u64, merging: Merging) {
        self.change_pull(number, |pull| pull.merging = merging);
    }

    pub fn set_draft(&self, number: u64, draft: bool) {
        self.change_pull(number, |pull| pull.draft = draft);
    }

    /// What the token's owner may do here: `ADMIN`, `WRITE`, `READ` …
    pub fn set_permission(&self, permission: &str) {
        self.change(|known| permission.clone_into(&mut known.permission));
    }

    /// The log of a job. The jobs of a commit's checks are numbered from 1.
    pub fn set_log(&self, job: u64, log: &str) {
        self.change(|known| known.logs.insert(job, log.to_owned()));
    }

    pub fn assign(&self, number: u64, login: &str) {
        self.github.add_account(login, AccountKind::User);
        self.change(|known| {
            let issue = known.issues.get_mut(&number).expect("the issue exists");
            issue.assignees.push(login.to_owned());
        });
    }

    /// A person opens a closed issue again.
    pub fn reopen(&self, number: u64) {
        self.change(|known| {
            let issue = known.issues.get_mut(&number).expect("the issue exists");
            issue.state = IssueState::Open;
        });
    }

    pub fn set_review(&self, number: u64, review: Review) {
        self.change_pull(number, |pull| pull.review = review);
    }
}

/// The issues that GitHub would close with this text: `Closes #42` and the like.
fn closing_references(body: &str) -> Vec<u64> {
    const WORDS: [&str; 9] = [
        "close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved",
    ];
    let words: Vec<_> = body.split_whitespace().collect();
    words
        .windows(2)
        .filter_map(|pair| {
            let verb = pair[0].trim_end_matches(':').to_ascii_lowercase();
            let digits = pair[1].strip_prefix('#')?;
            let digits = digits.trim_end_matches(|c: char| !c.is_ascii_digit());
            WORDS
                .contains(&verb.as_str())
                .then(|| digits.parse().ok())?
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_githubs_closing_words_close() {
        assert_eq!(closing_references("Closes #42, fixes: #7."), [42, 7]);
        assert_eq!(
            closing_references("Refs #42\nsee #7, closes 9, encloses #3"),
            [] as [u64; 0]
        );
    }
}
