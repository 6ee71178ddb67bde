//! REST representations.

use serde_json::{Value, json};

use super::check::{Check, CheckKind, RunState};
use super::graphql::Failure;
use super::items::{IssueState, PullRequestState};
use super::state::{Repository, World};

/// A repository for REST.
pub(crate) struct Shown<'a> {
    pub(crate) world: &'a World,
    pub(crate) repository: &'a Repository,
}

pub(crate) fn account(world: &World, login: &str) -> Value {
    json!({ "login": login, "node_id": world.account(login).map(|account| &account.id) })
}

impl Shown<'_> {
    pub(crate) fn repository(&self) -> Value {
        let repository = self.repository;
        json!({
            "node_id": repository.id,
            "name": repository.name,
            "full_name": repository.full_name(),
            "owner": account(self.world, &repository.owner),
            "default_branch": repository.default_branch,
            "html_url": repository.url(),
            "private": true,
        })
    }

    pub(crate) fn pull(&self, number: u64) -> Result<Value, Failure> {
        let repository = self.repository;
        let pull = repository.pulls.get(&number).ok_or_else(missing)?;
        let (state, closed_at, merged_at) = match &pull.state {
            PullRequestState::Open => ("open", None, None),
            PullRequestState::Closed { at } => ("closed", Some(at), None),
            PullRequestState::Merged { at, .. } => ("closed", Some(at), Some(at)),
        };
        let end = |branch: &str, sha: Option<&String>| {
            json!({
                "ref": branch,
                "sha": sha,
                "label": format!("{}:{branch}", repository.owner),
                "repo": { "full_name": repository.full_name() },
            })
        };
        Ok(json!({
            "number": number,
            "node_id": pull.id,
            "html_url": format!("{}/pull/{number}", repository.url()),
            "title": pull.title,
            "body": pull.body,
            "draft": pull.draft,
            "state": state,
            "closed_at": closed_at,
            "merged_at": merged_at,
            "merged": merged_at.is_some(),
            "user": account(self.world, &pull.author),
            "head": end(&pull.head, Some(&pull.head_sha)),
            "base": end(&pull.base, repository.branches.get(&pull.base)),
            "created_at": pull.created_at,
        }))
    }

    /// REST shows a pull request as an issue, too.
    pub(crate) fn issue(&self, number: u64) -> Result<Value, Failure> {
        let Some(issue) = self.repository.issues.get(&number) else {
            let mut pull = self.pull(number)?;
            pull["pull_request"] = json!({ "html_url": pull["html_url"] });
            return Ok(pull);
        };
        let (state, reason, closed_at) = match &issue.state {
            IssueState::Open => ("open", None, None),
            IssueState::Closed { reason, at } => {
                ("closed", Some(reason.to_ascii_lowercase()), Some(at))
            }
        };
        let assignees = issue
            .assignees
            .iter()
            .map(|login| account(self.world, login));
        Ok(json!({
            "number": number,
            "node_id": issue.id,
            "html_url": format!("{}/issues/{number}", self.repository.url()),
            "title": issue.title,
            "body": issue.body,
            "state": state,
            "state_reason": reason,
            "closed_at": closed_at,
            "user": account(self.world, &issue.author),
            "assignees": assignees.collect::<Vec<_>>(),
            "comments": issue.comments.len(),
            "created_at": issue.created_at,
        }))
    }

    pub(crate) fn comments(&self, number: u64) -> Result<Vec<Value>, Failure> {
        let issue = self
            .repository
            .issues
            .get(&number)
            .map(|issue| &issue.comments);
        let pull = self
            .repository
            .pulls
            .get(&number)
            .map(|pull| &pull.comments);
        let comments = issue.or(pull).ok_or_else(missing)?;
        let shown = comments.iter().map(|comment| {
            json!({
                "node_id": comment.id,
                "body": comment.body,
                "user": account(self.world, &comment.author),
                "created_at": comment.created_at,
                "html_url": format!("{}/issues/{number}#issuecomment-{}", self.repository.url(), comment.id),
            })
        });
        Ok(shown.collect())
    }

    pub(crate) fn check_runs(&self, sha: &str) -> Value {
        let runs = self.repository.checks_on(sha).iter().filter_map(|Check { name, kind }| match kind {
            CheckKind::Run(RunState::Unfinished(status)) => {
                Some(json!({ "name": name, "status": status.to_ascii_lowercase(), "conclusion": null }))
            }
            CheckKind::Run(RunState::Completed(conclusion)) => {
                Some(json!({ "name": name, "status": "completed", "conclusion": conclusion.to_ascii_lowercase() }))
            }
            CheckKind::Status(_) => None,
        });
        let runs: Vec<_> = runs.collect();
        json!({ "total_count": runs.len(), "check_runs": runs })
    }

    pub(crate) fn combined_status(&self, sha: &str) -> Value {
        let statuses = self
            .repository
            .checks_on(sha)
            .iter()
            .filter_map(|Check { name, kind }| match kind {
                CheckKind::Status(state) => {
                    Some(json!({ "context": name, "state": state.to_ascii_lowercase() }))
                }
                CheckKind::Run(_) => None,
            });
        let statuses: Vec<_> = statuses.collect();
        json!({ "sha": sha, "total_count": statuses.len(), "statuses": statuses })
    }
}

fn missing() -> Failure {
    Failure::not_found("Not Found")
}
