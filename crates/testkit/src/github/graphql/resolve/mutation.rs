//! Mutations.

use serde_json::{Value, json};

use super::{Answer, Object, Resolved, Session};
use crate::github::board::NewValue;
use crate::github::graphql::error::Failure;
use crate::github::graphql::execute::Arguments;
use crate::github::items::{IssueState, PullRequestState};
use crate::github::state::{NewPullRequest, now};

impl Session<'_> {
    pub(super) fn mutate(&mut self, field: &str, input: &Arguments) -> Option<Answer> {
        let client_id = Resolved::from(json!(input.text("clientMutationId")));
        let done = match field {
            "createPullRequest" => self.create_pull_request(input),
            "closePullRequest" => self.close_pull_request(input),
            "addComment" => self.add_comment(input),
            "closeIssue" => self.close_issue(input),
            "reopenIssue" => self.reopen_issue(input),
            "updateIssue" => self.update_issue(input),
            "addAssigneesToAssignable" => self.assign(input, Change::Add),
            "removeAssigneesFromAssignable" => self.assign(input, Change::Remove),
            "replaceActorsForAssignable" => self.assign(input, Change::Replace),
            "updateProjectV2ItemFieldValue" => self.set_value(input),
            "clearProjectV2ItemFieldValue" => self.clear_value(input),
            _ => return None,
        };
        Some(done.map(|(payload, mut fields)| {
            fields.push(("clientMutationId", client_id));
            Object::Record(payload, fields).into()
        }))
    }

    fn create_pull_request(&mut self, input: &Arguments) -> Payload {
        let id = input.text("repositoryId").unwrap_or_default();
        let Object::Repository(repository) = self.find_node(id)? else {
            return Err(wrong_kind(id, "Repository"));
        };
        let new = NewPullRequest {
            author: &self.token.login,
            head: input.text("headRefName").unwrap_or_default(),
            base: input.text("baseRefName").unwrap_or_default(),
            title: input.text("title").unwrap_or_default(),
            body: input.text("body").unwrap_or_default(),
            draft: input.get("draft") == Some(&Value::Bool(true)),
        };
        let number = self.world.create_pull(repository, &new)?;
        let pull = Object::PullRequest { repository, number };
        Ok((
            "CreatePullRequestPayload",
            vec![("pullRequest", pull.into())],
        ))
    }

    fn close_pull_request(&mut self, input: &Arguments) -> Payload {
        let id = input.text("pullRequestId").unwrap_or_default();
        let Object::PullRequest { repository, number } = self.find_node(id)? else {
            return Err(wrong_kind(id, "PullRequest"));
        };
        if let Some(pull) = self.world.repositories[repository].pulls.get_mut(&number)
            && pull.state == PullRequestState::Open
        {
            pull.state = PullRequestState::Closed { at: now() };
        }
        let pull = Object::PullRequest { repository, number };
        Ok((
            "ClosePullRequestPayload",
            vec![("pullRequest", pull.into())],
        ))
    }

    fn add_comment(&mut self, input: &Arguments) -> Payload {
        let id = input.text("subjectId").unwrap_or_default();
        let subject = self.find_node(id)?;
        let (repository, number, folder) = match subject {
            Object::Issue { repository, number } => (repository, number, "issues"),
            Object::PullRequest { repository, number } => (repository, number, "pull"),
            _ => return Err(wrong_kind(id, "Commentable")),
        };
        let body = input.text("body").unwrap_or_default();
        let comment = self
            .world
            .comment(repository, number, &self.token.login, body)?;
        let url = format!(
            "{}/{folder}/{number}",
            self.world.repositories[repository].url()
        );
        let edge = Object::Record(
            "IssueCommentEdge",
            vec![
                ("cursor", json!(comment.id).into()),
                ("node", self.comment(&url, &comment).into()),
            ],
        );
        Ok((
            "AddCommentPayload",
            vec![("commentEdge", edge.into()), ("subject", subject.into())],
        ))
    }

    fn issue_id(&self, input: &Arguments, name: &str) -> Result<(usize, u64), Failure> {
        let id = input.text(name).unwrap_or_default();
        match self.find_node(id)? {
            Object::Issue { repository, number } => Ok((repository, number)),
            _ => Err(wrong_kind(id, "Issue")),
        }
    }

    fn close_issue(&mut self, input: &Arguments) -> Payload {
        let (repository, number) = self.issue_id(input, "issueId")?;
        let reason = input.text("stateReason").unwrap_or("COMPLETED");
        if let Some(issue) = self.world.repositories[repository].issues.get_mut(&number) {
            issue.close(reason);
        }
        let issue = Object::Issue { repository, number };
        Ok(("CloseIssuePayload", vec![("issue", issue.into())]))
    }

    fn reopen_issue(&mut self, input: &Arguments) -> Payload {
        let (repository, number) = self.issue_id(input, "issueId")?;
        if let Some(issue) = self.world.repositories[repository].issues.get_mut(&number) {
            issue.state = IssueState::Open;
        }
        let issue = Object::Issue { repository, number };
        Ok(("ReopenIssuePayload", vec![("issue", issue.into())]))
    }

    fn update_issue(&mut self, input: &Arguments) -> Payload {
        let (repository, number) = self.issue_id(input, "id")?;
        let assignees = match input.get("assigneeIds") {
            Some(ids) => Some(self.logins(ids)?),
            None => None,
        };
        if let Some(issue) = self.world.repositories[repository].issues.get_mut(&number) {
            if let Some(title) = input.text("title") {
                title.clone_into(&mut issue.title);
            }
            if let Some(body) = input.text("body") {
                body.clone_into(&mut issue.body);
            }
            if let Some(assignees) = assignees {
                issue.assignees = assignees;
            }
            match input.text("state") {
                Some("CLOSED") => issue.close("COMPLETED"),
                Some(_) => issue.state = IssueState::Open,
                None => {}
            }
        }
        let issue = Object::Issue { repository, number };
        Ok(("UpdateIssuePayload", vec![("issue", issue.into())]))
    }

    fn logins(&self, ids: &Value) -> Result<Vec<String>, Failure> {
        let ids = ids.as_array().map_or(&[] as &[_], Vec::as_slice);
        ids.iter()
            .map(|id| {
                let id = id.as_str().unwrap_or_default();
                match self.find_node(id)? {
                    Object::Account(account) => Ok(self.world.accounts[account].login.clone()),
                    _ => Err(wrong_kind(id, "User")),
                }
            })
            .collect()
    }

    fn assign(&mut self, input: &Arguments, change: Change) -> Payload {
        let id = input.text("assignableId").unwrap_or_default();
        let assignable = self.find_node(id)?;
        let ids = input.get("assigneeIds").or(input.get("actorIds"));
        let logins = match (ids, input.get("actorLogins")) {
            (Some(ids), _) => self.logins(ids)?,
            (None, Some(Value::Array(logins))) => {
                let logins = logins.iter().filter_map(Value::as_str);
                logins.map(str::to_owned).collect()
            }
            (None, _) => Vec::new(),
        };
        let assignees = match assignable {
            Object::Issue { repository, number } => {
                let issue = self.world.repositories[repository].issues.get_mut(&number);
                issue.map(|issue| &mut issue.assignees)
            }
            Object::PullRequest { repository, number } => {
                let pull = self.world.repositories[repository].pulls.get_mut(&number);
                pull.map(|pull| &mut pull.assignees)
            }
            _ => None,
        };
        let assignees = assignees.ok_or_else(|| wrong_kind(id, "Assignable"))?;
        let payload = match change {
            Change::Add => {
                assignees.retain(|login| !logins.contains(login));
                assignees.extend(logins);
                "AddAssigneesToAssignablePayload"
            }
            Change::Remove => {
                assignees.retain(|login| !logins.contains(login));
                "RemoveAssigneesFromAssignablePayload"
            }
            Change::Replace => {
                *assignees = logins;
                "ReplaceActorsForAssignablePayload"
            }
        };
        Ok((payload, vec![("assignable", assignable.into())]))
    }

    /// The board, item and field that an input names.
    fn cell(&self, input: &Arguments) -> Result<(usize, usize, usize), Failure> {
        let project = input.text("projectId").unwrap_or_default();
        let Object::Board(board) = self.find_node(project)? else {
            return Err(wrong_kind(project, "ProjectV2"));
        };
        let known = &self.world.boards[board];
        let item = known
            .item_with_id(input.text("itemId").unwrap_or_default())
            .ok_or_else(|| Failure::not_found("The item does not exist in the project"))?;
        let field = known
            .field_with_id(input.text("fieldId").unwrap_or_default())
            .ok_or_else(|| Failure::not_found("The field does not exist in the project"))?;
        Ok((board, item, field))
    }

    fn set_value(&mut self, input: &Arguments) -> Payload {
        let (board, item, field) = self.cell(input)?;
        let value = input.get("value").cloned().unwrap_or_default();
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let value = match (text("text"), text("singleSelectOptionId")) {
            (Some(text), _) => NewValue::Text(text),
            (None, Some(id)) => NewValue::Option(id),
            (None, None) => return Err(Failure::unprocessable("A value is required")),
        };
        self.world.boards[board]
            .set(item, field, &value)
            .map_err(Failure::unprocessable)?;
        Ok(item_payload(
            "UpdateProjectV2ItemFieldValuePayload",
            board,
            item,
        ))
    }

    fn clear_value(&mut self, input: &Arguments) -> Payload {
        let (board, item, field) = self.cell(input)?;
        self.world.boards[board].clear(item, field);
        Ok(item_payload(
            "ClearProjectV2ItemFieldValuePayload",
            board,
            item,
        ))
    }
}

#[derive(Clone, Copy)]
enum Change {
    Add,
    Remove,
    Replace,
}

/// The payload's type and its fields.
type Payload = Result<(&'static str, Vec<(&'static str, Resolved)>), Failure>;

fn item_payload(
    payload: &'static str,
    board: usize,
    item: usize,
) -> (&'static str, Vec<(&'static str, Resolved)>) {
    let item = Object::BoardItem { board, item };
    (payload, vec![("projectV2Item", item.into())])
}

fn wrong_kind(id: &str, wanted: &str) -> Failure {
    Failure::not_found(format!(
        "Could not resolve to {wanted} node with the global id of '{id}'."
    ))
}
