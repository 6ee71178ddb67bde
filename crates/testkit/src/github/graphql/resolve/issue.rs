//! Issues, pull requests and their comments.

use serde_json::{Value, json};

use super::connection::page;
use super::{Answer, Object, Resolved, Session, or_null};
use crate::github::graphql::execute::Arguments;
use crate::github::items::{Comment, IssueState, PullRequest, PullRequestState};

impl Session<'_> {
    pub(super) fn issue_field(
        &self,
        repository: usize,
        number: u64,
        field: &str,
        arguments: &Arguments,
    ) -> Option<Answer> {
        let known = &self.world.repositories[repository];
        let issue = &known.issues[&number];
        let url = format!("{}/issues/{number}", known.url());
        let (state, reason, closed_at) = match &issue.state {
            IssueState::Open => ("OPEN", Value::Null, Value::Null),
            IssueState::Closed { reason, at } => ("CLOSED", json!(reason), json!(at)),
        };
        Some(Ok(match field {
            "id" => json!(issue.id).into(),
            "number" => json!(number).into(),
            "title" => json!(issue.title).into(),
            "body" => json!(issue.body).into(),
            "url" => json!(url).into(),
            "author" => self.account_object(&issue.author),
            "state" => json!(state).into(),
            "stateReason" => reason.into(),
            "closed" => (state == "CLOSED").into(),
            "closedAt" => closed_at.into(),
            "createdAt" | "updatedAt" => json!(issue.created_at).into(),
            "repository" => Object::Repository(repository).into(),
            "assignees" => self.assignees("UserConnection", &issue.assignees, field, arguments),
            "assignedActors" => {
                self.assignees("AssigneeConnection", &issue.assignees, field, arguments)
            }
            "comments" => self.comments(&url, &issue.comments, arguments),
            "projectItems" => self.items_of(repository, number, arguments),
            _ => return nothing(field, arguments),
        }))
    }

    pub(super) fn pull_field(
        &self,
        repository: usize,
        number: u64,
        field: &str,
        arguments: &Arguments,
    ) -> Option<Answer> {
        let known = &self.world.repositories[repository];
        let pull = &known.pulls[&number];
        let url = format!("{}/pull/{number}", known.url());
        let (closed_at, merged_at, merge_commit) = match &pull.state {
            PullRequestState::Open => (Value::Null, Value::Null, None),
            PullRequestState::Closed { at } => (json!(at), Value::Null, None),
            PullRequestState::Merged { at, commit } => (json!(at), json!(at), Some(commit.clone())),
        };
        Some(Ok(match field {
            "id" => json!(pull.id).into(),
            "number" => json!(number).into(),
            "title" => json!(pull.title).into(),
            "body" => json!(pull.body).into(),
            "url" => json!(url).into(),
            "author" => self.account_object(&pull.author),
            "state" => json!(pull.state.name()).into(),
            "closed" => (pull.state != PullRequestState::Open).into(),
            "closedAt" => closed_at.into(),
            "merged" => (!merged_at.is_null()).into(),
            "mergedAt" => merged_at.into(),
            "mergeCommit" => or_null(merge_commit.map(|sha| Object::Commit { repository, sha })),
            "mergeStateStatus" => json!(self.merge_state(repository, &pull.head_sha)).into(),
            "createdAt" | "updatedAt" => json!(pull.created_at).into(),
            "isDraft" => pull.draft.into(),
            "repository" => Object::Repository(repository).into(),
            "reviewDecision" => json!(pull.review.decision()).into(),
            "statusCheckRollup" => or_null(self.rollup(repository, &pull.head_sha)),
            "assignees" => self.assignees("UserConnection", &pull.assignees, field, arguments),
            "assignedActors" => {
                self.assignees("AssigneeConnection", &pull.assignees, field, arguments)
            }
            "comments" => self.comments(&url, &pull.comments, arguments),
            "projectItems" => self.items_of(repository, number, arguments),
            _ => return self.pull_branch_field(repository, pull, field, arguments),
        }))
    }

    /// The branches of a pull request and its commits.
    fn pull_branch_field(
        &self,
        repository: usize,
        pull: &PullRequest,
        field: &str,
        arguments: &Arguments,
    ) -> Option<Answer> {
        let known = &self.world.repositories[repository];
        let branch = |name: &str| {
            let exists = known.branches.contains_key(name);
            exists.then(|| Object::Branch {
                repository,
                name: name.to_owned(),
            })
        };
        let head = self
            .world
            .repository(&known.host, &pull.head_owner, &known.name);
        Some(Ok(match field {
            "isCrossRepository" => (pull.head_owner != known.owner).into(),
            "headRefName" => json!(pull.head).into(),
            "headRefOid" => json!(pull.head_sha).into(),
            "headRef" => or_null(branch(&pull.head)),
            "headRepository" => or_null(head.map(Object::Repository)),
            "headRepositoryOwner" => self.account_object(&pull.head_owner),
            "baseRefName" => json!(pull.base).into(),
            "baseRef" => or_null(branch(&pull.base)),
            "commits" => {
                let sha = pull.head_sha.clone();
                let commit = Object::Record(
                    "PullRequestCommit",
                    vec![
                        ("id", json!(format!("PURC_{sha}")).into()),
                        ("commit", Object::Commit { repository, sha }.into()),
                    ],
                );
                page(
                    "PullRequestCommitConnection",
                    field,
                    &[commit.into()],
                    arguments,
                )
            }
            _ => return merging_field(repository, pull, field, arguments),
        }))
    }

    fn assignees(
        &self,
        connection: &'static str,
        logins: &[String],
        field: &str,
        arguments: &Arguments,
    ) -> Resolved {
        let people: Vec<_> = logins
            .iter()
            .map(|login| self.account_object(login))
            .collect();
        page(connection, field, &people, arguments)
    }

    fn comments(&self, url: &str, comments: &[Comment], arguments: &Arguments) -> Resolved {
        let all: Vec<_> = comments
            .iter()
            .map(|comment| self.comment(url, comment).into())
            .collect();
        page("IssueCommentConnection", "comments", &all, arguments)
    }

    pub(super) fn comment(&self, url: &str, comment: &Comment) -> Object {
        Object::Record(
            "IssueComment",
            vec![
                ("id", json!(comment.id).into()),
                ("authorAssociation", json!("MEMBER").into()),
                ("includesCreatedEdit", false.into()),
                ("isMinimized", false.into()),
                ("minimizedReason", Resolved::NULL),
                ("reactionGroups", Resolved::List(Vec::new())),
                ("body", json!(comment.body).into()),
                ("author", self.account_object(&comment.author)),
                ("createdAt", json!(comment.created_at).into()),
                (
                    "url",
                    json!(format!("{url}#issuecomment-{}", comment.id)).into(),
                ),
                (
                    "viewerDidAuthor",
                    (comment.author == self.token.login).into(),
                ),
            ],
        )
    }
}

/// What stands between a pull request and its merge.
fn merging_field(
    repository: usize,
    pull: &PullRequest,
    field: &str,
    arguments: &Arguments,
) -> Option<Answer> {
    Some(Ok(match field {
        "mergeable" => json!(if pull.merging.conflict {
            "CONFLICTING"
        } else {
            "MERGEABLE"
        })
        .into(),
        "isInMergeQueue" => pull.merging.queued.into(),
        "autoMergeRequest" => or_null(pull.merging.auto_merge.then(|| {
            let at = json!(pull.created_at).into();
            Object::Record("AutoMergeRequest", vec![("enabledAt", at)])
        })),
        "timelineItems" => {
            let forced: Vec<Resolved> = pull
                .merging
                .forced_to
                .iter()
                .map(|sha| forced_push(repository, sha).into())
                .collect();
            page(
                "PullRequestTimelineItemsConnection",
                field,
                &forced,
                arguments,
            )
        }
        _ => return nothing(field, arguments),
    }))
}

fn forced_push(repository: usize, sha: &str) -> Object {
    let sha = sha.to_owned();
    let commit = Object::Commit { repository, sha };
    Object::Record(
        "HeadRefForcePushedEvent",
        vec![("afterCommit", commit.into())],
    )
}

/// Fields that issues and pull requests of the stand-in never have.
fn nothing(field: &str, arguments: &Arguments) -> Option<Answer> {
    let connection = match field {
        "milestone" | "issueType" | "parent" => return Some(Ok(Resolved::NULL)),
        "reactionGroups" => return Some(Ok(Resolved::List(Vec::new()))),
        "subIssuesSummary" => {
            let counts = ["completed", "percentCompleted", "total"].map(|name| (name, 0.into()));
            return Some(Ok(Object::Record("SubIssuesSummary", counts.into()).into()));
        }
        "labels" => "LabelConnection",
        "projectCards" => "ProjectCardConnection",
        "subIssues" | "blockedBy" | "blocking" => "IssueConnection",
        _ => return None,
    };
    Some(Ok(page(connection, field, &[], arguments)))
}
