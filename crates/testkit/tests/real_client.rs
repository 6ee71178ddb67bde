//! The kit against the real client: what every scenario relies on.

use std::fs;
use std::time::Duration;

use mainspring_testkit::claude::{Claude, Hook};
use mainspring_testkit::files;
use mainspring_testkit::model::{Model, Script, Turn};
use mainspring_testkit::process::{End, PATIENCE, Running};
use mainspring_testkit::recorder::{HookCall, Outcome};
use pretty_assertions::assert_eq;
use serde_json::json;

/// Blocks the first stop and lets the second one go.
const BLOCK_ONCE: &str = r#"
    test -e blocked && exit 0
    touch blocked
    printf '{"decision":"block","reason":"one more thing"}'
"#;

#[test]
fn a_blocked_stop_continues_the_agent() {
    let model = Model::play([Turn::say("I am done."), Turn::say("Now I really am.")]);
    let Some(claude) = Claude::new(&model) else {
        return;
    };
    let claude = claude.hook("Stop", &Hook::shell(BLOCK_ONCE));

    let run = claude.run("do it").expect_success();

    assert_eq!(run.answer(), "Now I really am.");
    assert_eq!(
        model.requests()[1].news()[0],
        "Stop hook feedback:\none more thing"
    );
    model.assert_played_out();
}

#[test]
fn a_tool_call_is_run_and_its_result_comes_back() {
    let model = Model::play([
        Turn::say("Let me see.")
            .then_call("Bash", json!({"command": "echo $((6 * 7)) | tee answer"})),
        Turn::decide(|request| Turn::say(format!("It is {}.", request.tool_results()[0]))),
    ]);
    let Some(claude) = Claude::new(&model) else {
        return;
    };

    let run = claude.run("how much is it?").expect_success();

    assert_eq!(run.answer(), "It is 42.");
    let written = fs::read_to_string(claude.project().join("answer"));
    assert_eq!(written.expect("the command ran in the project"), "42\n");
    model.assert_played_out();
}

#[test]
fn an_answer_in_a_schema_is_structured() {
    let model = Model::play(
        Script::new([]).for_model("opus", [Turn::structured(json!({"verdict": "PASS"}))]),
    );
    let Some(claude) = Claude::new(&model) else {
        return;
    };
    let schema = json!({
        "type": "object",
        "properties": {"verdict": {"enum": ["PASS", "FAIL"]}},
        "required": ["verdict"],
    });

    let claude = claude.model("opus");
    let run = claude
        .ask("review it")
        .in_schema(&schema)
        .run()
        .expect_success();

    assert_eq!(run.structured_output(), &json!({"verdict": "PASS"}));
    assert_eq!(run.answer(), r#"{"verdict":"PASS"}"#);
    model.assert_played_out();
}

#[test]
fn a_hook_may_start_a_reviewer_that_talks_to_the_same_server() {
    const REVIEW: &str = r#"
        test -n "$REVIEWING" && exit 0
        REVIEWING=1 claude -p 'Review the plan.' --model opus --output-format json > review.json
    "#;
    let model = Model::play(
        Script::new([Turn::say("The plan is ready.")])
            .for_model("opus", [Turn::say("Looks good to me.")]),
    );
    let Some(claude) = Claude::new(&model) else {
        return;
    };
    let claude = claude.hook("Stop", &Hook::shell(REVIEW));

    claude.run("plan it").expect_success();

    let review = fs::read_to_string(claude.project().join("review.json"));
    assert!(
        review
            .expect("it was written")
            .contains("Looks good to me.")
    );
    let sessions: Vec<_> = model
        .requests()
        .iter()
        .map(|r| r.session().to_owned())
        .collect();
    assert_ne!(sessions[0], sessions[1], "the reviewer is another session");
    model.assert_played_out();
}

#[test]
fn a_subagent_has_a_part_of_its_own() {
    let errand = json!({
        "description": "look around", "prompt": "Count the files.",
        "subagent_type": "general-purpose", "run_in_background": false,
    });
    let model = Model::play(
        Script::new([Turn::call("Agent", errand), Turn::say("It found three.")])
            .for_subagents([Turn::say("Three files.")]),
    );
    let Some(claude) = Claude::new(&model) else {
        return;
    };
    let events = ["SubagentStart", "SubagentStop", "Stop"];
    let claude = claude.hooks(events, &Hook::shell("true")).recording();

    let run = claude.run("how many files?").expect_success();

    assert_eq!(run.answer(), "It found three.");
    assert!(model.requests()[2].tool_results()[0].contains("Three files."));
    let seen: Vec<_> = claude
        .hook_calls()
        .iter()
        .map(|c| c.event().to_owned())
        .collect();
    assert_eq!(seen, events);
    model.assert_played_out();
}

#[test]
fn a_witness_sees_what_a_hook_is_given_and_answers() {
    let model = Model::play([Turn::say("I am done."), Turn::say("Now I really am.")]);
    let Some(claude) = Claude::new(&model) else {
        return;
    };
    let claude = claude.hook("Stop", &Hook::shell(BLOCK_ONCE)).recording();

    let run = claude.run("do it").expect_success();

    let calls = claude.hook_calls_of("Stop");
    let answers: Vec<_> = calls
        .iter()
        .map(|call| call.answer()["reason"].clone())
        .collect();
    assert_eq!(answers, [json!("one more thing"), json!(null)]);
    let said: Vec<_> = calls
        .iter()
        .map(|call| &call.input["last_assistant_message"])
        .collect();
    assert_eq!(said, ["I am done.", "Now I really am."]);
    assert_eq!(calls[0].input["transcript_path"], json!(run.transcript));
    assert_eq!(calls[0].cwd, claude.project());
    assert_eq!(calls[0].env["CLAUDE_CODE_SESSION_ID"], run.session_id());
    assert!(calls[0].env.keys().all(|name| !name.contains("TOKEN")));
}

/// In seconds: the client counts from before the witness runs, and the witness has to have
/// begun by then.
const HOOK_TIMEOUT: u32 = 10;

#[test]
fn a_hook_killed_by_the_client_is_seen_too() {
    let model = Model::play([Turn::say("I am done.")]);
    let Some(claude) = Claude::new(&model) else {
        return;
    };
    let claude = claude
        .hook("Stop", &Hook::shell("sleep 3600").timeout(HOOK_TIMEOUT))
        .recording();

    claude.run("do it").expect_success();

    assert_eq!(claude.hook_calls()[0].outcome, Outcome::NeverEnded);
}

#[test]
fn a_session_is_resumed_under_its_id_and_forked_under_another() {
    let model = Model::play(["one", "two", "three", "four"].map(Turn::say));
    let Some(claude) = Claude::new(&model) else {
        return;
    };

    let first = claude.run("the first prompt").expect_success();
    let resumed = claude.ask("go on").resuming(first.session_id()).run();
    let continued = claude.ask("go on").continuing().run();
    let forked = claude.ask("go on").forking(first.session_id()).run();

    assert_eq!(resumed.session_id(), first.session_id());
    assert_eq!(continued.session_id(), first.session_id());
    assert_ne!(forked.session_id(), first.session_id());
    for request in model.requests() {
        assert!(request.has_text("the first prompt"));
    }
    assert!(
        forked.entries().len() > 1,
        "{:?} is empty",
        forked.transcript
    );
}

#[test]
fn an_error_of_the_api_ends_the_run_at_once() {
    for status in [401, 429, 529] {
        let model = Model::play([Turn::error(status)]);
        let Some(claude) = Claude::new(&model) else {
            return;
        };

        let run = claude.run("do it");

        assert_eq!(run.result["api_error_status"], json!(status));
        assert_eq!(run.result["is_error"], json!(true));
        model.assert_played_out();
    }
}

#[test]
fn a_model_that_hangs_meets_the_deadline() {
    let model = Model::play([Turn::hang()]);
    let Some(claude) = Claude::new(&model) else {
        return;
    };

    let asked = claude.ask("do it").start();
    model.wait_for_text("do it");
    let run = asked.wait_for(Duration::from_millis(200));

    assert_eq!(run.end, End::DeadlinePassed);
    model.assert_played_out();
}

#[test]
fn the_interactive_client_answers_a_prompt() {
    let model = Model::play([
        Turn::call("Bash", json!({"command": "touch made-here"})),
        Turn::say("I made it."),
    ]);
    let Some(claude) = Claude::new(&model) else {
        return;
    };
    let events = ["SessionStart", "Stop", "SessionEnd"];
    let claude = claude.hooks(events, &Hook::shell("true")).recording();

    let terminal = claude.interactive();
    terminal.enter("make it");
    terminal.wait_for("I made it.");
    terminal.enter("/exit");
    terminal.wait_for_end();

    assert!(claude.project().join("made-here").exists());
    let seen: Vec<_> = claude
        .hook_calls()
        .iter()
        .map(|c| c.event().to_owned())
        .collect();
    assert_eq!(seen, events);
    let reason = claude.hook_calls_of("SessionEnd")[0].input["reason"].clone();
    assert_eq!(reason, "prompt_input_exit");
    model.assert_played_out();
}

#[test]
fn a_thought_is_not_said() {
    let model = Model::play([Turn::think("I might be DONE.").then_say("Not yet.")]);
    let Some(claude) = Claude::new(&model) else {
        return;
    };
    let claude = claude.hook("Stop", &Hook::shell("true")).recording();

    let run = claude.run("do it").expect_success();

    assert_eq!(run.answer(), "Not yet.");
    let said = &claude.hook_calls()[0].input["last_assistant_message"];
    assert_eq!(said, "Not yet.");
}

#[test]
fn a_skill_of_a_plugin_is_called_by_the_agent_and_typed_by_the_person() {
    let model = Model::play([
        Turn::call("Skill", json!({"skill": "kit:greet"})),
        Turn::say("Greeted."),
        Turn::say("Greeted again."),
    ]);
    let Some(claude) = Claude::new(&model) else {
        return;
    };
    let plugin = claude.home().join("plugin");
    files::write(
        plugin.join("skills/greet/SKILL.md"),
        "---\nname: greet\ndescription: greets\n---\nSay hello to $ARGUMENTS.\n",
    );
    files::write(
        plugin.join(".claude-plugin/plugin.json"),
        r#"{"name":"kit"}"#,
    );
    let claude = claude
        .plugin_dir(plugin)
        .hooks(["PostToolUse", "UserPromptExpansion"], &Hook::shell("true"))
        .recording();

    claude.run("greet somebody").expect_success();
    claude.run("/kit:greet the world").expect_success();

    let calls = claude.hook_calls();
    let seen: Vec<_> = calls.iter().map(HookCall::event).collect();
    assert_eq!(seen, ["PostToolUse", "UserPromptExpansion"]);
    assert_eq!(calls[0].input["tool_input"]["skill"], "kit:greet");
    assert_eq!(calls[1].input["command_name"], "kit:greet");
    assert_eq!(calls[1].input["command_args"], "the world");
    assert!(model.saw_text("Say hello to the world."));
    model.assert_played_out();
}

#[test]
fn an_idle_person_is_noticed_as_soon_as_the_memory_says() {
    let model = Model::play([Turn::say("Your turn.")]);
    let Some(claude) = Claude::new(&model) else {
        return;
    };
    let claude = claude
        .remembering("messageIdleNotifThresholdMs", json!(200))
        .hook("Notification", &Hook::shell("true"))
        .recording();

    let terminal = claude.interactive();
    terminal.enter("do it");
    terminal.wait_until("the idle notice came", |_| !claude.hook_calls().is_empty());

    let kind = &claude.hook_calls()[0].input["notification_type"];
    assert_eq!(kind, "idle_prompt");
}

#[test]
fn a_session_may_run_in_a_worktree() {
    let model = Model::play([Turn::say("Here I am.")]);
    let Some(claude) = Claude::new(&model) else {
        return;
    };
    let claude = claude
        .in_repository()
        .hook("Stop", &Hook::shell("true"))
        .recording();
    let worktree = claude.home().join("worktree");
    let mut git = claude.command("git");
    let added = Running::start(git.args(["worktree", "add"]).arg(&worktree));
    assert!(added.wait(PATIENCE).succeeded());

    let run = claude.ask("where are you?").in_folder(&worktree).run();

    assert_eq!(claude.hook_calls()[0].input["cwd"], json!(worktree));
    assert!(!run.entries().is_empty(), "{:?} is empty", run.transcript);
}

#[test]
fn a_client_that_is_killed_fires_nothing_more() {
    let model = Model::play([Turn::hang()]);
    let Some(claude) = Claude::new(&model) else {
        return;
    };
    let claude = claude
        .hooks(["Stop", "SessionEnd"], &Hook::shell("true"))
        .recording();

    let asked = claude.ask("a long errand").start();
    model.wait_for_text("a long errand");
    asked.kill();

    assert!(claude.hook_calls().is_empty());
}
