//! Checks values against their declared types.
//!
//! GitHub refuses `"42"` for a number, so `gh api -f number=42` (a string) fails there and must
//! fail here.

use serde_json::{Map, Value, json};

use super::ast::{Literal, TypeRef, VariableDefinition};
use super::schema::{InputValue, Schema, TypeDefinition};

/// The variables of a request, checked, with defaults filled in.
pub(crate) fn variables(
    schema: &Schema,
    definitions: &[VariableDefinition],
    given: &Map<String, Value>,
) -> Result<Map<String, Value>, String> {
    let mut variables = Map::new();
    for definition in definitions {
        let name = &definition.name;
        match given.get(name) {
            Some(value) => {
                check(schema, &definition.ty, value).map_err(|problem| {
                    format!(
                        "Variable ${name} of type {} was provided invalid value: {problem}",
                        definition.ty
                    )
                })?;
                variables.insert(name.clone(), value.clone());
            }
            None => match &definition.default {
                Some(default) => {
                    variables.insert(
                        name.clone(),
                        literal(default, &Map::new()).unwrap_or(Value::Null),
                    );
                }
                None if matches!(definition.ty, TypeRef::NonNull(_)) => {
                    return Err(format!(
                        "Variable ${name} of type {} was provided invalid value: Expected value to not be null",
                        definition.ty
                    ));
                }
                None => {}
            },
        }
    }
    Ok(variables)
}

/// What is wrong with this value, if it does not have this type.
pub(crate) fn check(schema: &Schema, ty: &TypeRef, value: &Value) -> Result<(), String> {
    match ty {
        TypeRef::NonNull(_) if value.is_null() => Err("Expected value to not be null".to_owned()),
        TypeRef::NonNull(inner) => check(schema, inner, value),
        _ if value.is_null() => Ok(()),
        TypeRef::List(inner) => match value {
            Value::Array(items) => items.iter().try_for_each(|item| check(schema, inner, item)),
            // GraphQL accepts one value for a list of one.
            single => check(schema, inner, single),
        },
        TypeRef::Named(name) => check_named(schema, name, value),
    }
}

fn check_named(schema: &Schema, name: &str, value: &Value) -> Result<(), String> {
    let fits = match (name, schema.get(name)) {
        (_, None) => return Err(format!("{name} isn't a defined input type")),
        (_, Some(TypeDefinition::Enum(values))) => {
            value.as_str().is_some_and(|text| values.contains(text))
        }
        (_, Some(TypeDefinition::Input(fields))) => {
            return check_input(schema, name, fields, value);
        }
        ("Int", _) => value.as_i64().is_some_and(|int| i32::try_from(int).is_ok()),
        ("Float", _) => value.is_number(),
        ("Boolean", _) => value.is_boolean(),
        ("ID", _) => value.is_string() || value.is_i64(),
        (_, Some(TypeDefinition::Scalar)) => value.is_string(),
        (
            _,
            Some(
                TypeDefinition::Object { .. }
                | TypeDefinition::Interface(_)
                | TypeDefinition::Union(_),
            ),
        ) => {
            return Err(format!("{name} isn't a valid input type"));
        }
    };
    if fits {
        Ok(())
    } else {
        Err(format!("Could not coerce value {value} to {name}"))
    }
}

fn check_input(
    schema: &Schema,
    name: &str,
    fields: &std::collections::BTreeMap<String, InputValue>,
    value: &Value,
) -> Result<(), String> {
    let Value::Object(given) = value else {
        return Err(format!("Could not coerce value {value} to {name}"));
    };
    if let Some(unknown) = given.keys().find(|key| !fields.contains_key(*key)) {
        return Err(format!("Field is not defined on {name}: {unknown}"));
    }
    for (field, definition) in fields {
        match given.get(field) {
            Some(value) => check(schema, &definition.ty, value)
                .map_err(|problem| format!("{field}: {problem}"))?,
            None if definition.is_required() => {
                return Err(format!("{field}: Expected value to not be null"));
            }
            None => {}
        }
    }
    Ok(())
}

/// The value of a literal; `None` for a variable without a value.
pub(crate) fn literal(literal_value: &Literal, variables: &Map<String, Value>) -> Option<Value> {
    Some(match literal_value {
        Literal::Variable(name) => variables.get(name)?.clone(),
        Literal::Int(value) => json!(value),
        Literal::Float(value) => json!(value),
        Literal::String(value) | Literal::Enum(value) => json!(value),
        Literal::Boolean(value) => json!(value),
        Literal::Null => Value::Null,
        Literal::List(items) => items
            .iter()
            .filter_map(|item| literal(item, variables))
            .collect(),
        Literal::Object(fields) => Value::Object(
            fields
                .iter()
                .filter_map(|(name, value)| Some((name.clone(), literal(value, variables)?)))
                .collect(),
        ),
    })
}
