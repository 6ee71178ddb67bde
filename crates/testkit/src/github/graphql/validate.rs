//! Checks a document against the schema, before anything is executed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Map;

use super::ast::{Document, Field, Literal, Operation, OperationKind, Place, Selection, TypeRef};
use super::coerce;
use super::error::GraphqlError;
use super::schema::{InputValue, Schema, TypeDefinition};

/// One field of the document, and the type that it belongs to.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Asked {
    pub(crate) parent: String,
    pub(crate) field: String,
    pub(crate) place: Place,
}

/// Every field that the operation asks for, or everything that is wrong with it.
pub(crate) fn validate(
    schema: &Schema,
    document: &Document,
    operation: &Operation,
) -> Result<Vec<Asked>, Vec<GraphqlError>> {
    let mut validation = Validation {
        schema,
        document,
        operation,
        used: BTreeSet::new(),
        asked: Vec::new(),
        errors: Vec::new(),
        spreading: Vec::new(),
    };
    validation.declared_types();
    validation.selections(root(operation.kind), &operation.selections);
    validation.unused_variables();
    if validation.errors.is_empty() {
        Ok(validation.asked)
    } else {
        Err(validation.errors)
    }
}

pub(crate) fn root(kind: OperationKind) -> &'static str {
    match kind {
        OperationKind::Query => "Query",
        OperationKind::Mutation => "Mutation",
    }
}

struct Validation<'a> {
    schema: &'a Schema,
    document: &'a Document,
    operation: &'a Operation,
    used: BTreeSet<&'a str>,
    asked: Vec<Asked>,
    errors: Vec<GraphqlError>,
    /// The fragments we are in, to find one that spreads itself.
    spreading: Vec<&'a str>,
}

impl<'a> Validation<'a> {
    fn wrong(&mut self, code: &'static str, place: Place, message: String) {
        self.errors
            .push(GraphqlError::invalid(code, place, message));
    }

    fn label(&self) -> &'a str {
        self.operation.name.as_deref().unwrap_or("anonymous")
    }

    fn declared_types(&mut self) {
        for variable in &self.operation.variables {
            let name = variable.ty.name();
            if self.schema.get(name).is_none() || self.schema.is_composite(name) {
                let message = format!("{name} isn't a defined input type (on ${})", variable.name);
                self.wrong("variableRequiresValidType", Place::default(), message);
            }
        }
    }

    fn unused_variables(&mut self) {
        for variable in &self.operation.variables {
            if !self.used.contains(variable.name.as_str()) {
                let message = format!(
                    "Variable ${} is declared by {} but not used",
                    variable.name,
                    self.label()
                );
                self.wrong("variableNotUsed", Place::default(), message);
            }
        }
    }

    fn selections(&mut self, parent: &str, selections: &'a [Selection]) {
        for selection in selections {
            match selection {
                Selection::Field(field) => self.field(parent, field),
                Selection::Inline {
                    on: None,
                    selections,
                } => self.selections(parent, selections),
                Selection::Inline {
                    on: Some(on),
                    selections,
                } => self.fragment(parent, on, selections),
                Selection::Spread(name) => self.spread(parent, name),
            }
        }
    }

    fn spread(&mut self, parent: &str, name: &'a str) {
        let document = self.document;
        let Some(fragment) = document.fragments.get(name) else {
            let message = format!("Fragment {name} was used, but not defined");
            return self.wrong("useAndDefineFragment", Place::default(), message);
        };
        if self.spreading.contains(&name) {
            let message = format!("Fragment {name} contains an infinite loop");
            return self.wrong("infiniteLoop", Place::default(), message);
        }
        self.spreading.push(name);
        self.fragment(parent, &fragment.on, &fragment.selections);
        self.spreading.pop();
    }

    fn fragment(&mut self, parent: &str, on: &str, selections: &'a [Selection]) {
        if !self.schema.is_composite(on) {
            let message = format!("No such type {on}, so it can't be a fragment condition");
            return self.wrong("undefinedType", Place::default(), message);
        }
        if self
            .schema
            .possible(parent)
            .is_disjoint(&self.schema.possible(on))
        {
            let message = format!("Fragment on {on} can't be spread inside {parent}");
            return self.wrong("cannotSpreadFragment", Place::default(), message);
        }
        self.selections(on, selections);
    }

    fn field(&mut self, parent: &str, field: &'a Field) {
        if field.name == "__typename" {
            return;
        }
        let schema = self.schema;
        let Some(fields) = schema.fields(parent) else {
            let message =
                format!("Selections can't be made directly on unions (see selections on {parent})");
            return self.wrong("selectionMismatch", field.place, message);
        };
        let Some(definition) = fields.get(&field.name) else {
            let message = format!("Field '{}' doesn't exist on type '{parent}'", field.name);
            return self.wrong("undefinedField", field.place, message);
        };
        self.asked.push(Asked {
            parent: parent.to_owned(),
            field: field.name.clone(),
            place: field.place,
        });
        self.arguments(field, &definition.arguments);
        let ty = definition.ty.name();
        match (schema.is_composite(ty), field.selections.is_empty()) {
            (true, true) => {
                let name = &field.name;
                let message = format!(
                    "Field must have selections (field '{name}' returns {ty} but has no selections. \
                     Did you mean '{name} {{ ... }}'?)"
                );
                self.wrong("selectionMismatch", field.place, message);
            }
            (false, false) => {
                let message = format!(
                    "Selections can't be made on scalars (field '{}' returns {ty} but has selections)",
                    field.name
                );
                self.wrong("selectionMismatch", field.place, message);
            }
            (true, false) => self.selections(ty, &field.selections),
            (false, true) => {}
        }
    }

    fn arguments(&mut self, field: &'a Field, definitions: &'a BTreeMap<String, InputValue>) {
        for (name, literal) in &field.arguments {
            if let Some(definition) = definitions.get(name) {
                self.literal(&Site::of(field, name, definition), literal);
            } else {
                let message = format!("Field '{}' doesn't accept argument '{name}'", field.name);
                self.wrong("argumentNotAccepted", field.place, message);
            }
        }
        let missing = missing(definitions, &field.arguments);
        if !missing.is_empty() {
            let message = format!(
                "Field '{}' is missing required arguments: {}",
                field.name,
                missing.join(", ")
            );
            self.wrong("missingRequiredArguments", field.place, message);
        }
    }

    /// An argument's literal, variables inside lists and objects included.
    fn literal(&mut self, site: &Site<'a>, literal: &'a Literal) {
        let schema = self.schema;
        let named = match nullable(site.ty) {
            TypeRef::Named(name) => schema.get(name),
            TypeRef::List(_) | TypeRef::NonNull(_) => None,
        };
        match (literal, nullable(site.ty), named) {
            (Literal::Variable(name), _, _) => self.variable(site, name),
            (Literal::List(items), TypeRef::List(inner), _) => {
                for item in items {
                    self.literal(&site.inside(inner), item);
                }
            }
            (Literal::Object(entries), _, Some(TypeDefinition::Input(fields))) => {
                self.object(site, entries, fields);
            }
            (Literal::Enum(value), _, Some(TypeDefinition::Enum(values)))
                if values.contains(value) => {}
            (Literal::Enum(_), ..) | (Literal::String(_), _, Some(TypeDefinition::Enum(_))) => {
                self.mismatch(site);
            }
            (other, ..) => {
                let value = coerce::literal(other, &Map::new()).unwrap_or_default();
                if coerce::check(schema, site.ty, &value).is_err() {
                    self.mismatch(site);
                }
            }
        }
    }

    fn object(
        &mut self,
        site: &Site<'a>,
        entries: &'a [(String, Literal)],
        fields: &'a BTreeMap<String, InputValue>,
    ) {
        let name = site.ty.name();
        for (key, value) in entries {
            if let Some(definition) = fields.get(key) {
                self.literal(&Site::of(site.field, key, definition), value);
            } else {
                let message = format!("InputObject '{name}' doesn't accept argument '{key}'");
                self.wrong("argumentNotAccepted", site.field.place, message);
            }
        }
        for key in missing(fields, entries) {
            let message = format!("Argument '{key}' on InputObject '{name}' is required");
            self.wrong(
                "missingRequiredInputObjectAttribute",
                site.field.place,
                message,
            );
        }
    }

    fn mismatch(&mut self, site: &Site<'_>) {
        let message = format!(
            "Argument '{}' on Field '{}' has an invalid value. Expected type '{}'.",
            site.argument, site.field.name, site.ty
        );
        self.wrong("argumentLiteralsIncompatible", site.field.place, message);
    }

    fn variable(&mut self, site: &Site<'_>, name: &'a str) {
        self.used.insert(name);
        let operation = self.operation;
        let declared = operation.variables.iter().find(|known| known.name == name);
        let Some(declared) = declared else {
            let message = format!(
                "Variable ${name} is used by {} but not declared",
                self.label()
            );
            return self.wrong("variableNotDefined", site.field.place, message);
        };
        // A default on either side replaces a missing value.
        let wanted = match (&site.default, &declared.default) {
            (None, None) => site.ty,
            _ => nullable(site.ty),
        };
        if !fits(&declared.ty, wanted) {
            let message = format!(
                "Type mismatch on variable ${name} and argument {} ({} / {})",
                site.argument, declared.ty, site.ty
            );
            self.wrong("variableMismatch", site.field.place, message);
        }
    }
}

/// The place of a value.
struct Site<'a> {
    field: &'a Field,
    argument: &'a str,
    ty: &'a TypeRef,
    default: Option<&'a Literal>,
}

impl<'a> Site<'a> {
    fn of(field: &'a Field, argument: &'a str, definition: &'a InputValue) -> Self {
        Self {
            field,
            argument,
            ty: &definition.ty,
            default: definition.default.as_ref(),
        }
    }

    /// An item of the list in this place.
    fn inside(&self, ty: &'a TypeRef) -> Self {
        Self {
            ty,
            default: None,
            ..*self
        }
    }
}

/// The required names that are missing.
fn missing<'a>(
    definitions: &'a BTreeMap<String, InputValue>,
    given: &[(String, Literal)],
) -> Vec<&'a str> {
    let required = definitions
        .iter()
        .filter(|(_, definition)| definition.is_required());
    required
        .map(|(name, _)| name.as_str())
        .filter(|name| !given.iter().any(|(known, _)| known == name))
        .collect()
}

fn nullable(ty: &TypeRef) -> &TypeRef {
    match ty {
        TypeRef::NonNull(inner) => inner,
        other => other,
    }
}

/// May a variable of the first type be used for the second?
fn fits(declared: &TypeRef, wanted: &TypeRef) -> bool {
    match (declared, wanted) {
        (TypeRef::NonNull(declared), TypeRef::NonNull(wanted))
        | (TypeRef::List(declared), TypeRef::List(wanted)) => fits(declared, wanted),
        (TypeRef::NonNull(declared), wanted) => fits(declared, wanted),
        (TypeRef::Named(declared), TypeRef::Named(wanted)) => declared == wanted,
        (TypeRef::List(_) | TypeRef::Named(_), _) => false,
    }
}
