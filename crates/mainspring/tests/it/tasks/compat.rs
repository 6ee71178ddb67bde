//! `compat fsm` in place of the public script: the cases of its document.

use insta::assert_snapshot;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{STEPS, contents, put, skill};
use crate::env::{Ran, TestEnv, finish};

/// The script's payload does not name its event.
fn script(env: &TestEnv, skill: &str) -> Ran {
    let payload = json!({
        "session_id": "s",
        "cwd": env.project(),
        "tool_input": { "skill": skill },
        "tool_response": { "success": true, "commandName": skill },
    });
    finish(
        env.command().args(["compat", "fsm"]),
        payload.to_string().as_bytes(),
    )
}

fn said(env: &TestEnv, ran: &Ran) -> String {
    let root = env.root().display().to_string();
    let stderr = ran.stderr.replace(&root, "");
    format!("{}{stderr}exit {}", ran.stdout, ran.code.unwrap())
}

#[test]
fn it_says_what_the_script_said() {
    let env = TestEnv::new();
    skill(&env, "ship", STEPS);
    assert_snapshot!(said(&env, &script(&env, "ship")), @r#"
    {"continue": true}
    [fsm] Processing skill: ship
    [fsm] Found fsm.json: /project/.claude/skills/ship/fsm.json
    [fsm] Created task: 1.json
    [fsm] Created task: 2.json
    [fsm] Created task: 3.json
    [fsm] Hydrated 3 tasks
    exit 0
    "#);
    assert_snapshot!(said(&env, &script(&env, "none")), @r#"
    {"continue": true}
    [fsm] Processing skill: none
    [fsm] No fsm.json found: there are no tasks to lay out
    exit 0
    "#);
    skill(
        &env,
        "bad",
        r#"[{"id":1,"subject":"a"},{"id":2},{"id":1,"subject":"c"},{"id":4,"subject":"d","blockedBy":[9]}]"#,
    );
    assert_snapshot!(said(&env, &script(&env, "bad")), @r"
    [fsm] Processing skill: bad
    [fsm] Found fsm.json: /project/.claude/skills/bad/fsm.json
    [fsm] ERROR: Validation failed:
      Task 2: missing required field 'subject'
      Task 3: duplicate id 1
      Task 4: blockedBy references non-existent id 9
    exit 1
    ");
    assert_snapshot!(said(&env, &script(&env, "plugin:ship")), @r"
    [fsm] Processing skill: plugin:ship
    [fsm] ERROR: Skill 'plugin:ship' not found - installed_plugins.json is missing or malformed
    exit 1
    ");
    let garbage = finish(env.command().args(["compat", "fsm"]), b"{");
    assert_snapshot!(said(&env, &garbage), @r"
    [fsm] ERROR: Invalid JSON input: EOF while parsing an object at line 1 column 1
    exit 1
    ");
}

#[test]
fn its_variables_move_the_roots() {
    let env = TestEnv::new();
    let (tasks, skills) = (env.root().join("t"), env.root().join("u"));
    let registry = env.root().join("plugins.json");
    let env = env
        .with("FSM_TASK_ROOT", tasks.to_str().unwrap())
        .with("FSM_USER_SKILLS_ROOT", skills.to_str().unwrap())
        .with("FSM_PLUGINS_FILE", registry.to_str().unwrap());
    put(&skills.join("mine/fsm.json"), STEPS);
    assert_eq!(script(&env, "mine").code, Some(0));
    assert!(tasks.join("s/3.json").is_file());
    // The oldest format of the registry, with the most specific scope.
    let entry = |scope: &str, place: &str| {
        let list = format!(r#"[{{"id":1,"subject":"{scope}"}}]"#);
        put(&env.root().join(place).join("skills/x/fsm.json"), &list);
        json!({"name": "p@1.0.0", "scope": scope, "projectPath": env.project(),
            "installPath": env.root().join(place)})
    };
    put(
        &registry,
        &json!([
            entry("user", "a"),
            entry("local", "b"),
            entry("project", "c")
        ])
        .to_string(),
    );
    assert_eq!(script(&env, "p:x").code, Some(0));
    let task: Value = serde_json::from_str(&contents(&tasks.join("s"))["1.json"]).unwrap();
    assert_eq!(task["subject"], "local");
}

/// A payload with these fields beside the ones that the public tests send.
fn with(env: &TestEnv, fields: &Value) -> Ran {
    let mut payload = json!({
        "session_id": "s",
        "cwd": env.project(),
        "tool_response": { "commandName": "ship" },
    });
    let fields = fields.as_object().unwrap().clone();
    payload.as_object_mut().unwrap().extend(fields);
    finish(
        env.command().args(["compat", "fsm"]),
        payload.to_string().as_bytes(),
    )
}

/// A skill with the usual list, and the path of the list.
fn list_of(env: &TestEnv, name: &str) -> String {
    skill(env, name, STEPS);
    let folder = env.project().join(".claude/skills").join(name);
    folder.join("fsm.json").display().to_string()
}

#[test]
fn what_it_does_is_on_stderr() {
    let env = TestEnv::new();
    let list = list_of(&env, "ship");
    let told = |ran: &Ran| {
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(0), "{\"continue\": true}\n")
        );
        ran.stderr.clone()
    };
    let created = "[fsm] Created task: 1.json\n[fsm] Created task: 2.json\n[fsm] Created task: \
                   3.json\n[fsm] Hydrated 3 tasks\n";
    let begun = format!("[fsm] Processing skill: ship\n[fsm] Found fsm.json: {list}\n");
    assert_eq!(told(&script(&env, "ship")), format!("{begun}{created}"));
    let deleted = "[fsm] Deleted FSM task: 1.json\n[fsm] Deleted FSM task: 2.json\n[fsm] Deleted \
                   FSM task: 3.json\n";
    assert_eq!(
        told(&script(&env, "ship")),
        format!("{begun}{deleted}{created}")
    );
    assert_eq!(
        told(&script(&env, "none")),
        "[fsm] Processing skill: none\n[fsm] No fsm.json found: there are no tasks to lay out\n"
    );
    // It tells the same if the client shows the list, and the agent need not be told.
    let env = TestEnv::new().with("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1");
    let list = list_of(&env, "ship");
    let begun = format!("[fsm] Processing skill: ship\n[fsm] Found fsm.json: {list}\n");
    assert_eq!(told(&script(&env, "ship")), format!("{begun}{created}"));
}

#[test]
fn a_field_that_is_missing_is_an_error() {
    let session = "session_id";
    let command = "tool_response.commandName";
    for (fields, missing) in [
        (json!({ "session_id": null }), session),
        (json!({ "session_id": "" }), session),
        (json!({ "tool_response": null }), command),
        (json!({ "tool_response": {} }), command),
        (json!({ "tool_response": { "commandName": "" } }), command),
        (
            json!({ "tool_response": { "commandName": null }, "tool_input": { "skill": "ship" } }),
            command,
        ),
    ] {
        let env = TestEnv::new();
        skill(&env, "ship", STEPS);
        let ran = with(&env, &fields);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{fields}");
        let error = format!("[fsm] ERROR: Missing required field: {missing}\n");
        assert_eq!(ran.stderr, error, "{fields}");
        assert!(!env.home().join(".claude/tasks").exists());
    }
    // The directory is the script's own if the payload has none, and the rest may be absent.
    for fields in [
        json!({}),
        json!({ "cwd": null }),
        json!({ "tool_input": { "skill": "x" } }),
    ] {
        let env = TestEnv::new();
        skill(&env, "ship", STEPS);
        assert_eq!(
            with(&env, &fields).stdout,
            "{\"continue\": true}\n",
            "{fields}"
        );
        assert!(
            env.home().join(".claude/tasks/s/3.json").is_file(),
            "{fields}"
        );
    }
}

#[test]
fn every_error_is_told() {
    let env = TestEnv::new();
    let bad: Vec<Value> = (1..=300).map(|id| json!({ "id": id })).collect();
    skill(&env, "bad", &json!(bad).to_string());
    let ran = script(&env, "bad");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    let errors: Vec<&str> = ran.stderr.lines().skip(2).collect();
    assert_eq!(errors[0], "[fsm] ERROR: Validation failed:");
    assert_eq!(errors.len(), 301, "{}", ran.stderr);
    assert!(
        errors[300].contains("Task 300")
            && errors[300].ends_with("missing required field 'subject'"),
        "{}",
        errors[300]
    );
}

#[test]
fn a_relative_root_is_refused() {
    for name in ["FSM_TASK_ROOT", "FSM_PLUGINS_FILE", "FSM_USER_SKILLS_ROOT"] {
        let env = TestEnv::new().with(name, "some/where");
        skill(&env, "ship", STEPS);
        let ran = script(&env, "ship");
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
        let error = format!(
            "[fsm] ERROR: {name} is some/where, a relative path: give it from / on. No task was \
             changed\n"
        );
        assert_eq!(ran.stderr, error);
        assert!(!env.home().join(".claude/tasks").exists());
        assert!(!env.project().join("some").exists());
    }
}
