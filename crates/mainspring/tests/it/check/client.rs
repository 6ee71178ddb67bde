//! The real client: the agent says that it is done, and its test fails.

use std::fs;
use std::path::Path;

use mainspring_testkit::claude::{Claude, Hook};
use mainspring_testkit::model::{Model, Script, Turn};
use serde_json::json;

use super::git;
use crate::claim::world::{ORIGIN, World, world};
use crate::env::{MAINSPRING, finish};
use crate::review_client::{REVIEWER, review};

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

/// The client in a checkout of `acme/widgets` with the check, and the plugin as it is shipped.
fn client_with_github(world: &World, model: &Model) -> Option<Claude> {
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/mainspring");
    let bin = Path::new(MAINSPRING).parent().unwrap();
    let mut claude = Claude::new(model)?
        .plugin_dir(plugin)
        .path_first(bin)
        .env("USER", "ada");
    for (name, value) in world.github.env() {
        claude = claude.env(name, value);
    }
    world.bare.clone_as(ORIGIN, claude.project());
    fs::write(claude.project().join("mainspring.toml"), CHECK).unwrap();
    fs::write(claude.project().join("test.sh"), TEST).unwrap();
    let ran = finish(claude.command(MAINSPRING).args(["trust", "--yes"]), b"");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    Some(claude)
}

#[test]
fn a_red_check_comes_before_the_review_and_the_pull_request_which_carries_the_receipt() {
    const HAND_OVER: &str =
        "git add --all && git commit -q -m Sum && mainspring handoff --summary 'Add it up' --push";
    let Some(world) = world() else { return };
    let main = vec![
        bash(
            "mainspring claim 42 && mkdir -p .taskie/plans/demo && printf '# Plan\\n\\n## \
             Overview\\n' > .taskie/plans/demo/plan.md && mainspring plan init demo",
        ),
        bash(&format!("echo 5 > sum.txt && {HAND_OVER}")),
        Turn::say("Done. All tests pass."),
        // The check is red: no reviewer, no pull request.
        bash(&format!("echo 4 > sum.txt && {HAND_OVER}")),
        Turn::say("Now they do."),
        // It passes, and the first reviewer comes in the same stop.
        bash(
            "echo fixed > .taskie/plans/demo/plan-post-review-1.md && mainspring plan advance \
             post-plan-review",
        ),
        Turn::say("I have answered it."),
        // The second one finds nothing, and the pull request is opened in the same stop.
        Turn::say("The pull request is open."),
    ];
    let verdicts = ["PASS", "PASS"].into_iter().flat_map(review);
    let model = Model::play(Script::new(main).when_told(REVIEWER, verdicts));
    let Some(claude) = client_with_github(&world, &model) else {
        return;
    };
    let run = claude.run("add up 2 and 2, for issue 42").expect_success();
    assert_eq!(run.answer(), "The pull request is open.");
    model.assert_played_out();
    let requests = model.requests();
    let first = |words: &str| requests.iter().position(|one| one.has_text(words));
    let red = first("test sum ... FAILED: left 5, right 4").expect("the failing line");
    let reviewed = first(REVIEWER).expect("a reviewer");
    let opened = first("PR #44 created").expect("a pull request");
    assert!(
        red < reviewed && reviewed < opened,
        "{red} {reviewed} {opened}"
    );
    assert_eq!(world.github.prs_created(), 1);
    let body = world.widgets().pull(44).body;
    assert!(body.contains("| tests | pass |"), "{body}");
    let receipt = claude.project().join("../body.md");
    fs::write(&receipt, body).unwrap();
    let verify = ["check", "verify", "--receipt", receipt.to_str().unwrap()];
    let ran = finish(claude.command(MAINSPRING).args(verify), b"");
    assert!(
        ran.stdout.contains("tests: pass, over this tree"),
        "{ran:?}"
    );
}
