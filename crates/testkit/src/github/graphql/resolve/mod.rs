//! The value of each field of each type.

mod board;
mod checks;
mod connection;
mod issue;
mod mutation;
mod query;
mod repository;

use serde_json::{Value, json};

use crate::github::state::{Account, AccountKind, Grant, Token, World};

use super::error::Failure;
use super::execute::Arguments;

/// Something that has fields. Objects are named by their index.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Object {
    Root(&'static str),
    Account(usize),
    Repository(usize),
    Branch {
        repository: usize,
        name: String,
    },
    Commit {
        repository: usize,
        sha: String,
    },
    Issue {
        repository: usize,
        number: u64,
    },
    PullRequest {
        repository: usize,
        number: u64,
    },
    Rollup {
        repository: usize,
        sha: String,
    },
    Check(CheckKey),
    Board(usize),
    BoardField {
        board: usize,
        field: usize,
    },
    BoardItem {
        board: usize,
        item: usize,
    },
    BoardValue {
        board: usize,
        item: usize,
        field: usize,
    },
    /// Anything whose fields are known already: a page, a payload, a comment.
    Record(&'static str, Vec<(&'static str, Resolved)>),
}

/// A check of a commit, by its number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CheckKey {
    pub(crate) repository: usize,
    pub(crate) sha: String,
    pub(crate) index: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Resolved {
    Leaf(Value),
    Object(Object),
    List(Vec<Resolved>),
    /// The field should not have been asked for.
    Refused(Failure),
}

impl Resolved {
    pub(crate) const NULL: Self = Self::Leaf(Value::Null);
}

impl<T: Into<Value>> From<T> for Resolved {
    fn from(value: T) -> Self {
        Self::Leaf(value.into())
    }
}

impl From<Object> for Resolved {
    fn from(object: Object) -> Self {
        Self::Object(object)
    }
}

/// An object; null if there is none.
fn or_null(object: Option<Object>) -> Resolved {
    object.map_or(Resolved::NULL, Resolved::Object)
}

type Answer = Result<Resolved, Failure>;

/// One request's view of the state.
pub(crate) struct Session<'a> {
    pub(crate) world: &'a mut World,
    pub(crate) host: &'a str,
    token: &'a Token,
}

impl<'a> Session<'a> {
    pub(crate) fn new(world: &'a mut World, host: &'a str, token: &'a Token) -> Self {
        Self { world, host, token }
    }

    pub(crate) fn token(&self) -> &'a Token {
        self.token
    }

    /// Boards do not exist for a token that may not see them.
    fn sees_boards(&self) -> bool {
        match self.token.grant {
            Grant::Scopes(_) => true,
            Grant::WithoutProjects => false,
        }
    }

    /// The index of an account that must exist.
    fn account(&self, login: &str) -> usize {
        self.world
            .accounts
            .iter()
            .position(|account| account.login.eq_ignore_ascii_case(login))
            .unwrap_or_else(|| panic!("no account {login} was added to the stand-in"))
    }

    fn account_object(&self, login: &str) -> Resolved {
        Object::Account(self.account(login)).into()
    }

    pub(crate) fn type_name(&self, object: &Object) -> &'static str {
        match object {
            Object::Root(name) | Object::Record(name, _) => name,
            Object::Account(account) => match self.world.accounts[*account].kind {
                AccountKind::User => "User",
                AccountKind::Organization => "Organization",
            },
            Object::Repository(_) => "Repository",
            Object::Branch { .. } => "Ref",
            Object::Commit { .. } => "Commit",
            Object::Issue { .. } => "Issue",
            Object::PullRequest { .. } => "PullRequest",
            Object::Rollup { .. } => "StatusCheckRollup",
            Object::Check(key) => self.check_type(key),
            Object::Board(_) => "ProjectV2",
            Object::BoardField { board, field } => self.board_field_type(*board, *field),
            Object::BoardItem { .. } => "ProjectV2Item",
            Object::BoardValue { board, field, .. } => self.board_value_type(*board, *field),
        }
    }

    pub(crate) fn resolve(
        &mut self,
        object: &Object,
        type_name: &str,
        field: &str,
        arguments: &Arguments,
    ) -> Answer {
        let resolved = match object {
            Object::Root("Mutation") => self.mutate(field, &arguments.input()),
            Object::Root(_) => self.query(field, arguments),
            Object::Account(account) => self.account_field(*account, field, arguments),
            Object::Repository(repository) => self.repository_field(*repository, field, arguments),
            Object::Branch { repository, name } => self.branch_field(*repository, name, field),
            Object::Commit { repository, sha } => self.commit_field(*repository, sha, field),
            Object::Issue { repository, number } => {
                self.issue_field(*repository, *number, field, arguments)
            }
            Object::PullRequest { repository, number } => {
                self.pull_field(*repository, *number, field, arguments)
            }
            Object::Rollup { repository, sha } => {
                self.rollup_field(*repository, sha, field, arguments)
            }
            Object::Check(key) => self.check_field(key, field, arguments),
            Object::Board(board) => self.board_field(*board, field, arguments),
            Object::BoardField { board, field: of } => {
                self.board_field_field(*board, *of, field, arguments)
            }
            Object::BoardItem { board, item } => {
                self.board_item_field(*board, *item, field, arguments)
            }
            Object::BoardValue {
                board,
                item,
                field: of,
            } => self.board_value_field(*board, *item, *of, field),
            Object::Record(_, fields) => {
                let found = fields.iter().find(|(name, _)| *name == field);
                found.map(|(_, value)| Ok(value.clone()))
            }
        };
        resolved.unwrap_or_else(|| {
            Err(Failure {
                kind: "STAND_IN",
                message: format!("the stand-in does not resolve {type_name}.{field}"),
            })
        })
    }

    fn account_field(&self, account: usize, field: &str, arguments: &Arguments) -> Option<Answer> {
        let Account { id, login, .. } = &self.world.accounts[account];
        Some(Ok(match field {
            "id" => json!(id).into(),
            "login" => json!(login).into(),
            "databaseId" => json!(account + 1).into(),
            "name" => Resolved::NULL,
            "url" => json!(format!("https://{}/{login}", self.host)).into(),
            "projectV2" => return Some(self.project_of(login, arguments)),
            _ => return None,
        }))
    }
}
