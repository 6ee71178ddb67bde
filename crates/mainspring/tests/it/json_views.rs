//! The JSON of every view: it has a version, and a schema in `schema/views`, which is made from
//! what the views print. `GENERATE=1` writes the schemas.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::env::TestEnv;

/// The views: the name of the schema, and the command.
const VIEWS: &[(&str, &[&str])] = &[
    ("check", &["check"]),
    ("config", &["config"]),
    ("config-check", &["config", "check"]),
    ("config-get", &["config", "get", "pulse.beats"]),
    ("doctor", &["doctor"]),
    ("gate-status", &["gate", "status"]),
    ("graph", &["graph", "loop"]),
    ("loop-list", &["loop", "list"]),
    ("loop-status", &["loop", "status"]),
    ("plan-list", &["plan", "list"]),
    ("plan-route", &["plan", "route"]),
    ("plan-status", &["plan", "status"]),
    ("replay", &["replay"]),
    ("self", &["self"]),
    ("sessions", &["sessions"]),
    ("state", &["state"]),
    ("status", &["status"]),
    ("tasks-list", &["tasks", "list", "--list", "s"]),
    ("trust-list", &["trust", "--list"]),
    ("why", &["why"]),
];

/// A project in which most views have something to show.
fn busy() -> TestEnv {
    let env = TestEnv::new();
    let check = "[[check]]\nname = \"tests\"\nrun = [\"true\"]\n";
    fs::write(env.project().join("mainspring.toml"), check).unwrap();
    env.run(&["install", "--yes", "--trust"]).ok();
    let plan = env.project().join(".taskie/plans/shop");
    fs::create_dir_all(&plan).unwrap();
    fs::write(plan.join("plan.md"), "# Shop\n").unwrap();
    env.agent("s", &["plan", "init", "shop"]).ok();
    env.run(&["stop", "review"]).ok();
    env.agent("s", &["gate", "on"]).ok();
    env.agent("s", &["loop", "start", "--max", "4"]).ok();
    env.hook("SessionStart", json!({"source": "startup"})).ok();
    env.stop("one").held();
    let list = env.home().join(".claude/tasks/s");
    fs::create_dir_all(&list).unwrap();
    let task = json!({"id": "1", "subject": "One", "description": "", "status": "pending",
        "blocks": [], "blockedBy": []});
    fs::write(list.join("1.json"), task.to_string()).unwrap();
    env
}

/// The schema of one value: what is in it, and no more. `null` may be anything.
fn schema(value: &Value) -> Value {
    match value {
        Value::Null => json!({}),
        Value::Bool(_) => json!({"type": "boolean"}),
        Value::Number(_) => json!({"type": "number"}),
        Value::String(_) => json!({"type": "string"}),
        Value::Array(items) => {
            let mut all: Vec<Value> = Vec::new();
            for item in items.iter().map(schema) {
                if !all.contains(&item) {
                    all.push(item);
                }
            }
            match all.as_slice() {
                [] => json!({"type": "array"}),
                [one] => json!({"type": "array", "items": one}),
                _ => json!({"type": "array", "items": merged(&all)}),
            }
        }
        Value::Object(fields) => {
            let properties: Map<String, Value> = fields
                .iter()
                .map(|(name, value)| (name.clone(), schema(value)))
                .collect();
            json!({"type": "object", "properties": properties})
        }
    }
}

/// One schema for objects that do not all have the same fields.
fn merged(all: &[Value]) -> Value {
    let mut properties = Map::new();
    for one in all {
        let Some(fields) = one["properties"].as_object() else {
            return json!({});
        };
        for (name, field) in fields {
            match properties.get(name) {
                None => drop(properties.insert(name.clone(), field.clone())),
                Some(there) if there == field => {}
                // Different in each: a machine's own state, for example.
                Some(_) => drop(properties.insert(name.clone(), json!({}))),
            }
        }
    }
    json!({"type": "object", "properties": properties})
}

#[test]
fn every_view_has_a_version_and_the_schema_that_is_documented() {
    let env = busy();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/views");
    let mut wrong = Vec::new();
    for (name, args) in VIEWS {
        let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
        let ran = env.run(&args);
        let view: Value =
            serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{args:?}: {ran:?}"));
        assert_eq!(view["version"], 1, "{args:?}");
        let mut made = schema(&view);
        made["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
        made["title"] = format!("mainspring {}", args.join(" ")).into();
        made["properties"]["version"] = json!({"const": 1});
        made["required"] = json!(["version"]);
        let text = serde_json::to_string_pretty(&made).unwrap() + "\n";
        let file = folder.join(format!("{name}.schema.json"));
        if std::env::var_os("GENERATE").is_some() {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&file, &text).unwrap();
        }
        if fs::read_to_string(&file).unwrap_or_default() != text {
            wrong.push(format!("{name}:\n{text}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "`GENERATE=1 cargo test -p mainspring every_view` writes the schemas: {}",
        wrong.join("\n")
    );
}
