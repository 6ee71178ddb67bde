//! What the pages say.

use mainspring_testkit::github::Check;
use serde_json::json;

use super::{held_twice, key, view};
use crate::claim::world::world;
use crate::env::{TestEnv, finish, payload};
use crate::review::findings::{LEAK, of_f1, reviewer};
use crate::review::{stop, trusted};

#[test]
fn the_overview_shows_who_is_held_by_what() {
    let env = held_twice();
    let page = view(&env).get("").body;
    assert!(page.contains("Nothing needs you"), "{page}");
    let below = env.project();
    let below = below
        .strip_prefix(env.home())
        .map(|below| format!("~/{}", below.display()));
    let place = below.unwrap_or_else(|_| env.project().display().to_string());
    assert!(page.contains(&place), "{place}: {page}");
    assert!(page.contains("kept going"), "{page}");
    assert!(page.contains("<b>pulse</b> (beat)"), "{page}");
    assert!(page.contains("beat 2 of 9"), "{page}");
}

#[test]
fn a_red_check_is_on_the_page_and_in_why() {
    let checked = crate::check::Checked::new();
    checked.write("good.txt", "no\n");
    let _ = checked.stop("done").held();
    let page = view(&checked.env).get("").body;
    assert!(page.contains("<b>check</b>"), "{page}");
    let project = format!("project?project={}", key(&checked.env));
    let page = view(&checked.env).get(&project).body;
    assert!(page.contains("tests fail"), "{page}");
    let why = checked.env.run(&["why"]).ok();
    assert!(why.contains("check kept the agent going"), "{why}");
    assert!(
        why.contains("The check `tests` fails with exit code 3"),
        "{why}"
    );
}

#[test]
fn a_live_session_is_shown_before_anything_was_decided_for_it() {
    let env = TestEnv::new();
    let client = std::process::id().to_string();
    let start = json!({ "source": "startup" });
    let event = payload(&env.project(), "SessionStart", start);
    let mut hook = env.command();
    hook.arg("hook").env("CLAUDE_PID", &client);
    finish(&mut hook, event.to_string().as_bytes()).ok();
    let page = view(&env).get("").body;
    assert!(page.contains("live</span> in Claude Code"), "{page}");
    assert!(page.contains("nothing was decided for it yet"), "{page}");
}

#[test]
fn the_timeline_has_every_decision_and_its_filter_works() {
    let env = held_twice();
    let view = view(&env);
    let count = |page: &str| {
        let body = view.get(page).body;
        body.matches("class=\"row\"").count()
    };
    assert_eq!(count("timeline"), 3);
    assert_eq!(count("timeline?outcome=held"), 2);
    assert_eq!(count("timeline?event=command"), 1);
    assert_eq!(count("timeline?machine=pulse&session=s&outcome=held"), 2);
    assert_eq!(count("timeline?machine=gate"), 0);
    assert_eq!(count("timeline?session=other"), 0);
    assert_eq!(count("timeline?skip=2"), 1);
    let none = view.get("timeline?text=nowhere").body;
    assert!(none.contains("no decision matches"), "{none}");
}

#[test]
fn a_decision_opens_its_why() {
    let env = held_twice();
    let view = view(&env);
    let page = view.get(&format!("decision?project={}&seq=2", key(&env)));
    assert_eq!(page.status, 200);
    for words in [
        "pulse kept the agent going.",
        "beats left",
        "hold and count",
        "rule beat",
        "<code>mainspring pulse off</code>",
    ] {
        assert!(page.body.contains(words), "{words}: {}", page.body);
    }
    let command = view.get(&format!("decision?project={}&seq=1", key(&env)));
    assert!(
        command.body.contains("mainspring pulse 9"),
        "{}",
        command.body
    );
    let gone = view.get(&format!("decision?project={}&seq=99", key(&env)));
    assert_eq!(gone.status, 404);
    assert!(gone.body.contains("no record #99"), "{}", gone.body);
}

#[test]
fn a_machines_page_marks_the_state_that_it_is_in() {
    let env = held_twice();
    let view = view(&env);
    let page = view.get(&format!("machine?project={}&machine=pulse", key(&env)));
    assert!(page.body.contains("<mark>beating</mark>"), "{}", page.body);
    assert!(page.body.contains("beats left"), "{}", page.body);
}

#[test]
fn what_waits_for_the_person_is_on_top_with_what_to_type() {
    let env = TestEnv::new();
    std::fs::write(
        env.project().join(".agent-claim.json"),
        json!({
            "schema_version": 1, "item_id": "", "issue_number": 42, "branch": "fix",
            "agent_id": "ada-1", "phase": "merged_detected", "summary": "", "status": "",
            "pr_number": 7,
        })
        .to_string(),
    )
    .unwrap();
    env.run(&["pulse", "1"]).ok();
    let view = view(&env);
    let page = view.get("").body;
    // Nobody trusted the project, which is a need of its own.
    assert!(page.contains("2 things need you"), "{page}");
    assert!(page.contains("issue #42 is merged"), "{page}");
    assert!(
        page.contains("<code>mainspring claim done</code>"),
        "{page}"
    );
    assert!(page.contains("<code>mainspring trust</code>"), "{page}");
    env.trust();
    let page = view.get("").body;
    assert!(page.contains("1 thing needs you"), "{page}");
    let claim = view.get(&format!("claim?project={}", key(&env))).body;
    assert!(claim.contains("Issue #42"), "{claim}");
    assert!(claim.contains("merged_detected"), "{claim}");
}

#[test]
fn a_claims_page_shows_the_checks_of_its_pull_request() {
    let Some(world) = world() else { return };
    let head = world.with_pull_request();
    let widgets = world.widgets();
    widgets.set_check(&head, Check::completed("lint", "SUCCESS"));
    widgets.set_check(&head, Check::completed("<b>test</b>", "FAILURE"));
    world.two_minutes_later();
    world.idle().json();
    let view = view(&world.env);
    let page = view.get(&format!("claim?project={}", key(&world.env))).body;
    let passed = "<span class=\"verdict pass\">passed</span> lint";
    assert!(page.contains(passed), "{page}");
    let failed = "<span class=\"verdict fail\">failed</span> &lt;b&gt;test&lt;/b&gt;";
    assert!(page.contains(failed), "{page}");
}

#[test]
fn a_plans_page_shows_what_was_found_what_was_answered_and_what_each_round_cost() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    reviewer(&taskie, "FAIL", LEAK, "[]");
    let _ = stop(&taskie, "s", "one").held();
    let view = view(&taskie.env);
    let plan = format!("plan?project={}&plan=demo", key(&taskie.env));
    let page = view.get(&plan).body;
    let found = "<td>F1</td><td>major</td><td>src/a.rs:3</td><td>It leaks.</td><td>new</td>";
    assert!(page.contains(found), "{page}");
    assert!(page.contains("round 1: FAIL, 1 finding, $0.25"), "{page}");
    let disputed = ["plan", "answer", "F1", "disputed", "<b>it does not</b>"];
    let _ = taskie.env.agent("s", &disputed).ok();
    let page = view.get(&plan).body;
    let answer = "<td>disputed: &lt;b&gt;it does not&lt;/b&gt;</td>";
    assert!(page.contains(answer), "{page}");
    reviewer(&taskie, "PASS", "[]", &of_f1("withdrawn"));
    taskie.post_review();
    let _ = stop(&taskie, "s", "two").held();
    let page = view.get(&plan).body;
    assert!(page.contains("No finding is open."), "{page}");
    assert!(page.contains("round 2: PASS, 0 findings, $0.25"), "{page}");
}

#[test]
fn state_that_cannot_be_read_needs_the_person_and_is_named() {
    let env = held_twice();
    std::fs::write(env.project_state().join("pulse.json"), "{ not json").unwrap();
    let page = view(&env).get("").body;
    assert!(page.contains("1 thing needs you"), "{page}");
    assert!(page.contains("pulse.json"), "{page}");
    assert!(page.contains("<code>mainspring doctor</code>"), "{page}");
}

#[test]
fn a_project_or_page_that_is_not_there_says_so() {
    let env = held_twice();
    let view = view(&env);
    for page in [
        "project?project=elsewhere".to_owned(),
        "decision?project=elsewhere&seq=1".to_owned(),
        format!("plan?project={}&plan=none", key(&env)),
        format!("claim?project={}", key(&env)),
        "nowhere".to_owned(),
    ] {
        assert_eq!(view.get(&page).status, 404, "{page}");
    }
}

#[test]
fn a_computer_without_any_state_has_a_page_that_says_what_to_do() {
    let env = TestEnv::new();
    let page = view(&env).get("").body;
    assert!(page.contains("Nothing needs you"), "{page}");
    assert!(page.contains("<code>mainspring pulse 1</code>"), "{page}");
}
