//! Executes a valid operation.

use serde_json::{Map, Value};

use super::ast::{Document, Field, Operation, Place, Selection};
use super::coerce;
use super::error::{Failure, GraphqlError};
use super::resolve::{Object, Resolved, Session};
use super::schema::{FieldDefinition, Schema};
use super::validate::root;

/// The arguments of one field, defaults included.
#[derive(Debug, Default)]
pub(crate) struct Arguments(Map<String, Value>);

impl From<Map<String, Value>> for Arguments {
    fn from(arguments: Map<String, Value>) -> Self {
        Self(arguments)
    }
}

impl Arguments {
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str()
    }

    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.as_u64()
    }

    /// A mutation's `input`, as arguments.
    pub(crate) fn input(&self) -> Self {
        match self.get("input") {
            Some(Value::Object(input)) => input.clone().into(),
            _ => Self::default(),
        }
    }
}

pub(crate) struct Execution<'a> {
    pub(crate) schema: &'static Schema,
    pub(crate) document: &'a Document,
    pub(crate) variables: &'a Map<String, Value>,
    pub(crate) errors: Vec<GraphqlError>,
}

impl<'a> Execution<'a> {
    pub(crate) fn run(&mut self, session: &mut Session<'_>, operation: &'a Operation) -> Value {
        let root_object = Object::Root(root(operation.kind));
        let selections: Vec<_> = operation.selections.iter().collect();
        self.object(session, &root_object, &selections, &[])
    }

    fn object(
        &mut self,
        session: &mut Session<'_>,
        object: &Object,
        selections: &[&'a Selection],
        path: &[Value],
    ) -> Value {
        let type_name = session.type_name(object);
        let mut groups = Vec::new();
        collect(self.document, type_name, selections, &mut groups);
        let mut answer = Map::new();
        for (key, fields) in groups {
            let mut path = path.to_vec();
            path.push(key.into());
            let value = self.field(session, object, &fields, &path);
            answer.insert(key.to_owned(), value);
        }
        Value::Object(answer)
    }

    fn field(
        &mut self,
        session: &mut Session<'_>,
        object: &Object,
        fields: &[&'a Field],
        path: &[Value],
    ) -> Value {
        let type_name = session.type_name(object);
        let first: &'a Field = fields[0];
        if first.name == "__typename" {
            return type_name.into();
        }
        let definition = self
            .schema
            .fields(type_name)
            .and_then(|known| known.get(&first.name))
            .unwrap_or_else(|| panic!("{type_name}.{} was validated", first.name));
        let arguments = self.arguments(first, definition);
        match session.resolve(object, type_name, &first.name, &arguments) {
            Ok(Resolved::Refused(failure)) | Err(failure) => self.fail(failure, path, first.place),
            Ok(resolved) => {
                let selections: Vec<_> =
                    fields.iter().flat_map(|field| &field.selections).collect();
                self.value(session, resolved, &selections, path)
            }
        }
    }

    fn fail(&mut self, failure: Failure, path: &[Value], place: Place) -> Value {
        self.errors
            .push(GraphqlError::failed(failure, path.to_vec(), place));
        Value::Null
    }

    fn arguments(&self, field: &Field, definition: &FieldDefinition) -> Arguments {
        let mut arguments = Map::new();
        for (name, input) in &definition.arguments {
            let given = field.arguments.iter().find(|(given, _)| given == name);
            let value = given
                .and_then(|(_, literal)| coerce::literal(literal, self.variables))
                .or_else(|| coerce::literal(input.default.as_ref()?, self.variables));
            if let Some(value) = value {
                arguments.insert(name.clone(), value);
            }
        }
        arguments.into()
    }

    fn value(
        &mut self,
        session: &mut Session<'_>,
        resolved: Resolved,
        selections: &[&'a Selection],
        path: &[Value],
    ) -> Value {
        match resolved {
            Resolved::Leaf(value) => value,
            Resolved::Refused(_) => Value::Null,
            Resolved::Object(object) => self.object(session, &object, selections, path),
            Resolved::List(items) => items
                .into_iter()
                .enumerate()
                .map(|(index, item)| {
                    let mut path = path.to_vec();
                    path.push(index.into());
                    self.value(session, item, selections, &path)
                })
                .collect(),
        }
    }
}

/// The fields that apply to this type, those with the same key together.
fn collect<'a>(
    document: &'a Document,
    type_name: &str,
    selections: &[&'a Selection],
    groups: &mut Vec<(&'a str, Vec<&'a Field>)>,
) {
    for selection in selections {
        let (on, inner) = match selection {
            Selection::Field(field) => {
                match groups.iter_mut().find(|(key, _)| *key == field.key()) {
                    Some((_, fields)) => fields.push(field),
                    None => groups.push((field.key(), vec![field])),
                }
                continue;
            }
            Selection::Inline { on, selections } => (on.as_ref(), selections),
            Selection::Spread(name) => {
                let fragment = &document.fragments[name];
                (Some(&fragment.on), &fragment.selections)
            }
        };
        if on.is_none_or(|on| Schema::github().possible(on).contains(type_name)) {
            let inner: Vec<_> = inner.iter().collect();
            collect(document, type_name, &inner, groups);
        }
    }
}
