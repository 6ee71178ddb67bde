//! The settings as a JSON Schema, for editors that know TOML.

use serde_json::{Map, Value, json};

use super::setting::{Key, Notation};

/// One object per section, one property per setting.
pub(crate) fn schema() -> Value {
    let mut sections = Map::new();
    for key in super::keys() {
        let (section, name) = key.halves();
        let section = sections.entry(section).or_insert_with(
            || json!({ "type": "object", "additionalProperties": false, "properties": {} }),
        );
        section["properties"][name] = property(key);
    }
    sections.insert(super::checks::SECTION.into(), super::checks::schema());
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "mainspring.toml",
        "description": "Mainspring's settings, in a project (mainspring.toml) or for a user (config.toml).",
        "type": "object",
        "additionalProperties": false,
        "properties": sections,
    })
}

fn property(key: &Key) -> Value {
    let mut property = match key.notation {
        Notation::Switch => json!({ "type": "boolean" }),
        Notation::Number { most } => json!({ "type": "integer", "minimum": 0, "maximum": most }),
        Notation::Amount => json!({ "type": "number", "minimum": 0 }),
        Notation::Text => json!({ "type": "string" }),
        Notation::Choice(choices) => json!({ "enum": choices }),
        Notation::Span => json!({ "type": "string", "examples": ["90s", "30m", "2h", "90d"] }),
        Notation::List => json!({ "type": "array", "items": { "type": "string" } }),
    };
    property["description"] = key.about.into();
    property["default"] = match key.notation {
        // As it is written, and not in milliseconds.
        Notation::Span => key.default_text().into(),
        _ => serde_json::to_value(key.default()).unwrap_or_default(),
    };
    property
}
