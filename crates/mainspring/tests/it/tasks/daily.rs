//! `tasks` in daily life: what an author and a person are told, and what is laid out all the same.

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::{STEPS, contents, folder, invoke, put, skill, tasks};
use crate::env::TestEnv;

const TOOLS: (&str, &str) = ("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1");

#[test]
fn what_a_task_blocks_waits_for_it_so_that_the_preview_is_what_happens() {
    let env = TestEnv::new().with(TOOLS.0, TOOLS.1);
    let list = r#"[{"id":1,"subject":"a","blocks":[2,3]},{"id":2,"subject":"b"},{"id":3,"subject":"c","blockedBy":[1]}]"#;
    skill(&env, "ship", list);
    assert_snapshot!(env.run(&["tasks", "preview", ".claude/skills/ship"]).ok(), @r"
    first  1 a
    then   2 b  (after 1)
           3 c  (after 1)
    ");
    invoke(&env, "ship").ok();
    let files = contents(&folder(&env));
    let waits = |id: u32| {
        let task: Value = serde_json::from_str(&files[&format!("{id}.json")]).unwrap();
        task["blockedBy"].clone()
    };
    assert_eq!(
        [waits(1), waits(2), waits(3)],
        [json!([]), json!(["1"]), json!(["1"])]
    );
    let next = env.agent("s", &["tasks", "next"]).ok();
    assert!(next.contains('a') && !next.contains('b'), "{next}");
}

#[test]
fn an_author_is_told_of_fields_that_nothing_reads() {
    let env = TestEnv::new();
    let place = |text: String| text.replace(&env.project().display().to_string(), "PROJECT");
    skill(
        &env,
        "odd",
        r#"[{"id":1,"subject":"a","descripton":"d","description":"d","blocked_by":[],"active_form":"x","priority":1}]"#,
    );
    assert_snapshot!(place(env.run(&["tasks", "validate", ".claude/skills/odd"]).ok()), @r"
    PROJECT/.claude/skills/odd/fsm.json: 1 tasks, 4 warnings
    PROJECT/.claude/skills/odd/fsm.json:1:37: warning: 'descripton' is no field of a task: is 'description' meant?
    PROJECT/.claude/skills/odd/fsm.json:1:72: warning: 'blocked_by' is no field of a task: is 'blockedBy' meant?
    PROJECT/.claude/skills/odd/fsm.json:1:89: warning: 'active_form' is no field of a task: is 'activeForm' meant?
    PROJECT/.claude/skills/odd/fsm.json:1:104: warning: 'priority' is no field of a task: it is kept, but nothing reads it
    ");
}

#[test]
fn a_fault_says_which_number_is_the_position_and_which_the_id() {
    let env = TestEnv::new();
    skill(
        &env,
        "bad",
        r#"[{"id":1,"subject":"a"},{"id":3,"subject":"b"},{"id":2,"subject":"c","blockedBy":[9]},{"id":4}]"#,
    );
    let said = invoke(&env, "bad").json();
    assert_snapshot!(said["reason"].as_str().unwrap(), @r"
    The task list of the skill 'bad' was not laid out, and no task was changed.
    Validation failed:
      Task 3 (id 2): blockedBy references non-existent id 9
      Task 4: missing required field 'subject'
    ");
}

#[test]
fn a_registry_that_begins_with_a_byte_order_mark_is_read() {
    let env = TestEnv::new().with(TOOLS.0, TOOLS.1);
    let install = env.root().join("cache/flow");
    put(&install.join("skills/ship/fsm.json"), STEPS);
    let registry = json!({ "version": 2, "plugins": {
        "flow@market": [{ "scope": "user", "installPath": install }] } });
    put(
        &env.home().join(".claude/plugins/installed_plugins.json"),
        &format!("\u{feff}{registry}"),
    );
    assert_eq!(invoke(&env, "flow:ship").ok(), "");
    assert_eq!(tasks(&env).len(), 3);
}

#[test]
fn a_skill_without_a_list_is_told_nothing_whatever_is_broken() {
    let env = TestEnv::new();
    let registry = env.home().join(".claude/plugins/installed_plugins.json");
    put(&registry, "{ no");
    assert_eq!(invoke(&env, "flow:talk").ok(), "");
    put(
        &env.home().join(".config/mainspring/config.toml"),
        "[tasks\n",
    );
    assert_eq!(invoke(&env, "talk").ok(), "");
}

#[test]
fn an_order_about_stops_leaves_task_lists_alone_and_one_that_names_them_is_told_once() {
    for order in [&["stop"][..], &["pause", "1h"], &["observe"]] {
        let env = TestEnv::new().with(TOOLS.0, TOOLS.1);
        skill(&env, "ship", STEPS);
        env.run(order).ok();
        assert_eq!(invoke(&env, "ship").ok(), "", "{order:?}");
        assert_eq!(tasks(&env).len(), 3, "{order:?}");
    }
    let env = TestEnv::new().with(TOOLS.0, TOOLS.1);
    skill(&env, "ship", STEPS);
    env.run(&["stop", "tasks"]).ok();
    let said = invoke(&env, "ship").json();
    let told = said["systemMessage"].as_str().unwrap();
    assert!(
        told.contains("the task list of the skill 'ship' was not laid out")
            && told.contains("mainspring resume tasks"),
        "{told}"
    );
    assert_eq!(invoke(&env, "ship").ok(), "", "once in a session");
    assert!(tasks(&env).is_empty());
    env.run(&["resume", "tasks"]).ok();
    assert_eq!(invoke(&env, "ship").ok(), "");
    assert_eq!(tasks(&env).len(), 3);
}
