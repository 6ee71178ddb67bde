//! What is wrong with a request, in GitHub's wording.

use serde_json::{Map, Value, json};

use super::ast::Place;
use super::lexer::SyntaxError;

/// One entry of an answer's `errors`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GraphqlError {
    message: String,
    /// `NOT_FOUND`, `UNPROCESSABLE`, `INSUFFICIENT_SCOPES` …
    kind: Option<String>,
    code: Option<&'static str>,
    path: Vec<Value>,
    place: Option<Place>,
}

impl GraphqlError {
    /// The document is wrong; nothing was executed.
    pub(crate) fn invalid(code: &'static str, place: Place, message: String) -> Self {
        Self {
            message,
            kind: None,
            code: Some(code),
            path: Vec::new(),
            place: Some(place),
        }
    }

    /// The document is right, but this token may not execute it.
    pub(crate) fn refused(kind: &str, place: Place, message: String) -> Self {
        Self {
            message,
            kind: Some(kind.to_owned()),
            code: None,
            path: Vec::new(),
            place: Some(place),
        }
    }

    /// One field could not be resolved.
    pub(crate) fn failed(failure: Failure, path: Vec<Value>, place: Place) -> Self {
        Self {
            message: failure.message,
            kind: Some(failure.kind.to_owned()),
            code: None,
            path,
            place: Some(place),
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        let mut entry = Map::new();
        if let Some(kind) = &self.kind {
            entry.insert("type".to_owned(), json!(kind));
        }
        if !self.path.is_empty() {
            entry.insert("path".to_owned(), json!(self.path));
        }
        if let Some(code) = self.code {
            entry.insert("extensions".to_owned(), json!({ "code": code }));
        }
        if let Some(place) = self.place {
            entry.insert(
                "locations".to_owned(),
                json!([{ "line": place.line, "column": place.column }]),
            );
        }
        entry.insert("message".to_owned(), json!(self.message));
        Value::Object(entry)
    }
}

impl From<SyntaxError> for GraphqlError {
    fn from(error: SyntaxError) -> Self {
        Self::invalid("parseError", error.place, error.message)
    }
}

/// Why one field has no value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Failure {
    pub(crate) kind: &'static str,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self {
            kind: "NOT_FOUND",
            message: message.into(),
        }
    }

    pub(crate) fn unprocessable(message: impl Into<String>) -> Self {
        Self {
            kind: "UNPROCESSABLE",
            message: message.into(),
        }
    }

    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        Self {
            kind: "FORBIDDEN",
            message: message.into(),
        }
    }
}
