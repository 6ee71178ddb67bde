//! The JSON of every view: it has a version, and a schema in `schema/views`, which is made from
//! what the views print. `GENERATE=1` writes the schemas. That every command with `--json` has one
//! is tested beside the reference, from the table of commands.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use mainspring_testkit::view::View;
use serde_json::{Map, Value, json};

use crate::check::joins::opened;
use crate::claim::world;
use crate::env::{Ran, TestEnv};

/// The views of a busy project: the name of the schema, and the command.
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
    ("debug-replay", &["debug", "replay"]),
    ("debug-self", &["debug", "self"]),
    ("sessions", &["sessions"]),
    ("debug-simulate", &["debug", "simulate", "../stop.json"]),
    ("debug-state", &["debug", "state"]),
    ("status", &["status"]),
    ("tasks-list", &["tasks", "list", "--list", "s"]),
    ("tasks-next", &["tasks", "next", "--list", "s"]),
    ("trust", &["trust", "--list"]),
    ("why", &["why"]),
];

/// The views that need something else, each with a test of its own below.
const OTHERS: &[&str] = &["check-verify", "claim-list", "claim-status", "log", "view"];

/// A project in which most views have something to show.
pub(crate) fn busy() -> TestEnv {
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
    fs::write(env.root().join("stop.json"), "{}").unwrap();
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

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/views")
}

/// Compares what a command printed with its schema, or writes the schema. The field that has the
/// version is named.
fn keep(name: &str, command: &str, mut made: Value, version: (&str, u64)) {
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    made["title"] = format!("mainspring {command} --json").into();
    made["properties"][version.0] = json!({"const": version.1});
    made["required"] = json!([version.0]);
    let text = serde_json::to_string_pretty(&made).unwrap() + "\n";
    let file = folder().join(format!("{name}.schema.json"));
    if std::env::var_os("GENERATE").is_some() {
        fs::create_dir_all(folder()).unwrap();
        fs::write(&file, &text).unwrap();
    }
    pretty_assertions::assert_eq!(
        fs::read_to_string(&file).unwrap_or_default(),
        text,
        "`GENERATE=1 cargo test -p mainspring json_views` writes the schemas"
    );
}

/// A view that is one object.
fn keep_view(name: &str, command: &[&str], ran: &Ran) {
    let view: Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{command:?}: {ran:?}"));
    assert_eq!(view["version"], 1, "{command:?}");
    keep(name, &command.join(" "), schema(&view), ("version", 1));
}

fn with_json<'a>(args: &[&'a str]) -> Vec<&'a str> {
    args.iter().copied().chain(["--json"]).collect()
}

#[test]
fn every_view_has_a_version_and_the_schema_that_is_documented() {
    let env = busy();
    for (name, args) in VIEWS {
        keep_view(name, args, &env.run(&with_json(args)));
    }
}

#[test]
fn a_line_of_the_log_has_the_version_of_its_format() {
    let env = busy();
    let log = env.run(&["log", "--json"]).ok();
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let format = lines[0]["v"].as_u64().unwrap();
    assert!(lines.iter().all(|line| line["v"] == format), "{log}");
    let lines: Vec<Value> = lines.iter().map(schema).collect();
    keep("log", "log", merged(&lines), ("v", format));
}

#[test]
fn the_page_says_its_address() {
    let env = TestEnv::new();
    let page = View::start(&mut env.command());
    let ran = Ran {
        stdout: page.said.to_string(),
        ..env.run(&["--version"])
    };
    keep_view("view", &["view"], &ran);
}

#[test]
fn a_receipt_is_compared() {
    let Some((world, receipt)) = opened("") else {
        return;
    };
    let args = ["check", "verify", "--receipt", &receipt];
    keep_view(
        "check-verify",
        &["check", "verify"],
        &world.env.run(&with_json(&args)),
    );
}

#[test]
fn claims_are_listed() {
    let Some(world) = world::world() else {
        return;
    };
    world.env.agent("s", &["claim", "42"]).ok();
    for (name, args) in [
        ("claim-list", ["claim", "list"]),
        ("claim-status", ["claim", "status"]),
    ] {
        keep_view(name, &args, &world.env.run(&with_json(&args)));
    }
}

#[test]
fn every_schema_is_tested_here() {
    let named: BTreeSet<&str> = VIEWS
        .iter()
        .map(|(name, _)| *name)
        .chain(OTHERS.iter().copied())
        .collect();
    let files: Vec<String> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let there: BTreeSet<&str> = files
        .iter()
        .map(|file| file.strip_suffix(".schema.json").unwrap())
        .collect();
    assert_eq!(there, named);
}
