//! One GraphQL document with every mutation of one transition, so that they are one call.

use mainspring_kernel::machines::claim::work::{CardMove, Fault};
use serde_json::{Map, Value};

use super::gh::{GitHub, Reply};
use super::github_context::same;
use super::query::{BoardCard, IssueCard};

#[derive(Debug, Default)]
pub(crate) struct Change {
    parts: Vec<String>,
    declared: Vec<String>,
    variables: Map<String, Value>,
    /// What is missing on the board for the wanted change.
    lacks: Option<String>,
    /// The board has no field for who works on the card, which only makes it less useful.
    no_agent_field: bool,
    moves_card: bool,
}

impl Change {
    fn variable(&mut self, name: &str, kind: &str, value: &str) {
        let declaration = format!("${name}: {kind}!");
        if !self.declared.contains(&declaration) {
            self.declared.push(declaration);
        }
        self.variables.insert(name.into(), value.into());
    }

    pub(crate) fn comment(&mut self, issue: &str, body: &str) {
        self.variable("issue", "ID", issue);
        self.variable("body", "String", body);
        self.parts.push(
            "comment: addComment(input: {subjectId: $issue, body: $body}) { clientMutationId }"
                .into(),
        );
    }

    pub(crate) fn close(&mut self, issue: &str) {
        self.variable("issue", "ID", issue);
        self.parts.push(
            "close: closeIssue(input: {issueId: $issue, stateReason: COMPLETED}) { issue { state } }".into(),
        );
    }

    pub(crate) fn assign(&mut self, issue: &str, me: &str) {
        self.assignment("addAssigneesToAssignable", issue, me);
    }

    pub(crate) fn unassign(&mut self, issue: &str, me: &str) {
        self.assignment("removeAssigneesFromAssignable", issue, me);
    }

    fn assignment(&mut self, mutation: &str, issue: &str, me: &str) {
        self.variable("issue", "ID", issue);
        self.variable("me", "ID", me);
        self.parts.push(format!(
            "assign: {mutation}(input: {{assignableId: $issue, assigneeIds: [$me]}}) {{ clientMutationId }}"
        ));
    }

    /// Sets the card's fields; fields that already have the wanted value are left out.
    pub(crate) fn card(&mut self, board: &IssueCard, status: &str, agent: &str) {
        let card = match board {
            IssueCard::Off => return,
            IssueCard::Lacks(what) => {
                self.lacks = Some(what.clone());
                return;
            }
            IssueCard::Card(card) => card,
        };
        self.moves_card = true;
        if !same(&card.status, status) {
            self.status(card, status);
        }
        if card.agent != agent {
            self.agent(card, agent);
        }
    }

    fn status(&mut self, card: &BoardCard, status: &str) {
        let option = card.options.iter().find(|(name, _)| same(name, status));
        match (&card.status_field, option) {
            (None, _) => self.lacks = Some("the board has no single-select field `Status`".into()),
            (Some(_), None) => {
                let names: Vec<&str> = card.options.iter().map(|(name, _)| &**name).collect();
                self.lacks = Some(format!(
                    "the board's `Status` has no option `{status}`, only {}; `claim.columns` names the \
                     columns",
                    names.join(", ")
                ));
            }
            (Some(field), Some((_, option))) => {
                self.place(card);
                self.variable("status", "ID", field);
                self.variable("option", "String", option);
                self.parts.push(
                    "status: updateProjectV2ItemFieldValue(input: {projectId: $project, itemId: $item, fieldId: $status, value: {singleSelectOptionId: $option}}) { clientMutationId }".into(),
                );
            }
        }
    }

    fn agent(&mut self, card: &BoardCard, agent: &str) {
        let Some(field) = &card.agent_field else {
            self.no_agent_field = true;
            return;
        };
        self.place(card);
        self.variable("agent", "ID", field);
        if agent.is_empty() {
            self.parts.push(
                "agent: clearProjectV2ItemFieldValue(input: {projectId: $project, itemId: $item, fieldId: $agent}) { clientMutationId }".into(),
            );
        } else {
            self.variable("text", "String", agent);
            self.parts.push(
                "agent: updateProjectV2ItemFieldValue(input: {projectId: $project, itemId: $item, fieldId: $agent, value: {text: $text}}) { clientMutationId }".into(),
            );
        }
    }

    fn place(&mut self, card: &BoardCard) {
        self.variable("project", "ID", &card.project);
        self.variable("item", "ID", &card.item);
    }

    /// Makes the change, unless it is empty.
    pub(crate) fn apply(mut self, github: &GitHub<'_>) -> Applied {
        let document = format!(
            "mutation ClaimChange({}) {{\n  {}\n}}",
            self.declared.join(", "),
            self.parts.join("\n  ")
        );
        let variables = Value::Object(std::mem::take(&mut self.variables));
        let reply = (!self.parts.is_empty()).then(|| github.graphql(&document, &variables));
        Applied {
            reply,
            change: self,
        }
    }
}

/// A change that was made, with the result for each of its parts.
#[derive(Debug)]
pub(crate) struct Applied {
    reply: Option<Result<Reply, Fault>>,
    change: Change,
}

impl Applied {
    /// The result of a part that does not concern the board.
    pub(crate) fn part(&self, alias: &str) -> Result<(), Fault> {
        match &self.reply {
            None => Ok(()),
            Some(Err(fault)) => Err(fault.clone()),
            Some(Ok(reply)) => match reply.error_at(alias) {
                None if reply.body["data"].is_object() => Ok(()),
                Some(_) | None => Err(reply.fault()),
            },
        }
    }

    pub(crate) fn board(&self) -> CardMove {
        let refused = match &self.reply {
            Some(Err(fault)) if self.change.moves_card => {
                return CardMove::Unreachable(fault.cause.clone());
            }
            Some(Ok(reply)) => reply
                .error_at("status")
                .or_else(|| reply.error_at("agent"))
                .map(str::to_owned),
            Some(Err(_)) | None => None,
        };
        let lacks = refused.or_else(|| self.change.lacks.clone());
        match (lacks, self.change.moves_card) {
            (Some(cause), _) => CardMove::Lacks(cause),
            (None, true) if self.change.no_agent_field => CardMove::MovedOnly(
                "the board has no text field `Agent`, so it does not say who works on it".into(),
            ),
            (None, true) => CardMove::Moved,
            (None, false) => CardMove::Off,
        }
    }
}
