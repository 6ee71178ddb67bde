//! GraphQL, as far as `gh` and our own queries need it: parsed, checked against the part of
//! GitHub's schema in `schema.graphql`, executed on the state.
//!
//! A query that GitHub would refuse is refused here: an unknown field, a string
//! for a number, a union without a fragment, a variable that nobody uses.

mod ast;
mod coerce;
mod error;
mod execute;
mod lexer;
mod parser;
mod resolve;
mod schema;
mod scopes;
#[cfg(test)]
mod tests;
mod validate;

use serde_json::{Map, Value, json};

pub(crate) use error::Failure;
pub(crate) use resolve::Session;

use ast::{Document, Operation, Selection};
use error::GraphqlError;
use execute::Execution;
use schema::Schema;

/// What a request body asks for, before it is checked.
#[derive(Debug)]
pub(crate) struct Call {
    document: Result<Document, lexer::SyntaxError>,
    operation_name: Option<String>,
    pub(crate) variables: Map<String, Value>,
}

impl Call {
    pub(crate) fn read(body: &Value) -> Self {
        let text = body
            .get("query")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let variables = match body.get("variables") {
            Some(Value::Object(variables)) => variables.clone(),
            _ => Map::new(),
        };
        Self {
            document: parser::document(text),
            operation_name: body
                .get("operationName")
                .and_then(Value::as_str)
                .map(str::to_owned),
            variables,
        }
    }

    fn operation(&self) -> Option<&Operation> {
        let operations = &self.document.as_ref().ok()?.operations;
        match &self.operation_name {
            Some(name) => operations
                .iter()
                .find(|operation| operation.name.as_ref() == Some(name)),
            None => operations.first(),
        }
    }

    /// The operation's own name, then the fields it asks of the root. Tests refer to a request by
    /// these names.
    pub(crate) fn names(&self) -> Vec<String> {
        let Some(operation) = self.operation() else {
            return Vec::new();
        };
        let fields = operation
            .selections
            .iter()
            .filter_map(|selection| match selection {
                Selection::Field(field) => Some(field.name.clone()),
                Selection::Spread(_) | Selection::Inline { .. } => None,
            });
        operation.name.iter().cloned().chain(fields).collect()
    }

    /// The answer's body.
    pub(crate) fn answer(&self, session: &mut Session<'_>) -> Value {
        match self.execute(session) {
            Ok((data, errors)) if errors.is_empty() => json!({ "data": data }),
            Ok((data, errors)) => json!({ "data": data, "errors": to_json(&errors) }),
            Err(errors) => json!({ "errors": to_json(&errors) }),
        }
    }

    fn execute(
        &self,
        session: &mut Session<'_>,
    ) -> Result<(Value, Vec<GraphqlError>), Vec<GraphqlError>> {
        let document = match &self.document {
            Ok(document) => document,
            Err(error) => return Err(vec![GraphqlError::from(error.clone())]),
        };
        let Some(operation) = self.operation() else {
            let message = "No operation was asked for".to_owned();
            return Err(vec![GraphqlError::invalid(
                "parseError",
                ast::Place::default(),
                message,
            )]);
        };
        let schema = Schema::github();
        let asked = validate::validate(schema, document, operation)?;
        let variables = coerce::variables(schema, &operation.variables, &self.variables).map_err(
            |message| {
                vec![GraphqlError::invalid(
                    "invalidVariable",
                    ast::Place::default(),
                    message,
                )]
            },
        )?;
        let refused = scopes::refused(session.token(), &asked);
        if !refused.is_empty() {
            return Err(refused);
        }
        let mut execution = Execution {
            schema,
            document,
            variables: &variables,
            errors: Vec::new(),
        };
        let data = execution.run(session, operation);
        Ok((data, execution.errors))
    }
}

fn to_json(errors: &[GraphqlError]) -> Vec<Value> {
    errors.iter().map(GraphqlError::to_json).collect()
}
