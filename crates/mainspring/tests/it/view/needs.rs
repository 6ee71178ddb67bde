//! What needs the person: it is on the page while it waits, with what to type, and gone afterwards.

use mainspring_testkit::github::{Check, Fault, on};
use serde_json::json;

use super::view;
use crate::check::Checked;
use crate::claim::world::world;
use crate::env::TestEnv;
use crate::review::findings::{LEAK, of_f1, reviewer};
use crate::review::{stop, trusted};
use crate::taskie::Taskie;

/// The needs of the first page, as a reader sees them: without its marks.
fn needs(env: &TestEnv) -> String {
    let page = view(env).get("").body;
    let start = page.find("id=\"needs\"").unwrap();
    let section = &page[start..];
    let section = &section[..section.find("</section>").unwrap()];
    let mut text = String::new();
    let mut marks = false;
    for c in section.chars() {
        match c {
            '<' => marks = true,
            '>' => marks = false,
            c if !marks => text.push(c),
            _ => {}
        }
    }
    text
}

#[test]
fn a_plan_at_its_limit_needs_the_person() {
    let taskie = Taskie::with_state(json!({"next_phase": "plan-review", "max_reviews": 1}));
    let _ = stop(&taskie, "s", "one").held();
    assert!(needs(&taskie.env).contains("Nothing needs you"));
    taskie.post_review();
    let _ = stop(&taskie, "s", "two").let_go();
    let shown = needs(&taskie.env);
    assert!(shown.contains("1 thing needs you"), "{shown}");
    assert!(shown.contains("limit"), "{shown}");
}

#[test]
fn a_reviewer_that_failed_needs_the_person_until_a_review_runs() {
    let taskie = Taskie::with_state(json!({"next_phase": "plan-review"}));
    taskie.set("MOCK_CLAUDE_EXIT_CODE", "1");
    let _ = stop(&taskie, "s", "one").let_go();
    let shown = needs(&taskie.env);
    assert!(shown.contains("1 thing needs you"), "{shown}");
    assert!(shown.contains("failed"), "{shown}");
    taskie.set("MOCK_CLAUDE_EXIT_CODE", "0");
    let _ = stop(&taskie, "s", "two").held();
    assert!(needs(&taskie.env).contains("Nothing needs you"));
}

#[test]
fn a_finding_that_is_disputed_twice_needs_the_person_until_they_decide() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    reviewer(&taskie, "FAIL", LEAK, "[]");
    let _ = stop(&taskie, "s", "one").held();
    taskie.file("plan-post-review-1.md", "F1: disputed, it does not\n");
    taskie.post_review();
    reviewer(&taskie, "FAIL", "[]", &of_f1("not_fixed"));
    let _ = stop(&taskie, "s", "two").held();
    assert!(needs(&taskie.env).contains("Nothing needs you"));
    taskie.file(
        "plan-post-review-2.md",
        "F1: disputed, it really does not\n",
    );
    let _ = stop(&taskie, "s", "three").let_go();
    let shown = needs(&taskie.env);
    assert!(shown.contains("1 thing needs you"), "{shown}");
    assert!(
        shown.contains("do not agree about F1 (major, src/a.rs:3)"),
        "{shown}"
    );
    taskie
        .run(&["plan", "answer", "F1", "disputed", "not needed"], b"")
        .ok();
    assert!(needs(&taskie.env).contains("Nothing needs you"));
}

#[test]
fn checks_that_gave_up_need_the_person_until_they_pass() {
    let checked = Checked::new();
    let config = checked.env.home().join(".config/mainspring/config.toml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    std::fs::write(config, "[checks]\nmax = 1\n").unwrap();
    checked.write("good.txt", "no\n");
    let _ = checked.stop("one").let_go();
    let shown = needs(&checked.env);
    assert!(shown.contains("1 thing needs you"), "{shown}");
    assert!(shown.contains("check: red for"), "{shown}");
    checked.write("good.txt", "yes\n");
    let _ = checked.stop("two").let_go();
    assert!(needs(&checked.env).contains("Nothing needs you"));
}

#[test]
fn a_pull_request_that_could_not_be_opened_needs_the_person() {
    let Some(world) = world() else { return };
    world.work();
    world.write("ready_for_pr");
    let create = "POST /repos/{owner}/{repo}/pulls";
    world.github.fault(on(create), Fault::Server(500));
    let _ = world.stop("ready").held();
    let shown = needs(&world.env);
    assert!(shown.contains("1 thing needs you"), "{shown}");
    assert!(shown.contains("Issue #42"), "{shown}");
    assert!(shown.contains("tried again by itself"), "{shown}");
    world.edit(json!({ "phase": "ready_for_pr" }));
    let _ = world.stop("again").held();
    assert!(needs(&world.env).contains("Nothing needs you"));
}

#[test]
fn red_ci_needs_the_person_after_so_many_rounds_until_they_write() {
    let Some(world) = world() else { return };
    let config = world.env.home().join(".config/mainspring/config.toml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    std::fs::write(config, "[claim]\nmax_ci_rounds = 1\n").unwrap();
    world.with_pull_request();
    for round in 0..2 {
        assert!(needs(&world.env).contains("Nothing needs you"), "{round}");
        let head = world.work();
        let failed = Check::completed("test", "FAILURE");
        world.widgets().set_check(&head, failed);
        world.two_minutes_later();
        drop(world.idle());
        if round == 0 {
            let _ = world.stop("waiting").held();
        }
    }
    let shown = needs(&world.env);
    assert!(shown.contains("1 thing needs you"), "{shown}");
    assert!(shown.contains("CI of PR #44 failed again"), "{shown}");
    assert!(shown.contains("write to the agent"), "{shown}");
    drop(world.prompt("go on"));
    assert!(needs(&world.env).contains("Nothing needs you"));
}
