//! The published JSON Schema of `fsm.json`, made from the rules of the check.

use mainspring_kernel::machines::tasks::check::{MOST_LOCAL, MOST_TASKS};
use mainspring_kernel::machines::tasks::draft::{Key, Status};
use serde_json::{Map, Value, json};

fn schema() -> Value {
    let properties: Map<String, Value> = Key::ALL
        .into_iter()
        .map(|key| (key.as_str().to_owned(), property(key)))
        .collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A skill's task list (fsm.json)",
        "type": "array",
        "maxItems": MOST_TASKS,
        "items": {
            "type": "object",
            "required": [Key::Id.as_str(), Key::Subject.as_str()],
            "properties": properties,
        },
    })
}

fn property(key: Key) -> Value {
    let id = json!({ "type": "integer", "minimum": 1, "maximum": MOST_LOCAL });
    let ids = json!({ "type": "array", "items": id });
    let (mut schema, about) = match key {
        Key::Id => (id, "Unique in this file; it has no meaning outside"),
        Key::Subject => (
            json!({ "type": "string", "pattern": "\\S" }),
            "What to do, in the imperative",
        ),
        Key::Description => (
            json!({ "type": "string" }),
            "When the task is done, and what else the agent must know",
        ),
        Key::ActiveForm => (
            json!({ "type": "string" }),
            "Shown while the task is in progress",
        ),
        Key::Owner => (json!({ "type": "string" }), "An agent's name, in a team"),
        Key::Status => (
            json!({ "enum": Status::ALL.map(Status::as_str), "default": Status::default().as_str() }),
            "The status that the task starts with",
        ),
        Key::BlockedBy => (ids, "Ids of tasks that must be completed first"),
        Key::Blocks => (
            ids,
            "Ids of tasks that must wait for this one; list this one in their blockedBy, too",
        ),
        Key::Metadata => (
            json!({ "type": "object" }),
            "An object of your own; its key 'fsm' is set by Mainspring",
        ),
    };
    schema["description"] = about.into();
    schema
}

#[test]
fn the_published_schema_is_the_one_that_is_checked() {
    let path =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/fsm.schema.json");
    let made = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    if published != made
        && crate::env::Environment::real()
            .var("MAINSPRING_GENERATE")
            .is_some()
    {
        mainspring_store::atomic::replace(&path, made.as_bytes()).unwrap();
        return;
    }
    pretty_assertions::assert_eq!(published, made, "run the tests with MAINSPRING_GENERATE=1");
}
