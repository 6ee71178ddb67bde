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

fn said(ran: &Ran) -> String {
    format!("{}{}exit {}", ran.stdout, ran.stderr, ran.code.unwrap())
}

#[test]
fn it_says_what_the_script_said() {
    let env = TestEnv::new();
    skill(&env, "ship", STEPS);
    assert_snapshot!(said(&script(&env, "ship")), @r#"
    {"continue": true}
    [fsm] The skill 'ship' laid out 3 tasks, in this order
    exit 0
    "#);
    assert_snapshot!(said(&script(&env, "none")), @r#"
    {"continue": true}
    exit 0
    "#);
    skill(
        &env,
        "bad",
        r#"[{"id":1,"subject":"a"},{"id":2},{"id":1,"subject":"c"},{"id":4,"subject":"d","blockedBy":[9]}]"#,
    );
    assert_snapshot!(said(&script(&env, "bad")), @r"
    [fsm] ERROR: Validation failed:
      Task 2: missing required field 'subject'
      Task 3: duplicate id 1
      Task 4: blockedBy references non-existent id 9
    exit 1
    ");
    assert_snapshot!(said(&script(&env, "plugin:ship")), @r"
    [fsm] ERROR: Skill 'plugin:ship' not found - installed_plugins.json is missing or malformed
    exit 1
    ");
    let garbage = finish(env.command().args(["compat", "fsm"]), b"{");
    assert_snapshot!(said(&garbage), @r"
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
