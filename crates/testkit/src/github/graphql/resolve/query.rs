//! The root of queries.

use serde_json::json;

use super::{Answer, Object, Resolved, Session, or_null};
use crate::github::graphql::error::Failure;
use crate::github::graphql::execute::Arguments;
use crate::github::graphql::schema::{Schema, TypeDefinition};
use crate::github::state::{AccountKind, Grant};

impl Session<'_> {
    pub(super) fn query(&mut self, field: &str, arguments: &Arguments) -> Option<Answer> {
        Some(match field {
            "viewer" => Ok(self.account_object(&self.token.login)),
            "repository" => self
                .find_repository(arguments)
                .map(|index| Object::Repository(index).into()),
            "user" => self.find_account(arguments, Some(AccountKind::User)),
            "organization" => self.find_account(arguments, Some(AccountKind::Organization)),
            "repositoryOwner" => self.find_account(arguments, None),
            "node" => self
                .find_node(arguments.text("id").unwrap_or_default())
                .map(Resolved::Object),
            "rateLimit" => Ok(rate_limit()),
            "__type" => Ok(or_null(introspect(
                arguments.text("name").unwrap_or_default(),
            ))),
            _ => return None,
        })
    }

    fn find_repository(&self, arguments: &Arguments) -> Result<usize, Failure> {
        let owner = arguments.text("owner").unwrap_or_default();
        let name = arguments.text("name").unwrap_or_default();
        self.visible_repository(owner, name).ok_or_else(|| {
            Failure::not_found(format!(
                "Could not resolve to a Repository with the name '{owner}/{name}'."
            ))
        })
    }

    /// A private repository does not exist for a classic token without `repo`.
    pub(crate) fn visible_repository(&self, owner: &str, name: &str) -> Option<usize> {
        let may_read = match &self.token.grant {
            Grant::Scopes(scopes) => scopes.contains("repo"),
            Grant::WithoutProjects => true,
        };
        self.world
            .repository(self.host, owner, name)
            .filter(|_| may_read)
    }

    fn find_account(&self, arguments: &Arguments, wanted: Option<AccountKind>) -> Answer {
        let login = arguments.text("login").unwrap_or_default();
        let found = self.world.account(login);
        match (found, wanted) {
            (Some(account), wanted) if wanted.is_none_or(|kind| account.kind == kind) => {
                Ok(self.account_object(login))
            }
            // GitHub answers null without an error if any owner would do.
            (_, None) => Ok(Resolved::NULL),
            (_, Some(kind)) => {
                let article = match kind {
                    AccountKind::User => "a User",
                    AccountKind::Organization => "an Organization",
                };
                Err(Failure::not_found(format!(
                    "Could not resolve to {article} with the login of '{login}'."
                )))
            }
        }
    }

    /// The object with this id.
    pub(super) fn find_node(&self, id: &str) -> Result<Object, Failure> {
        self.node(id).ok_or_else(|| {
            Failure::not_found(format!(
                "Could not resolve to a node with the global id of '{id}'"
            ))
        })
    }

    fn node(&self, id: &str) -> Option<Object> {
        let account = self
            .world
            .accounts
            .iter()
            .position(|account| account.id == id);
        if let Some(account) = account {
            return Some(Object::Account(account));
        }
        for (repository, known) in self.world.repositories.iter().enumerate() {
            if known.id == id {
                return Some(Object::Repository(repository));
            }
            if let Some(issue) = known.issues.values().find(|issue| issue.id == id) {
                let number = issue.number;
                return Some(Object::Issue { repository, number });
            }
            if let Some(pull) = known.pulls.values().find(|pull| pull.id == id) {
                let number = pull.number;
                return Some(Object::PullRequest { repository, number });
            }
        }
        if !self.sees_boards() {
            return None;
        }
        for (board, known) in self.world.boards.iter().enumerate() {
            if known.id == id {
                return Some(Object::Board(board));
            }
            if let Some(item) = known.item_with_id(id) {
                return Some(Object::BoardItem { board, item });
            }
            if let Some(field) = known.field_with_id(id) {
                return Some(Object::BoardField { board, field });
            }
        }
        None
    }
}

fn rate_limit() -> Resolved {
    Object::Record(
        "RateLimit",
        vec![
            ("cost", 1.into()),
            ("limit", 5000.into()),
            ("remaining", 4999.into()),
            ("used", 1.into()),
            ("resetAt", json!(crate::github::state::now()).into()),
        ],
    )
    .into()
}

/// The fields of a type, for clients that ask before they use it.
fn introspect(name: &str) -> Option<Object> {
    let named = |record: &'static str, names: Vec<&String>| {
        let records = names
            .into_iter()
            .map(|name| Object::Record(record, vec![("name", json!(name).into())]).into())
            .collect();
        Resolved::List(records)
    };
    let schema = Schema::github();
    let (fields, values, inputs) = match schema.get(name)? {
        TypeDefinition::Object { fields, .. } | TypeDefinition::Interface(fields) => (
            named("__Field", fields.keys().collect()),
            Resolved::NULL,
            Resolved::NULL,
        ),
        TypeDefinition::Enum(values) => (
            Resolved::NULL,
            named("__EnumValue", values.iter().collect()),
            Resolved::NULL,
        ),
        TypeDefinition::Input(inputs) => (
            Resolved::NULL,
            Resolved::NULL,
            named("__InputValue", inputs.keys().collect()),
        ),
        TypeDefinition::Scalar | TypeDefinition::Union(_) => {
            (Resolved::NULL, Resolved::NULL, Resolved::NULL)
        }
    };
    Some(Object::Record(
        "__Type",
        vec![
            ("name", json!(name).into()),
            ("fields", fields),
            ("enumValues", values),
            ("inputFields", inputs),
        ],
    ))
}
