//! What one event does to the list, and what it does not.

use std::fs;

use insta::assert_snapshot;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{STEPS, by_hand, contents, folder, invocation, invoke, put, skill, tasks, typed};
use crate::env::TestEnv;
use crate::retention::all_below;

#[test]
fn a_skill_lays_out_its_list() {
    let env = TestEnv::new().with("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1");
    skill(&env, "ship", STEPS);
    assert_eq!(invoke(&env, "ship").ok(), "");
    assert_eq!(tasks(&env), ["1 Set up <>", "2 Build <1>", "3 Ship <1,2>"]);
    assert_snapshot!(contents(&folder(&env))["3.json"], @r#"
    {
      "id": "3",
      "subject": "Ship",
      "description": "",
      "activeForm": "",
      "owner": "",
      "status": "pending",
      "blocks": [],
      "blockedBy": [
        "1",
        "2"
      ],
      "metadata": {
        "k": 1,
        "fsm": "ship"
      },
      "priority": "high"
    }
    "#);
    let left: Vec<String> = contents(&folder(&env)).into_keys().collect();
    assert_eq!(left, [".lock", "1.json", "2.json", "3.json"]);
}

#[test]
fn a_typed_skill_does_the_same() {
    let env = TestEnv::new();
    skill(&env, "ship", STEPS);
    let said = typed(&env, "ship").json();
    let context = said["hookSpecificOutput"]["additionalContext"]
        .as_str()
        .unwrap();
    assert!(context.contains("#2 Build (after #1)"), "{context}");
    assert_eq!(
        said["hookSpecificOutput"]["hookEventName"],
        "UserPromptExpansion"
    );
    assert_eq!(tasks(&env).len(), 3);
}

#[test]
fn without_a_list_nothing_is_said_or_locked_and_only_the_session_is_noted() {
    let env = TestEnv::new();
    assert_eq!(invoke(&env, "plain").ok(), "");
    assert_eq!(typed(&env, "plain").ok(), "");
    assert_eq!(all_below(&env.home()), [env.state().join("live/s")]);
}

#[test]
fn a_failed_call_and_a_sub_agents_call_lay_nothing_out() {
    let env = TestEnv::new();
    skill(&env, "ship", STEPS);
    let mut failed = invocation("ship");
    failed["tool_response"]["success"] = false.into();
    let mut sub_agent = invocation("ship");
    sub_agent["agent_id"] = "a1".into();
    let mut other = invocation("ship");
    other["tool_name"] = "Bash".into();
    for fields in [failed, sub_agent, other] {
        assert_eq!(env.hook("PostToolUse", fields).ok(), "");
        assert!(!folder(&env).exists());
    }
}

#[test]
fn invoking_again_resets_and_what_was_made_by_hand_stays() {
    let env = TestEnv::new().with("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1");
    skill(&env, "ship", STEPS);
    skill(&env, "other", r#"[{"id":1,"subject":"Other"}]"#);
    by_hand(&env, 4, &[]);
    let by_hand_4 = contents(&folder(&env))["4.json"].clone();
    invoke(&env, "ship").ok();
    by_hand(&env, 8, &["5", "4"]);
    assert_eq!(
        tasks(&env),
        [
            "4 By hand 4 <>",
            "5 Set up <>",
            "6 Build <5>",
            "7 Ship <5,6>",
            "8 By hand 8 <5,4>"
        ]
    );
    // Another skill's tasks replace all others; only references to deleted tasks are removed.
    invoke(&env, "other").ok();
    assert_eq!(
        tasks(&env),
        ["4 By hand 4 <>", "8 By hand 8 <4>", "9 Other <>"]
    );
    assert_eq!(contents(&folder(&env))["4.json"], by_hand_4);
    let kept: Value = serde_json::from_str(&contents(&folder(&env))["8.json"]).unwrap();
    assert_eq!(kept["mine"], json!([1.5, null]));
    // The new layout has the same ids, which are above the client's high-water mark.
    invoke(&env, "other").ok();
    assert_eq!(tasks(&env)[2], "9 Other <>");
    put(&folder(&env).join(".highwatermark"), "41");
    invoke(&env, "other").ok();
    assert_eq!(tasks(&env)[2], "42 Other <>");
}

#[test]
fn settings_keep_other_skills_tasks_and_those_in_progress() {
    let env = TestEnv::new();
    skill(&env, "ship", STEPS);
    skill(
        &env,
        "other",
        r#"[{"id":1,"subject":"Other","status":"in_progress"}]"#,
    );
    put(
        &env.project().join("mainspring.toml"),
        "[tasks]\nreset = \"skill\"\nguard_active = true\n",
    );
    env.trust();
    invoke(&env, "ship").ok();
    invoke(&env, "other").ok();
    assert_eq!(tasks(&env).len(), 4);
    let before = contents(&folder(&env));
    let said = invoke(&env, "other").json();
    assert_eq!(said["decision"], "block");
    let reason = said["reason"].as_str().unwrap();
    assert!(
        reason.contains(
            "Related active task(s) must be resolved and verified first. In progress: #4."
        ),
        "{reason}"
    );
    assert_eq!(contents(&folder(&env)), before);
    // The other skill's active task does not prevent it.
    invoke(&env, "ship").ok();
    assert_eq!(tasks(&env).len(), 4);
}

#[test]
fn a_list_with_faults_changes_nothing_and_tells_both() {
    let env = TestEnv::new();
    skill(&env, "ship", STEPS);
    invoke(&env, "ship").ok();
    let before = contents(&folder(&env));
    let faults = r#"[{"id":1},{"id":1,"subject":"x","blockedBy":[9]}]"#;
    for (list, part) in [
        (
            faults,
            "Task 2 (id 1): blockedBy references non-existent id 9",
        ),
        ("[{\n\"id\":1,,", "line 2 column 8"),
        ("{}", "must be an array of tasks, found an object"),
        ("", "EOF while parsing"),
    ] {
        skill(&env, "ship", list);
        let said = invoke(&env, "ship").json();
        assert_eq!(said["decision"], "block", "{said}");
        for told in ["reason", "systemMessage"] {
            assert!(said[told].as_str().unwrap().contains(part), "{said}");
        }
        // A block would erase the person's prompt.
        let said = typed(&env, "ship").json();
        assert_eq!(said["decision"], Value::Null, "{said}");
        let told = said["hookSpecificOutput"]["additionalContext"]
            .as_str()
            .unwrap();
        assert!(told.contains(part), "{said}");
        assert!(
            said["systemMessage"].as_str().unwrap().contains(part),
            "{said}"
        );
        assert_eq!(contents(&folder(&env)), before);
    }
}

#[test]
fn limits_are_limits() {
    let env = TestEnv::new();
    let many = |count: u32| {
        let tasks: Vec<Value> = (1..=count)
            .map(|id| json!({"id": id, "subject": "x"}))
            .collect();
        Value::Array(tasks).to_string()
    };
    skill(&env, "big", &many(1_001));
    let said = invoke(&env, "big").json();
    assert!(
        said["reason"]
            .as_str()
            .unwrap()
            .contains("1001 tasks are more than 1000")
    );
    skill(&env, "big", &format!("[{}]", " ".repeat(1024 * 1024)));
    let said = invoke(&env, "big").json();
    assert!(
        said["reason"]
            .as_str()
            .unwrap()
            .contains("is larger than 1048576 bytes")
    );
    assert!(!folder(&env).exists());
    skill(&env, "big", &many(1_000));
    invoke(&env, "big").ok();
    assert_eq!(tasks(&env).len(), 1_000);
}

#[test]
fn the_list_is_the_one_that_the_client_uses() {
    let session = json!({ "session_id": "../../a b/é" });
    for (vars, fields, place) in [
        (&[][..], session.clone(), ".claude/tasks/------a-b--"),
        (
            &[("CLAUDE_CODE_TASK_LIST_ID", "my list")],
            session.clone(),
            ".claude/tasks/my-list",
        ),
        (&[], json!({ "team_name": "t1" }), ".claude/tasks/t1"),
        (
            &[("CLAUDE_CONFIG_DIR", "CONFIG")],
            json!({}),
            "config/tasks/s",
        ),
        (&[("FSM_TASK_ROOT", "CONFIG")], json!({}), "config/s"),
    ] {
        let mut env = TestEnv::new();
        let config = env.home().join("config").display().to_string();
        for (name, value) in vars {
            env = env.with(name, if *value == "CONFIG" { &config } else { value });
        }
        skill(&env, "ship", STEPS);
        let mut payload = invocation("ship");
        payload
            .as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
        let _ = env.hook("PostToolUse", payload).ok();
        assert!(env.home().join(place).join("3.json").is_file(), "{place}");
    }
}

#[test]
fn without_a_session_nothing_is_laid_out_and_it_is_said() {
    let env = TestEnv::new();
    skill(&env, "ship", STEPS);
    for session in [json!(""), json!("null"), Value::Null, json!(7)] {
        let mut payload = invocation("ship");
        payload["session_id"] = session;
        let said = env.hook("PostToolUse", payload).json();
        assert!(
            said["reason"]
                .as_str()
                .unwrap()
                .contains("the session is not known"),
            "{said}"
        );
    }
}

#[test]
fn a_plugins_skill_is_found_through_the_registry() {
    let env = TestEnv::new().with("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1");
    let missing = "Skill 'flow:ship' not found - installed_plugins.json is missing or malformed";
    let install = env.home().join(".claude/plugins/cache/market/flow/1.0");
    // It may have no list, so nobody hears of the registry.
    assert_eq!(invoke(&env, "flow:ship").ok(), "");
    put(&install.join("skills/ship/fsm.json"), STEPS);
    let said = invoke(&env, "flow:ship").json();
    assert!(
        said["reason"].as_str().unwrap().ends_with(missing),
        "{said}"
    );
    let registry = json!({
        "version": 2,
        "plugins": { "flow@market": [
            {"scope": "project", "projectPath": env.project(), "installPath": install},
            {"scope": "user", "installPath": "/nowhere"},
        ]},
    });
    put(
        &env.home().join(".claude/plugins/installed_plugins.json"),
        &registry.to_string(),
    );
    assert_eq!(invoke(&env, "flow:ship").ok(), "");
    assert_eq!(tasks(&env).len(), 3);
    let task: Value = serde_json::from_str(&contents(&folder(&env))["1.json"]).unwrap();
    assert_eq!(task["metadata"], json!({"fsm": "flow:ship"}));
}

#[test]
fn strangers_are_left_alone_and_named() {
    let env = TestEnv::new();
    skill(&env, "ship", STEPS);
    put(&folder(&env).join("notes.json"), "not ours");
    put(&folder(&env).join("12.json"), "torn");
    let said = invoke(&env, "ship").json();
    assert_snapshot!(said["systemMessage"].as_str().unwrap(), @r"
    mainspring tasks: left alone, because it is not a task: notes.json
    mainspring tasks: left alone, because it is not a task: 12.json
    ");
    let after = contents(&folder(&env));
    assert_eq!(
        (&*after["notes.json"], &*after["12.json"]),
        ("not ours", "torn")
    );
    assert!(after.contains_key("13.json") && !after.contains_key("1.json"));
}

#[test]
fn odd_files_in_the_lists_place_are_refused_at_once() {
    for kind in ["folder", "fifo", "loop", "dangling"] {
        let env = TestEnv::new();
        let path = env.project().join(".claude/skills/odd/fsm.json");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match kind {
            "folder" => fs::create_dir(&path).unwrap(),
            "fifo" => {
                let made = std::process::Command::new("mkfifo").arg(&path).status();
                assert!(made.unwrap().success());
            }
            "loop" => std::os::unix::fs::symlink("fsm.json", &path).unwrap(),
            _ => std::os::unix::fs::symlink("nothing", &path).unwrap(),
        }
        let said = invoke(&env, "odd").json();
        assert_eq!(said["decision"], "block", "{kind}: {said}");
        assert!(!folder(&env).exists(), "{kind}");
    }
}

#[test]
fn the_same_event_twice_is_one() {
    let env = TestEnv::new();
    skill(&env, "ship", STEPS);
    let event = invocation("ship");
    let first = env.hook("PostToolUse", event.clone()).ok();
    // The agent goes on working, and the host delivers the event again.
    by_hand(&env, 2, &[]);
    assert_eq!(env.hook("PostToolUse", event).ok(), first);
    assert_eq!(tasks(&env)[1], "2 By hand 2 <>");
}

/// A layout without a message is remembered as well as one with a message.
#[test]
fn the_same_event_twice_is_one_where_the_list_speaks_for_itself() {
    let env = TestEnv::new().with("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1");
    skill(&env, "ship", STEPS);
    let event = invocation("ship");
    assert_eq!(env.hook("PostToolUse", event.clone()).ok(), "");
    let first = folder(&env).join("1.json");
    let started = fs::read_to_string(&first).unwrap();
    let started = started.replace("pending", "in_progress");
    put(&first, &started);
    assert_eq!(env.hook("PostToolUse", event).ok(), "");
    assert_eq!(fs::read_to_string(&first).unwrap(), started);
}

#[test]
fn a_lock_that_is_never_let_go_fails_closed() {
    let env = TestEnv::new();
    skill(&env, "ship", STEPS);
    invoke(&env, "ship").ok();
    let before = contents(&folder(&env));
    let lock = folder(&env).join("2.json.lock");
    fs::create_dir(&lock).unwrap();
    // Touched again and again, as a live client does.
    let touched = std::time::UNIX_EPOCH + std::time::Duration::from_secs(9_999_999_999);
    let dir = fs::File::open(&lock).unwrap();
    dir.set_modified(touched).unwrap();
    let said = invoke(&env, "ship").json();
    let reason = said["reason"].as_str().unwrap();
    assert!(
        reason.contains("the client's task list is locked"),
        "{reason}"
    );
    fs::remove_dir(&lock).unwrap();
    assert_eq!(contents(&folder(&env)), before);
}

#[test]
fn the_guard_denies_a_look_into_the_machinery_where_it_is_on() {
    let env = TestEnv::new();
    let read = |file: &str| json!({ "tool_name": "Read", "tool_input": { "file_path": file } });
    let path = "/x/.claude/skills/ship/fsm.json";
    assert_eq!(env.hook("PreToolUse", read(path)).ok(), "");
    put(
        &env.project().join("mainspring.toml"),
        "[tasks]\nguard_files = true\n",
    );
    env.trust();
    for (tool, denied) in [
        (read(path), true),
        (read("/x/.claude/skills/ship/SKILL.md"), true),
        (
            json!({ "tool_name": "Bash", "tool_input": { "command": "jq . fsm.json" } }),
            true,
        ),
        (read("/x/README.md"), false),
    ] {
        let said = env.hook("PreToolUse", tool.clone()).ok();
        assert_eq!(
            said.contains(r#""permissionDecision":"deny""#),
            denied,
            "{tool}"
        );
    }
    let env = env.with("FSM_BYPASS", "1");
    assert_eq!(env.hook("PreToolUse", read(path)).ok(), "");
}

#[test]
fn a_linked_skill_and_a_commands_folder_have_lists_too() {
    let env = TestEnv::new().with("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1");
    put(&env.root().join("shared/ship/fsm.json"), STEPS);
    let skills = env.project().join(".claude/skills");
    fs::create_dir_all(&skills).unwrap();
    std::os::unix::fs::symlink(env.root().join("shared/ship"), skills.join("ship")).unwrap();
    assert_eq!(invoke(&env, "ship").ok(), "");
    assert_eq!(tasks(&env).len(), 3);
    let command = env.project().join(".claude/commands/team/go/fsm.json");
    put(&command, r#"[{"id":1,"subject":"Go"}]"#);
    let typed = json!({ "command_name": "team:go", "command_source": "projectSettings" });
    assert_eq!(env.hook("UserPromptExpansion", typed).ok(), "");
    assert_eq!(tasks(&env), ["1 Go <>"]);
}

#[test]
fn what_is_only_simulated_leaves_no_trace() {
    let env = TestEnv::new();
    skill(&env, "ship", STEPS);
    let event = crate::env::payload(&env.project(), "PostToolUse", invocation("ship"));
    put(&env.root().join("event.json"), &event.to_string());
    let file = env.root().join("event.json");
    let said = env.run(&["debug", "simulate", file.to_str().unwrap()]).ok();
    assert!(said.contains("laid out 3 tasks"), "{said}");
    assert!(!folder(&env).exists());
}
