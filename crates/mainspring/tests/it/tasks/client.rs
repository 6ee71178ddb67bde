//! The real client: its task tools see, change and extend the list that a skill laid out.

use std::collections::BTreeMap;
use std::path::Path;

use mainspring_testkit::claude::{Claude, Hook};
use mainspring_testkit::model::{Model, Turn};
use mainspring_testkit::recorder::HookCall;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{STEPS, contents, put};
use crate::env::MAINSPRING;

const SKILL: &str = "---\nname: ship\ndescription: Ship it\n---\nShip the thing, step by step.\n";

fn hooked(model: &Model) -> Option<Claude> {
    let hook = Hook::exec(MAINSPRING, ["hook"]);
    let claude = Claude::new(model)?
        .in_repository()
        .hooks(["PostToolUse", "UserPromptExpansion", "Stop"], &hook)
        .recording();
    add_skill(&claude.project().join(".claude/skills/ship"));
    Some(claude)
}

fn add_skill(folder: &Path) {
    put(&folder.join("SKILL.md"), SKILL);
    put(&folder.join("fsm.json"), STEPS);
}

/// Its task tools are off by default.
fn with_task_tools(claude: Claude) -> Claude {
    claude.setting("env", json!({ "CLAUDE_CODE_ENABLE_TODO_TOOLS": "1" }))
}

fn invoke(skill: &str) -> Turn {
    Turn::call("Skill", json!({ "skill": skill }))
}

/// The session's tasks by id: subject, status, and what they wait for.
fn tasks(claude: &Claude, session: &str) -> BTreeMap<u64, String> {
    contents(&claude.home().join(".claude/tasks").join(session))
        .into_iter()
        .filter_map(|(name, text)| {
            let id = name.strip_suffix(".json")?.parse().ok()?;
            let task: Value = serde_json::from_str(&text).unwrap();
            let said = format!(
                "{} {} {}",
                task["subject"], task["status"], task["blockedBy"]
            );
            Some((id, said.replace('"', "")))
        })
        .collect()
}

fn said(tasks: &[(u64, &str)]) -> BTreeMap<u64, String> {
    tasks
        .iter()
        .map(|(id, text)| (*id, (*text).to_owned()))
        .collect()
}

#[test]
fn task_tools_see_change_and_add_to_what_was_laid_out() {
    let model = Model::play([
        invoke("ship"),
        Turn::call("TaskList", json!({})),
        Turn::call(
            "TaskUpdate",
            json!({ "taskId": "1", "status": "completed" }),
        ),
        Turn::call(
            "TaskUpdate",
            json!({ "taskId": "2", "status": "in_progress", "owner": "me" }),
        ),
        Turn::call(
            "TaskCreate",
            json!({ "subject": "Mine", "description": "by the agent" }),
        ),
        Turn::call(
            "TaskUpdate",
            json!({ "taskId": "4", "addBlockedBy": ["3"] }),
        ),
        Turn::call("TaskGet", json!({ "taskId": "3" })),
        Turn::say("Half of it is done."),
        invoke("ship"),
        Turn::call("TaskList", json!({})),
        Turn::say("Started afresh."),
    ]);
    let Some(claude) = hooked(&model) else { return };
    let claude = with_task_tools(claude);
    let run = claude.run("ship it").expect_success();
    let session = run.session_id();
    assert_eq!(
        tasks(&claude, session),
        said(&[
            (1, "Set up completed []"),
            (2, "Build in_progress [1]"),
            (3, "Ship pending [1,2]"),
            (4, "Mine pending [3]"),
        ])
    );
    // The client has the list, so the hook prints nothing.
    for call in claude.hook_calls() {
        assert_eq!(call.answer(), Value::Null, "{call:?}");
    }
    for seen in ["Set up", "Build", "Ship"] {
        assert!(model.saw_text(seen), "TaskList did not show {seen}");
    }

    // When the skill is invoked again, its list starts over; a task that the agent added stays,
    // and no longer waits for a task that is gone.
    claude.ask("again").resuming(session).run().expect_success();
    assert_eq!(
        tasks(&claude, session),
        said(&[
            (4, "Mine pending []"),
            (5, "Set up pending []"),
            (6, "Build pending [5]"),
            (7, "Ship pending [5,6]"),
        ])
    );
    model.assert_played_out();
}

#[test]
fn an_id_that_the_client_deleted_is_not_given_again() {
    let model = Model::play([
        Turn::call(
            "TaskCreate",
            json!({ "subject": "Mine", "description": "" }),
        ),
        Turn::call("TaskUpdate", json!({ "taskId": "1", "status": "deleted" })),
        invoke("ship"),
        Turn::say("Laid out."),
    ]);
    let Some(claude) = hooked(&model) else { return };
    let claude = with_task_tools(claude);
    let run = claude.run("ship it").expect_success();
    let ids: Vec<u64> = tasks(&claude, run.session_id()).into_keys().collect();
    assert_eq!(ids, [2, 3, 4]);
}

#[test]
fn a_typed_skill_reaches_an_agent_without_task_tools_as_context() {
    let model = Model::play([Turn::say("I know what to do.")]);
    let Some(claude) = hooked(&model) else { return };
    let run = claude.run("/ship").expect_success();
    assert_eq!(run.answer(), "I know what to do.");
    assert!(model.saw_text("#2 Build (after #1)"));
    assert!(model.saw_text("mainspring tasks next"));
    assert_eq!(tasks(&claude, run.session_id()).len(), 3);
}

#[test]
fn a_called_skill_reaches_it_too_and_it_keeps_the_list_from_its_shell() {
    let shell = |command: String| {
        Turn::call(
            "Bash",
            json!({ "command": command, "description": "keep the list" }),
        )
    };
    let model = Model::play([
        invoke("ship"),
        shell(format!(
            "{MAINSPRING} tasks start 1 && {MAINSPRING} tasks done 1"
        )),
        shell(format!("{MAINSPRING} tasks next")),
        Turn::say("One down."),
    ]);
    let Some(claude) = hooked(&model) else { return };
    let run = claude.run("ship it").expect_success();
    assert!(model.saw_text("#3 Ship (after #1, #2)"));
    assert!(model.saw_text("completed #1 Set up"));
    assert!(model.saw_text("#2    pending     Build"));
    let tasks = tasks(&claude, run.session_id());
    assert_eq!(tasks[&1], "Set up completed []");
}

#[test]
fn a_plugins_skill_lays_out_its_list() {
    let model = Model::play([invoke("flow:ship"), Turn::say("Laid out.")]);
    let Some(claude) = hooked(&model) else { return };
    let plugin = claude.home().join("flow");
    put(
        &plugin.join(".claude-plugin/plugin.json"),
        r#"{"name":"flow","version":"0.1.0","description":"d"}"#,
    );
    add_skill(&plugin.join("skills/ship"));
    let registry = json!({
        "version": 2,
        "plugins": { "flow@market": [{ "scope": "user", "installPath": plugin, "version": "0.1.0" }] },
    });
    put(
        &claude.home().join(".claude/plugins/installed_plugins.json"),
        &registry.to_string(),
    );
    let claude = with_task_tools(claude).plugin_dir(&plugin);
    let run = claude.run("ship it").expect_success();
    let list = claude.home().join(".claude/tasks").join(run.session_id());
    let task: Value = serde_json::from_str(&contents(&list)["1.json"]).unwrap();
    assert_eq!(task["metadata"], json!({ "fsm": "flow:ship" }));
}

#[test]
fn a_list_with_faults_is_told_to_the_agent_and_nothing_is_lost() {
    let model = Model::play([invoke("ship"), Turn::say("I will tell the author.")]);
    let Some(claude) = hooked(&model) else { return };
    put(
        &claude.project().join(".claude/skills/ship/fsm.json"),
        r#"[{"id":1,"subject":"a","blockedBy":[9]}]"#,
    );
    let run = claude.run("ship it").expect_success();
    assert_eq!(run.answer(), "I will tell the author.");
    assert!(model.saw_text("Task 1: blockedBy references non-existent id 9"));
    assert!(tasks(&claude, run.session_id()).is_empty());

    let model = Model::play([Turn::say("I will tell the author.")]);
    let Some(claude) = hooked(&model) else { return };
    put(&claude.project().join(".claude/skills/ship/fsm.json"), "[");
    claude.run("/ship").expect_success();
    // The prompt was not erased, and the agent knows about the failure.
    assert!(model.saw_text("Ship the thing, step by step."));
    assert!(model.saw_text("malformed JSON"));
}

#[test]
fn the_client_waits_for_our_lock_and_we_for_its() {
    let model = Model::play([
        Turn::call("TaskCreate", json!({ "subject": "One", "description": "" }))
            .then_call("Skill", json!({ "skill": "ship" }))
            .then_call("TaskCreate", json!({ "subject": "Two", "description": "" })),
        Turn::say("All at once."),
    ]);
    let Some(claude) = hooked(&model) else { return };
    let claude = with_task_tools(claude);
    let run = claude.run("ship it").expect_success();
    let tasks = tasks(&claude, run.session_id());
    let mut subjects: Vec<&str> = tasks
        .values()
        .map(|task| task.split(' ').next().unwrap())
        .collect();
    subjects.sort_unstable();
    assert_eq!(subjects, ["Build", "One", "Set", "Ship", "Two"]);
}

#[test]
fn a_command_in_a_folder_is_not_taken_for_a_plugins() {
    let model = Model::play([Turn::say("Greeted."), Turn::say("Shipped.")]);
    let Some(claude) = hooked(&model) else { return };
    put(
        &claude.project().join(".claude/commands/polite/greet.md"),
        "Say hi.\n",
    );
    let plugin = claude.home().join("flow");
    put(
        &plugin.join(".claude-plugin/plugin.json"),
        r#"{"name":"flow","version":"0.1.0","description":"d"}"#,
    );
    add_skill(&plugin.join("skills/ship"));
    let claude = claude.plugin_dir(&plugin);
    // There is no registry, which matters only to a plugin's skill.
    claude.run("/polite:greet").expect_success();
    claude.run("/flow:ship").expect_success();
    let answers: Vec<Value> = claude
        .hook_calls_of("UserPromptExpansion")
        .iter()
        .map(HookCall::answer)
        .collect();
    assert_eq!(answers.len(), 2);
    assert_eq!(answers[0], Value::Null);
    let told = answers[1]["systemMessage"].as_str().unwrap();
    assert!(
        told.ends_with("installed_plugins.json is missing or malformed"),
        "{told}"
    );
}
