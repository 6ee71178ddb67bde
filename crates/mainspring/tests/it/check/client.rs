//! The real client: the agent says that it is done, and its test fails.

use std::fs;

use mainspring_testkit::claude::{Claude, Hook};
use mainspring_testkit::model::{Model, Turn};
use serde_json::json;

use super::git;
use crate::env::{MAINSPRING, finish};

const CHECK: &str =
    "[[check]]\nname = \"tests\"\nrun = [\"sh\", \"test.sh\"]\npins = [\"test.sh\"]\n";
const TEST: &str = "if [ \"$(cat sum.txt)\" = 4 ]; then echo 'test sum ... ok'; else \
                    echo \"test sum ... FAILED: left $(cat sum.txt), right 4\"; exit 101; fi\n";

fn bash(command: &str) -> Turn {
    Turn::call("Bash", json!({ "command": command, "description": "work" }))
}

/// A client in a repository with a check that a person trusted.
fn client(model: &Model) -> Option<Claude> {
    let hook = Hook::exec(MAINSPRING, ["hook"]);
    let claude = Claude::new(model)?.in_repository();
    let claude = claude
        .hooks(
            ["SessionStart", "SessionEnd", "UserPromptSubmit", "Stop"],
            &hook,
        )
        .recording();
    fs::write(claude.project().join("mainspring.toml"), CHECK).unwrap();
    fs::write(claude.project().join("test.sh"), TEST).unwrap();
    git(claude.project(), &["add", "--all"]);
    git(claude.project(), &["commit", "--quiet", "-m", "one"]);
    let ran = finish(claude.command(MAINSPRING).args(["trust", "--yes"]), b"");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    Some(claude)
}

#[test]
fn an_agent_that_says_done_with_a_red_test_is_held_repairs_it_and_is_let_go() {
    let model = Model::play([
        bash("echo 5 > sum.txt"),
        Turn::say("Done. All tests pass."),
        bash("echo 4 > sum.txt"),
        Turn::say("Now they do."),
    ]);
    let Some(claude) = client(&model) else { return };
    claude
        .ask("write the sum of 2 and 2")
        .run()
        .expect_success();
    model.assert_played_out();
    assert!(model.saw_text("test sum ... FAILED: left 5, right 4"));
    let stops = claude.hook_calls_of("Stop");
    assert_eq!(stops.len(), 2);
    let last = format!("{:?}", stops[1].outcome);
    assert!(last.contains("tests pass at"), "{last}");
    assert!(
        last.contains("let go after 1 held stop (check 1)"),
        "{last}"
    );
}

#[test]
fn an_agent_that_changes_the_test_instead_is_held_for_it() {
    let model = Model::play([
        bash("echo 5 > sum.txt; echo true > test.sh"),
        Turn::say("Done. All tests pass."),
        bash("git checkout test.sh; echo 4 > sum.txt"),
        Turn::say("I put it back."),
    ]);
    let Some(claude) = client(&model) else { return };
    claude
        .ask("write the sum of 2 and 2")
        .run()
        .expect_success();
    model.assert_played_out();
    assert!(model.saw_text("test.sh is not what the user trusted"));
}

#[test]
fn an_agent_that_only_talks_waits_for_no_check() {
    let model = Model::play([Turn::say("Two and two is four.")]);
    let Some(claude) = client(&model) else { return };
    claude
        .ask("what is the sum of 2 and 2?")
        .run()
        .expect_success();
    let ran = finish(claude.command(MAINSPRING).args(["check", "--json"]), b"");
    assert!(ran.stdout.contains("\"now\": \"unknown\""), "{ran:?}");
}
