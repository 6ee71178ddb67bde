//! The kit against the real client: what every scenario relies on.

use mainspring_testkit::claude::{Claude, Hook};
use mainspring_testkit::model::{Model, Script, Turn};
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
    let written = std::fs::read_to_string(claude.project().join("answer"));
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

    let run = claude
        .model("opus")
        .ask("review it")
        .in_schema(&schema)
        .run()
        .expect_success();

    assert_eq!(run.structured_output(), &json!({"verdict": "PASS"}));
    assert_eq!(run.answer(), r#"{"verdict":"PASS"}"#);
    model.assert_played_out();
}
