//! Repositories, branches and commits.

use serde_json::{Value, json};

use super::connection::page;
use super::{Answer, Object, Resolved, Session, or_null};
use crate::github::graphql::error::Failure;
use crate::github::graphql::execute::Arguments;
use crate::github::state::AccountKind;

impl Session<'_> {
    pub(super) fn repository_field(
        &self,
        repository: usize,
        field: &str,
        arguments: &Arguments,
    ) -> Option<Answer> {
        let known = &self.world.repositories[repository];
        Some(Ok(match field {
            "id" => json!(known.id).into(),
            "name" => json!(known.name).into(),
            "databaseId" => json!(repository + 1).into(),
            "sshUrl" => json!(format!("git@{}:{}.git", known.host, known.full_name())).into(),
            "nameWithOwner" => json!(known.full_name()).into(),
            "owner" => self.account_object(&known.owner),
            "url" => json!(known.url()).into(),
            "description" | "parent" => Resolved::NULL,
            "hasIssuesEnabled" | "mergeCommitAllowed" | "rebaseMergeAllowed"
            | "squashMergeAllowed" | "isPrivate" => true.into(),
            "hasWikiEnabled" | "isArchived" => false.into(),
            "viewerPermission" => json!(known.permission).into(),
            "defaultBranchRef" => or_null(self.branch(repository, &known.default_branch)),
            "ref" => {
                let name = arguments.text("qualifiedName").unwrap_or_default();
                or_null(self.branch(repository, name.strip_prefix("refs/heads/").unwrap_or(name)))
            }
            "issue" | "pullRequest" | "issueOrPullRequest" => {
                return Some(self.numbered(
                    repository,
                    field,
                    arguments.number("number").unwrap_or_default(),
                ));
            }
            "pullRequests" => self.pulls(repository, arguments),
            "projectV2" => return Some(self.project_of(&known.owner, arguments)),
            "assignableUsers" => page("UserConnection", field, &self.people(arguments), arguments),
            "suggestedActors" => page("ActorConnection", field, &self.people(arguments), arguments),
            _ => return None,
        }))
    }

    fn branch(&self, repository: usize, name: &str) -> Option<Object> {
        let exists = self.world.repositories[repository]
            .branches
            .contains_key(name);
        exists.then(|| Object::Branch {
            repository,
            name: name.to_owned(),
        })
    }

    fn numbered(&self, repository: usize, field: &str, number: u64) -> Answer {
        let known = &self.world.repositories[repository];
        let issue = known.issues.contains_key(&number) && field != "pullRequest";
        let pull = known.pulls.contains_key(&number) && field != "issue";
        let what = match field {
            "issue" => "an Issue",
            "pullRequest" => "a PullRequest",
            _ => "an issue or pull request",
        };
        match (issue, pull) {
            (true, _) => Ok(Object::Issue { repository, number }.into()),
            (_, true) => Ok(Object::PullRequest { repository, number }.into()),
            (false, false) => Err(Failure::not_found(format!(
                "Could not resolve to {what} with the number of {number}."
            ))),
        }
    }

    fn pulls(&self, repository: usize, arguments: &Arguments) -> Resolved {
        let states = arguments.get("states").and_then(Value::as_array);
        let mut pulls: Vec<_> = self.world.repositories[repository]
            .pulls
            .values()
            .filter(|pull| {
                let state = pull.state.name();
                states.is_none_or(|states| states.iter().any(|wanted| wanted == state))
                    && arguments
                        .text("headRefName")
                        .is_none_or(|head| head == pull.head)
                    && arguments
                        .text("baseRefName")
                        .is_none_or(|base| base == pull.base)
            })
            .map(|pull| {
                let number = pull.number;
                Resolved::from(Object::PullRequest { repository, number })
            })
            .collect();
        let order = arguments
            .get("orderBy")
            .and_then(|order| order.get("direction"));
        if order.is_some_and(|direction| direction == "DESC") {
            pulls.reverse();
        }
        page("PullRequestConnection", "pullRequests", &pulls, arguments)
    }

    /// Everyone to whom an issue can be assigned.
    fn people(&self, arguments: &Arguments) -> Vec<Resolved> {
        let query = arguments.text("query").unwrap_or_default();
        let accounts = self.world.accounts.iter().enumerate();
        accounts
            .filter(|(_, account)| {
                account.kind == AccountKind::User && account.login.contains(query)
            })
            .map(|(index, _)| Object::Account(index).into())
            .collect()
    }

    pub(super) fn branch_field(
        &self,
        repository: usize,
        name: &str,
        field: &str,
    ) -> Option<Answer> {
        let known = &self.world.repositories[repository];
        Some(Ok(match field {
            "id" => json!(format!("REF_{}_{name}", known.id)).into(),
            "name" => json!(name).into(),
            "prefix" => json!("refs/heads/").into(),
            "target" => {
                let sha = known.branches.get(name)?.clone();
                Object::Commit { repository, sha }.into()
            }
            "refUpdateRule" => {
                if known.required.is_empty() || name != known.default_branch {
                    return Some(Ok(Resolved::NULL));
                }
                Object::Record(
                    "RefUpdateRule",
                    vec![
                        ("pattern", json!(name).into()),
                        ("requiredApprovingReviewCount", Resolved::NULL),
                        ("requiredStatusCheckContexts", json!(known.required).into()),
                    ],
                )
                .into()
            }
            _ => return None,
        }))
    }

    pub(super) fn commit_field(&self, repository: usize, sha: &str, field: &str) -> Option<Answer> {
        Some(Ok(match field {
            "id" => json!(format!("C_{sha}")).into(),
            "oid" => json!(sha).into(),
            "statusCheckRollup" => or_null(self.rollup(repository, sha)),
            _ => return None,
        }))
    }
}
