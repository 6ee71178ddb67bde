//! Several clones, worktrees and sessions: whose a claim is, and that nothing is left behind.

use std::fs;
use std::path::{Path, PathBuf};

use mainspring_testkit::github::Check;
use serde_json::{Value, json};

use super::world::{BRANCH, ORIGIN, World, git, world};
use crate::env::{Ran, finish};
use crate::sessions::{Client, held};

const REFERENCE: &str = "refs/mainspring/claims/42";

fn clone(world: &World, name: &str) -> PathBuf {
    let place = world.env.root().join(name);
    world.bare.clone_as(ORIGIN, &place);
    place
}

/// A command of this user's in this folder.
fn run_in(world: &World, place: &Path, user: &str, args: &[&str]) -> Ran {
    let mut command = world.env.command();
    command.args(args).current_dir(place).env("USER", user);
    finish(&mut command, b"")
}

#[test]
fn eight_clones_see_the_same_list_by_git_alone() {
    let Some(world) = world() else { return };
    let clones: Vec<PathBuf> = (0..8)
        .map(|at| clone(&world, &format!("clone-{at}")))
        .collect();
    for (at, place) in clones.iter().enumerate() {
        let issue = 50 + at as u64;
        world.widgets().add_issue(issue, &format!("Task {at}"));
        git(
            place,
            &["config", "user.email", &format!("user{at}@example.com")],
        );
        let number = issue.to_string();
        run_in(&world, place, &format!("user{at}"), &["claim", &number]).ok();
    }
    let (lists, runs) = {
        let mut lists: Vec<Value> = Vec::new();
        let (_, runs) = world.gh_runs(|| {
            for place in &clones {
                let said = run_in(&world, place, "x", &["claim", "list", "--json"]).ok();
                lists.push(serde_json::from_str(&said).unwrap());
            }
            world.env.run(&["claim", "list"])
        });
        (lists, runs)
    };
    assert_eq!(runs, 0, "the git server alone is asked");
    assert!(lists.iter().all(|list| *list == lists[0]), "{lists:?}");
    let rows = lists[0]["claims"].as_array().unwrap();
    assert_eq!(rows.len(), 8);
    assert_eq!(rows[3]["issue"], 53);
    assert_eq!(rows[3]["phase"], "coding");
    assert_eq!(rows[3]["branch"], "claude/task-3-53");
    assert!(rows[3]["owner"].as_str().unwrap().starts_with("user3@"));
    let table = world.env.run(&["claim", "list"]).ok();
    assert!(table.starts_with("issue  who"), "{table}");
    assert_eq!(table.lines().count(), 9, "{table}");
}

#[test]
fn the_same_person_takes_over_from_another_clone_at_once() {
    let Some(world) = world() else { return };
    world.env.run(&["claim", "42"]).ok();
    let other = clone(&world, "other");
    let refused = run_in(&world, &other, "ada2", &["claim", "42"]).failed();
    assert!(
        refused.contains("your own claim, in another clone: `--steal`"),
        "{refused}"
    );
    // A person at a terminal is asked instead.
    let asked = world.env.answering(&other, &["claim", "42"], "n\n");
    assert!(
        asked
            .stdout
            .contains("You have claimed issue #42 in another clone (ada@"),
        "{asked:?}"
    );
    assert!(asked.stdout.contains("nothing was changed"), "{asked:?}");
    assert!(!other.join(".agent-claim.json").exists());
    let third = clone(&world, "third");
    let taken = world.env.answering(&third, &["claim", "42"], "y\n");
    assert!(taken.stdout.contains("claimed issue #42"), "{taken:?}");
    run_in(&world, &other, "ada2", &["claim", "42", "--steal"]).ok();
    // The first clone learns of it before it does anything for the issue.
    world.work();
    let refused = world.env.run(&["handoff", "--summary", "Fix"]).failed();
    assert!(refused.contains("has taken the issue over"), "{refused}");
    assert!(refused.contains("ada2@"), "{refused}");

    git(&other, &["config", "user.email", "bob@example.com"]);
    let fourth = clone(&world, "fourth");
    git(&fourth, &["config", "user.email", "eve@example.com"]);
    let refused = run_in(&world, &fourth, "eve", &["claim", "42", "--steal"]).failed();
    assert!(
        refused.contains("when nothing is heard of it for a day"),
        "{refused}"
    );
}

#[test]
fn a_claim_is_released_by_its_person_from_any_clone() {
    let Some(world) = world() else { return };
    world.env.run(&["claim", "42"]).ok();
    let refused = world.env.run(&["claim", "release", "42"]).failed();
    assert!(
        refused.contains("`mainspring claim abort` there"),
        "{refused}"
    );
    let other = clone(&world, "other");
    git(&other, &["config", "user.email", "eve@example.com"]);
    let refused = run_in(&world, &other, "eve", &["claim", "release", "42"]).failed();
    assert!(refused.contains("claimed by ada@"), "{refused}");
    git(&other, &["config", "user.email", "octo@example.com"]);
    assert_eq!(
        run_in(&world, &other, "ada2", &["claim", "release", "42"]).ok(),
        "issue #42 is free on the git server\n"
    );
    assert!(!world.bare.refs().contains_key(REFERENCE));
    let none = run_in(&world, &other, "ada2", &["claim", "release", "42"]).failed();
    assert!(none.contains("nobody has claimed issue #42"), "{none}");
    assert_eq!(
        run_in(&world, &other, "ada2", &["claim", "list"]).ok(),
        "no issue of github.com/acme/widgets is claimed\n"
    );
}

#[test]
fn an_issue_that_is_somebody_elses_on_github_is_not_taken_without_a_word() {
    let Some(world) = world() else { return };
    world.widgets().assign(42, "bob");
    let refused = world.env.agent("s", &["claim", "42"]).failed();
    assert!(
        refused.contains("issue #42 is assigned to bob"),
        "{refused}"
    );
    assert!(refused.contains("`--anyway`"), "{refused}");
    assert!(
        !world.bare.refs().contains_key(REFERENCE),
        "nothing was reserved"
    );
    world.env.agent("s", &["claim", "42", "--anyway"]).ok();
    assert!(world.bare.refs().contains_key(REFERENCE));
}

#[test]
fn a_claim_that_fails_leaves_nothing_behind() {
    let Some(world) = world() else { return };
    fs::create_dir(world.env.root().join("project-42")).unwrap();
    let failed = world.env.run(&["claim", "42", "--worktree"]).failed();
    assert!(failed.contains("exists already"), "{failed}");
    assert!(!world.bare.refs().contains_key(REFERENCE));
    assert_eq!(world.card(), ("Todo".into(), String::new()));
    assert_eq!(world.widgets().issue(42).assignees, [] as [String; 0]);

    // A switch that git refuses.
    world.git(&["branch", BRANCH]);
    world.git(&["switch", "--quiet", BRANCH]);
    fs::write(world.env.project().join("f"), "one").unwrap();
    world.git(&["add", "f"]);
    world.git(&["commit", "--quiet", "-m", "f"]);
    world.git(&["switch", "--quiet", "main"]);
    fs::write(world.env.project().join("f"), "two").unwrap();
    let failed = world.env.run(&["claim", "42"]).failed();
    assert!(
        failed.contains("would be overwritten") || failed.contains("git switch"),
        "{failed}"
    );
    assert!(failed.contains("--no-switch"), "{failed}");
    assert!(!world.bare.refs().contains_key(REFERENCE));
    assert!(!world.file().exists());
    world.env.run(&["claim", "42", "--no-switch"]).ok();
    assert_eq!(world.git(&["branch", "--show-current"]), "main");
}

#[test]
fn a_deleted_claim_file_and_an_abort_without_a_server_leave_no_reservation() {
    let Some(world) = world() else { return };
    world.env.run(&["claim", "42"]).ok();
    fs::remove_file(world.file()).unwrap();
    let (ran, runs) = world.gh_runs(|| world.stop("hm"));
    let note = ran.let_go();
    assert!(
        note.contains("issue #42 was given back on the git server"),
        "{note}"
    );
    assert_eq!(runs, 0);
    assert!(!world.bare.refs().contains_key(REFERENCE));
    assert_eq!(world.stop("hm").let_go(), "");

    world.env.run(&["claim", "42"]).ok();
    let (bare, away) = (world.bare.git_dir(), world.env.root().join("away"));
    fs::rename(&bare, &away).unwrap();
    let said = world.env.run(&["claim", "abort"]).ok();
    assert!(said.contains("`mainspring claim release 42`"), "{said}");
    fs::rename(&away, &bare).unwrap();
    assert!(world.bare.refs().contains_key(REFERENCE));
    let note = world.stop("back").let_go();
    assert!(note.contains("was given back"), "{note}");
    assert!(!world.bare.refs().contains_key(REFERENCE));
}

fn stop_at(world: &World, session: &str, place: &Path, words: &str) -> Ran {
    let stop = json!({
        "session_id": session, "cwd": place, "hook_event_name": "Stop",
        "stop_hook_active": false, "last_assistant_message": words,
    });
    world.env.hook_bytes(stop.to_string().as_bytes())
}

#[test]
fn a_stop_in_the_primary_checkout_sees_the_worktrees_claim_of_its_session() {
    let Some(world) = world() else { return };
    world.env.agent("s", &["claim", "42", "--worktree"]).ok();
    let place = world.env.root().join("project-42");
    git(
        &place,
        &["commit", "--quiet", "--allow-empty", "-m", "Work"],
    );
    let mut handoff = world.env.command();
    handoff
        .args(["handoff", "--summary", "Fix", "--push"])
        .env("CLAUDE_CODE_SESSION_ID", "s")
        .env("CLAUDECODE", "1")
        .current_dir(&place);
    finish(&mut handoff, b"").ok();
    assert_eq!(
        stop_at(&world, "t", &world.env.project(), "a").let_go(),
        "",
        "not its claim"
    );
    let said = stop_at(&world, "s", &world.env.project(), "b").held();
    assert!(said.contains("PR #44 created"), "{said}");
    assert!(!world.file().exists(), "the claim stays where it is");

    // Two claims in one repository, shown from anywhere.
    world.env.run(&["claim", "43"]).ok();
    for from in [world.env.project(), place.clone()] {
        let seen = run_in(&world, &from, "ada", &["claim", "status"]).ok();
        assert!(
            seen.contains("issue   #42") && seen.contains("issue   #43"),
            "{seen}"
        );
    }
    let seen = run_in(&world, &place, "ada", &["claim", "status", "--json"]).ok();
    let seen: Value = serde_json::from_str(&seen).unwrap();
    assert_eq!(
        (&seen["issue"], &seen["others"][0]["issue"]),
        (&json!(42), &json!(43))
    );
}

#[test]
fn a_worktree_that_is_removed_leaves_no_reservation() {
    let Some(world) = world() else { return };
    world.env.agent("s", &["claim", "42", "--worktree"]).ok();
    let place = world.env.root().join("project-42");
    assert!(world.bare.refs().contains_key(REFERENCE));
    // Another session's stop gives nothing back while the worktree is there.
    assert_eq!(stop_at(&world, "t", &world.env.project(), "a").let_go(), "");
    assert!(world.bare.refs().contains_key(REFERENCE));
    world.git(&["worktree", "remove", "--force", place.to_str().unwrap()]);
    // Offline: it is tried again later, and the person is told how.
    let (bare, away) = (world.bare.git_dir(), world.env.root().join("away"));
    fs::rename(&bare, &away).unwrap();
    let note = stop_at(&world, "t", &world.env.project(), "b").let_go();
    assert!(note.contains("`mainspring claim release 42`"), "{note}");
    assert_eq!(
        stop_at(&world, "t", &world.env.project(), "c").let_go(),
        "",
        "not at every stop"
    );
    fs::rename(&away, &bare).unwrap();
    run_in(
        &world,
        &world.env.project(),
        "ada",
        &["claim", "release", "42"],
    )
    .ok();
    assert!(!world.bare.refs().contains_key(REFERENCE));

    world.env.agent("s", &["claim", "43", "--worktree"]).ok();
    let place = world.env.root().join("project-43");
    fs::remove_dir_all(&place).unwrap();
    let (ran, runs) = world.gh_runs(|| stop_at(&world, "s", &world.env.project(), "d"));
    let note = ran.let_go();
    assert!(note.contains("issue #43 was given back"), "{note}");
    assert_eq!(runs, 0);
    assert_eq!(
        world
            .bare
            .refs()
            .keys()
            .filter(|name| name.contains("claims"))
            .count(),
        0
    );
    assert_eq!(stop_at(&world, "s", &world.env.project(), "e").let_go(), "");
}

#[test]
fn a_claim_of_a_session_whose_client_died_is_taken_by_the_next_one() {
    let Some(world) = world() else { return };
    let (first, second) = (Client::new(), Client::new());
    first.starts(&world.env, "s").ok();
    let head = world.with_pull_request();
    second.starts(&world.env, "t").ok();
    world
        .widgets()
        .set_check(&head, Check::completed("test", "FAILURE"));
    world.two_minutes_later();
    let idle = json!({ "notification_type": "idle_prompt", "message": "waiting" });
    drop(second.hook(&world.env, "t", "Notification", idle));
    assert_eq!(
        second.stops(&world.env, "t", "a").let_go(),
        "",
        "the news is for session s, which is live"
    );
    // Nobody says that the session ended: its process is gone.
    drop(first);
    let said = held(second.stops(&world.env, "t", "b"));
    assert!(said.starts_with("CI failed for PR #44"), "{said}");
}

#[test]
fn a_file_of_a_later_version_is_refused_by_every_verb_and_not_overwritten() {
    let Some(world) = world() else { return };
    let text = "{\"schema_version\": 2, \"issue_number\": 42, \"phase\": \"flying\"}";
    fs::write(world.file(), text).unwrap();
    for args in [
        &["claim", "42"][..],
        &["claim", "43", "--steal", "--anyway"],
        &["claim", "status"],
        &["claim", "status", "--now"],
        &["claim", "done"],
        &["claim", "retry"],
        &["claim", "rework"],
        &["claim", "abort"],
        &["claim", "repair"],
        &["claim", "release", "42"],
        &["handoff", "--summary", "x"],
        &["handoff", "--summary", "x", "--push"],
    ] {
        let refused = world.env.agent("s", args).failed();
        assert!(refused.contains("schema_version 2"), "{args:?}: {refused}");
        assert_eq!(fs::read_to_string(world.file()).unwrap(), text, "{args:?}");
    }
    assert!(
        world
            .bare
            .refs()
            .keys()
            .all(|name| !name.contains("claims"))
    );
}

/// Another clone of the same person takes the issue over.
fn taken_over(world: &World) {
    let other = clone(world, "other");
    run_in(world, &other, "ada2", &["claim", "42", "--steal"]).ok();
}

#[test]
fn who_lost_a_claim_opens_no_pull_request() {
    let Some(world) = world() else { return };
    world.env.agent("s", &["claim", "42"]).ok();
    world.work();
    world
        .env
        .agent("s", &["handoff", "--summary", "Fix the race"])
        .ok();
    taken_over(&world);
    let card = world.card();
    let said = world.stop("ready").held();
    assert!(said.contains("was not created: ada2@"), "{said}");
    assert!(said.contains("has taken the issue over"), "{said}");
    let status = world.env.run(&["claim", "status"]).ok();
    assert!(status.contains("server  taken over by ada2@"), "{status}");
    let _ = world.stop("again").let_go();
    // By hand neither.
    world.edit(json!({ "phase": "ready_for_pr", "status": "In Review" }));
    let _ = world.stop("by hand").let_go();
    let refused = world.env.agent("s", &["handoff", "--summary", "Fix"]);
    assert!(refused.failed().contains("has taken the issue over"));
    assert!(
        world
            .github
            .requests_of("POST /repos/{owner}/{repo}/pulls")
            .is_empty()
    );
    assert_eq!(world.card(), card, "the card is theirs");
}

#[test]
fn who_lost_a_claim_gives_back_nothing_of_the_new_owners() {
    let Some(world) = world() else { return };
    world.env.agent("s", &["claim", "42"]).ok();
    taken_over(&world);
    let (card, issue) = (world.card(), world.widgets().issue(42));
    let said = world.env.agent("s", &["claim", "abort"]).ok();
    assert!(
        said.contains("has taken the issue over, so its card and assignment stay"),
        "{said}"
    );
    assert!(!world.file().exists());
    assert_eq!(world.card(), card);
    assert_eq!(world.widgets().issue(42).assignees, issue.assignees);
    assert!(world.bare.refs().contains_key(REFERENCE));
}
