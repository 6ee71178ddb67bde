//! Checks before a review, before a pull request, and beside the gate.

use std::fs;

use serde_json::json;

use super::{Checked, git};
use crate::claim::world::{BRANCH, World, world};
use crate::taskie::{Taskie, write};

const CHECK: &str = "[[check]]\nname = \"tests\"\nrun = [\"sh\", \"-c\", \"cat state.txt; grep -q good state.txt\"]\n";

/// A plan whose review is due, in a project with a check.
fn planned(state: &str) -> Taskie {
    let taskie = Taskie::with_state(json!({"next_phase": "code-review", "phase": "complete-task"}));
    let project = taskie.env.project();
    write(&project.join("mainspring.toml"), CHECK);
    write(&project.join("state.txt"), state);
    git(&project, &["init", "--quiet"]);
    let _ = taskie.run(&["trust", "--yes"], b"").ok();
    taskie
}

fn stop(taskie: &Taskie, words: &str, active: bool) -> crate::env::Ran {
    let fields =
        json!({"session_id": "s", "last_assistant_message": words, "stop_hook_active": active});
    let event = crate::env::payload(&taskie.env.project(), "Stop", fields);
    taskie.run(&["hook"], event.to_string().as_bytes())
}

#[test]
fn a_red_check_comes_before_the_review_and_a_green_one_lets_it_start_in_the_same_stop() {
    let taskie = planned("bad\n");
    let text = stop(&taskie, "one", false).held();
    assert!(text.contains("`tests` fails"), "{text}");
    assert_eq!(taskie.calls().len(), 0, "no reviewer");
    write(&taskie.env.project().join("state.txt"), "good\n");
    let answer = stop(&taskie, "two", true);
    assert!(answer.stdout.contains("tests pass at"), "{answer:?}");
    assert!(answer.held().contains("task-1-review-1.md"));
    assert_eq!(taskie.calls().len(), 1);
}

#[test]
fn a_review_goes_on_after_a_check_that_could_not_run() {
    let taskie = planned("good\n");
    write(
        &taskie.env.project().join("mainspring.toml"),
        "[[check]]\nname = \"tests\"\nrun = [\"no-such-program\"]\n",
    );
    let _ = taskie.run(&["trust", "--yes"], b"").ok();
    let answer = stop(&taskie, "one", false);
    assert!(answer.stdout.contains("could not run"), "{answer:?}");
    assert!(answer.held().contains("task-1-review-1.md"));
}

#[test]
fn no_review_starts_on_a_check_that_was_red_and_has_not_been_green_since() {
    let taskie = planned("bad\n");
    assert!(stop(&taskie, "one", false).held().contains("`tests` fails"));
    // Its program is gone: that lets the agent go, and nothing more.
    let gone = CHECK.replace("\"sh\"", "\"no-such-program\"");
    write(&taskie.env.project().join("mainspring.toml"), &gone);
    let _ = taskie.run(&["trust", "--yes"], b"").ok();
    let said = stop(&taskie, "two", true).let_go();
    assert!(said.contains("could not run"), "{said}");
    assert!(said.contains("no review starts"), "{said}");
    assert_eq!(taskie.calls().len(), 0, "no reviewer");
    // The same tree fails, then passes: that is flaky, and no pass.
    let flaky = "[[check]]\nname = \"tests\"\nrun = [\"sh\", \"-c\", \"test -e ../served\"]\n";
    write(&taskie.env.project().join("mainspring.toml"), flaky);
    let _ = taskie.run(&["trust", "--yes"], b"").ok();
    let _ = stop(&taskie, "three", true).held();
    write(&taskie.env.project().join("../served"), "");
    let said = stop(&taskie, "four", true).let_go();
    assert!(said.contains("tests is flaky"), "{said}");
    assert!(said.contains("no review starts"), "{said}");
    assert_eq!(taskie.calls().len(), 0, "no reviewer");
    // It passes once more.
    let answer = stop(&taskie, "five", true);
    assert!(answer.stdout.contains("tests pass at"), "{answer:?}");
    assert!(answer.held().contains("task-1-review-1.md"));
}

/// A registration that gives a stop less time than a review may take: to wait for the next stop would
/// not help, so it starts. `crates/kernel/tests/checks.rs` has what is postponed.
#[test]
fn a_review_is_not_postponed_for_ever_by_a_short_registration() {
    let taskie = planned("good\n");
    let record = taskie.env.state().join("installs/one/installed.json");
    let installed = json!({
        "path": "/settings.json", "at": 0, "variables": [], "trusted": null, "stop_timeout": 300,
    });
    write(&record, &mainspring_testkit::files::sealed(installed));
    let answer = stop(&taskie, "one", false);
    assert!(answer.stdout.contains("tests pass at"), "{answer:?}");
    assert!(answer.held().contains("task-1-review-1.md"));
    taskie.post_review();
    assert!(
        stop(&taskie, "two", true)
            .held()
            .contains("task-1-review-2.md")
    );
}

#[test]
fn no_review_starts_when_the_checks_gave_up() {
    let taskie = planned("bad\n");
    write(
        &taskie.env.home().join(".config/mainspring/config.toml"),
        "[checks]\nmax = 1\n",
    );
    let said = stop(&taskie, "one", false).let_go();
    assert!(said.contains("No review starts"), "{said}");
    assert_eq!(taskie.calls().len(), 0);
}

#[test]
fn a_token_once_said_stays_said_while_a_red_check_holds() {
    let checked = Checked::new();
    checked.env.agent("s", &["gate", "on"]).ok();
    checked.write("good.txt", "no\n");
    let text = checked.stop("done").held();
    assert!(text.contains("TASKMASTER"), "{text}");
    assert_eq!(checked.runs(), 0, "the cheap machine comes first");
    let text = checked.again("Done.\n\nTASKMASTER_DONE::s").held();
    assert!(
        text.contains("`tests` fails") && !text.contains("TASKMASTER"),
        "{text}"
    );
    checked.write("good.txt", "yes\n");
    assert!(checked.again("fixed").let_go().contains("tests pass at"));
}

/// A pull request that was opened when the check, with these lines more, passed after it was red;
/// and its text, in a file. `None` without `gh`.
pub(crate) fn opened(more: &str) -> Option<(World, String)> {
    let world = world()?;
    let project = world.env.project();
    fs::write(project.join("mainspring.toml"), format!("{CHECK}{more}")).unwrap();
    fs::write(project.join("state.txt"), "bad\n").unwrap();
    world.env.trust();
    git(&project, &["switch", "--quiet", "-c", BRANCH]);
    git(&project, &["add", "--all"]);
    git(&project, &["commit", "--quiet", "-m", "Fix"]);
    world.write("coding");
    let handoff = ["handoff", "--summary", "Fix the race", "--push"];
    world.env.agent("s", &handoff).ok();
    let text = world.env.stop("handed over").held();
    assert!(text.contains("`tests` fails"), "{text}");
    assert_eq!(world.github.prs_created(), 0);

    fs::write(project.join("state.txt"), "good\n").unwrap();
    git(&project, &["commit", "--quiet", "--all", "-m", "Repair"]);
    world.env.agent("s", &handoff).ok();
    let text = world.env.stop("handed over again").held();
    assert!(text.contains("PR #44 created"), "{text}");
    let body = world.widgets().pull(44).body;
    assert!(body.contains("| tests | pass |"), "{body}");
    let file = world.env.root().join("body.md");
    fs::write(&file, &body).unwrap();
    let file = file.to_str().unwrap().to_owned();
    Some((world, file))
}

#[test]
fn a_pull_request_is_opened_when_the_checks_pass_and_carries_their_receipt() {
    let Some((world, receipt)) = opened("") else {
        return;
    };
    let project = world.env.project();
    let verify = |commit: &str| {
        let args = ["check", "verify", "--commit", commit, "--receipt", &receipt];
        world.env.run(&args)
    };
    let told = verify("HEAD").ok();
    assert!(told.contains("tests: pass, over this tree"), "{told}");
    fs::write(project.join("state.txt"), "good, but other\n").unwrap();
    git(&project, &["commit", "--quiet", "--all", "-m", "More"]);
    let other = verify("HEAD");
    assert_eq!(other.code, Some(1), "{other:?}");
    let differs = "but not over this commit: inputs differ";
    assert!(other.stdout.contains(differs), "{other:?}");
    let _ = verify("HEAD~1").ok();
    assert!(verify("nowhere").failed().contains("there is no commit"));
}

#[test]
fn a_receipt_that_leaves_a_check_out_does_not_match() {
    let Some((world, receipt)) = opened("inputs = [\"state.txt\"]\n") else {
        return;
    };
    let verify = || world.env.run(&["check", "verify", "--receipt", &receipt]);
    let _ = verify().ok();
    let project = world.env.project();
    let file = project.join("mainspring.toml");
    let settings = fs::read_to_string(&file).unwrap();
    for (when, matches) in [("[\"stop\"]", true), ("[\"handoff\"]", false)] {
        let other = format!("\n[[check]]\nname = \"other\"\nrun = [\"true\"]\nwhen = {when}\n");
        fs::write(&file, format!("{settings}{other}")).unwrap();
        git(
            &project,
            &["commit", "--quiet", "--all", "-m", "Another check"],
        );
        let ran = verify();
        assert_eq!(ran.code == Some(0), matches, "{when}: {ran:?}");
        let said = ran.stdout.contains("other: not in the receipt");
        assert_eq!(said, !matches, "{when}: {ran:?}");
    }
}

#[test]
fn no_pull_request_is_opened_on_a_check_that_was_red_and_cannot_run_now() {
    let Some(world) = world() else { return };
    let project = world.env.project();
    fs::write(project.join("mainspring.toml"), CHECK).unwrap();
    fs::write(project.join("state.txt"), "bad\n").unwrap();
    world.env.trust();
    git(&project, &["switch", "--quiet", "-c", BRANCH]);
    git(&project, &["add", "--all"]);
    git(&project, &["commit", "--quiet", "-m", "Fix"]);
    world.write("coding");
    world
        .env
        .agent("s", &["handoff", "--summary", "Fix the race", "--push"])
        .ok();
    let text = world.env.stop("handed over").held();
    assert!(text.contains("`tests` fails"), "{text}");
    let gone = CHECK.replace("\"sh\"", "\"no-such-program\"");
    fs::write(project.join("mainspring.toml"), gone).unwrap();
    world.env.trust();
    let said = world.env.stop("handed over again").let_go();
    assert!(said.contains("no pull request is opened"), "{said}");
    assert_eq!(world.github.prs_created(), 0);
}
