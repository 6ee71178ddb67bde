//! Several people and computers with one issue, and what only a person may do.

use std::fs;
use std::sync::Barrier;

use mainspring_testkit::github::IssueState;
use serde_json::json;

use super::world::{BRANCH, ORIGIN, World, git, untrusted, world};
use crate::env::finish;

/// The claim on the git server.
const REFERENCE: &str = "refs/mainspring/claims/42";

#[test]
fn of_sixteen_claimers_one_wins_and_the_others_are_told_who() {
    let Some(world) = world() else { return };
    let clones: Vec<_> = (0..16)
        .map(|index| {
            let place = world.env.root().join(format!("clone-{index}"));
            world.bare.clone_as(ORIGIN, &place);
            place
        })
        .collect();
    let start = Barrier::new(clones.len());
    let ran: Vec<_> = std::thread::scope(|scope| {
        let claimers: Vec<_> = clones
            .iter()
            .enumerate()
            .map(|(index, place)| {
                let mut command = world.env.command();
                command
                    .args(["claim", "42"])
                    .current_dir(place)
                    .env("USER", format!("user{index}"));
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    finish(&mut command, b"")
                })
            })
            .collect();
        claimers
            .into_iter()
            .map(|claimer| claimer.join().unwrap())
            .collect()
    });
    let winners: Vec<usize> = (0..16)
        .filter(|index| ran[*index].code == Some(0))
        .collect();
    assert_eq!(winners.len(), 1, "{ran:#?}");
    let winner = format!("user{}@", winners[0]);
    for (index, ran) in ran.iter().enumerate() {
        if index != winners[0] {
            assert!(ran.stderr.contains(&winner), "{}", ran.stderr);
            assert!(!clones[index].join(".agent-claim.json").exists());
        }
    }
    assert!(clones[winners[0]].join(".agent-claim.json").exists());
    assert_eq!(
        world.github.board_writes(),
        2,
        "only the winner touched the board"
    );
}

/// Makes the claim on the server a day older; returns its new commit.
fn age_the_claim(world: &World) -> String {
    let text = world.git(&["cat-file", "commit", &world.bare.refs()[REFERENCE]]);
    let message = text.split_once("\n\n").unwrap().1;
    let at = message
        .lines()
        .find(|line| line.starts_with("at: "))
        .unwrap();
    let heard = message
        .lines()
        .find(|line| line.starts_with("heard: "))
        .unwrap();
    let old = message
        .replace(at, "at: 2026-01-01T00:00:00Z")
        .replace(heard, "heard: 2026-01-01T00:00:00Z");
    let tree = world.git(&[
        "rev-parse",
        &format!("{}^{{tree}}", world.bare.refs()[REFERENCE]),
    ]);
    let commit = git(
        &world.env.project(),
        &[
            "-c",
            "user.name=x",
            "-c",
            "user.email=x",
            "commit-tree",
            &tree,
            "-m",
            &old,
        ],
    );
    world.git(&[
        "push",
        "--quiet",
        "--force",
        "origin",
        &format!("{commit}:{REFERENCE}"),
    ]);
    commit
}

#[test]
fn a_claim_is_stolen_only_after_a_day_and_given_back_by_its_owner_alone() {
    let Some(world) = world() else { return };
    world.env.run(&["claim", "42"]).ok();
    let other = world.env.root().join("other");
    world.bare.clone_as(ORIGIN, &other);
    git(&other, &["config", "user.email", "bob@example.com"]);
    let steal = || {
        let mut command = world.env.command();
        command
            .args(["claim", "42", "--steal"])
            .current_dir(&other)
            .env("USER", "bob");
        finish(&mut command, b"")
    };
    let refused = steal().failed();
    assert!(refused.contains("claimed by ada@"), "{refused}");

    let commit = age_the_claim(&world);
    steal().ok();
    let taken = world.bare.refs()[REFERENCE].clone();
    assert_ne!(taken, commit);
    let record = git(&other, &["cat-file", "commit", &taken]);
    assert!(
        record.contains("owner: bob@") && record.contains("generation: 2"),
        "{record}"
    );

    let said = world.env.run(&["claim", "abort"]).ok();
    assert!(
        said.contains("bob@") && said.contains("has taken the issue over"),
        "{said}"
    );
    assert_eq!(
        world.bare.refs()[REFERENCE],
        taken,
        "what is not ours stays"
    );
    assert!(!world.file().exists());
}

#[test]
fn giving_an_issue_back_undoes_the_claim() {
    let Some(world) = world() else { return };
    world.env.run(&["claim", "42"]).ok();
    assert_eq!(
        world.env.run(&["claim", "abort"]).ok(),
        "issue #42 is no longer claimed\n"
    );
    assert_eq!(world.card(), ("Todo".into(), String::new()));
    assert_eq!(world.widgets().issue(42).assignees, [] as [String; 0]);
    assert!(!world.file().exists());
    assert!(!world.bare.refs().contains_key(REFERENCE));
    assert!(
        world
            .env
            .run(&["claim", "abort"])
            .failed()
            .contains("no issue is claimed here")
    );
}

#[test]
fn if_the_server_refuses_such_refs_there_is_a_warning_and_work_goes_on() {
    let Some(world) = world() else { return };
    let hook = world.bare.git_dir().join("hooks/pre-receive");
    fs::write(&hook, "#!/bin/sh\necho no such refs >&2\nexit 1\n").unwrap();
    let mut mode = fs::metadata(&hook).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
    fs::set_permissions(&hook, mode).unwrap();
    let said = world.env.run(&["claim", "42"]).ok();
    assert!(
        said.contains("warning: the git server does not accept claims"),
        "{said}"
    );
    assert_eq!(world.claim()["phase"], "coding");
}

#[test]
fn a_claim_can_have_a_worktree_of_its_own() {
    let Some(world) = world() else { return };
    let said = world.env.run(&["claim", "42", "--worktree"]).ok();
    let place = world.env.root().join("project-42");
    assert!(
        said.contains(&format!("worktree {}", place.display())),
        "{said}"
    );
    assert!(place.join(".agent-claim.json").exists());
    assert!(!world.file().exists());
    assert_eq!(git(&place, &["branch", "--show-current"]), BRANCH);
    git(
        &place,
        &["commit", "--quiet", "--allow-empty", "-m", "Work"],
    );
    let mut handoff = world.env.command();
    handoff
        .args(["handoff", "--summary", "Fix", "--push"])
        .current_dir(&place);
    finish(&mut handoff, b"").ok();
    let stop = json!({ "session_id": "s", "cwd": place, "hook_event_name": "Stop", "stop_hook_active": false });
    let said = world.env.hook_bytes(stop.to_string().as_bytes()).held();
    assert!(said.contains("PR #44 created"), "{said}");
}

#[test]
fn only_a_person_closes_and_yes_in_a_terminal_is_their_word() {
    let Some(world) = world() else { return };
    world.env.run(&["claim", "42"]).ok();
    let refused = world.env.agent("s", &["claim", "done", "--yes"]).failed();
    assert!(
        refused.contains("the branch is not merged either"),
        "{refused}"
    );
    for args in [&["claim", "done"][..], &["claim", "done", "--yes"]] {
        let nobody = world.env.run(args).failed();
        assert!(nobody.contains("stdin is not a terminal"), "{nobody}");
    }
    let said = world.env.in_terminal(&["claim", "done", "--yes"]).ok();
    assert_eq!(
        said,
        "Issue #42 closed. Board → Done. Signal file cleaned up.\n"
    );
    assert!(matches!(
        world.widgets().issue(42).state,
        IssueState::Closed { .. }
    ));
    assert!(
        world.widgets().issue(42).comments[0]
            .body
            .starts_with("Completed\n")
    );
}

#[test]
fn nothing_is_started_in_a_project_that_nobody_trusted() {
    let Some(world) = untrusted() else { return };
    world.work();
    world.write("ready_for_pr");
    let (ran, runs) = world.gh_runs(|| world.stop("ready"));
    let said = ran.let_go();
    assert!(said.contains("mainspring trust"), "{said}");
    assert_eq!(runs, 0);
    let (ran, runs) = world.gh_runs(|| world.idle());
    drop(ran.ok());
    assert_eq!(
        (runs, world.claim()["phase"].as_str()),
        (0, Some("ready_for_pr"))
    );
}

#[test]
fn a_claim_in_a_project_that_nobody_trusted_says_so_at_once() {
    let Some(world) = untrusted() else { return };
    let said = world.env.run(&["claim", "42"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let all = format!("{}{}", said.stdout, said.stderr);
    assert!(all.contains("this project is not trusted yet"), "{all}");
    assert!(all.contains("`mainspring trust`"), "{all}");
    let said = world.env.run(&["handoff", "--summary", "Fix the race"]);
    let all = format!("{}{}", said.stdout, said.stderr);
    assert!(all.contains("`mainspring trust` here"), "{all}");
}

#[test]
fn a_second_claim_in_the_same_checkout_is_refused() {
    let Some(world) = world() else { return };
    world.env.run(&["claim", "42"]).ok();
    assert!(
        world
            .env
            .run(&["claim", "42"])
            .ok()
            .contains("is claimed here already")
    );
    let refused = world.env.run(&["claim", "43"]).failed();
    assert!(refused.contains("issue #42 is claimed here"), "{refused}");
    assert!(
        world
            .env
            .run(&["claim", "99", "--worktree"])
            .failed()
            .contains("no issue #99")
    );
    assert!(
        world
            .env
            .run(&["claim", "43", "--worktree", "--branch", "--evil"])
            .failed()
            .contains("cannot be a branch")
    );
}

#[test]
fn a_newer_or_broken_file_is_reported_and_left_alone() {
    let Some(world) = world() else { return };
    for (text, part) in [
        ("{\"schema_version\": 2, \"phase\": \"flying\"}", ""),
        (
            "{\"schema_version\": 1, \"phase\": \"codng\", \"issue_number\": 42}",
            "phase \"codng\" is not one of",
        ),
        ("{\"schema_version\": 1,", "line 1 column"),
        ("", "line 1 column 0"),
    ] {
        fs::write(world.file(), text).unwrap();
        let note = world.stop("done").let_go();
        assert!(note.contains(part), "{note}");
        assert_eq!(fs::read_to_string(world.file()).unwrap(), text);
        drop(world.idle());
        drop(world.prompt("hello"));
        let _ = world.env.run(&["handoff", "--summary", "x"]).failed();
        assert_eq!(fs::read_to_string(world.file()).unwrap(), text);
    }
}

#[test]
fn a_claim_whose_file_was_never_written_is_taken_up_by_the_same_checkout() {
    let Some(world) = world() else { return };
    world.env.run(&["claim", "42"]).ok();
    let taken = world.bare.refs()[REFERENCE].clone();
    fs::remove_file(world.file()).unwrap();
    world.env.run(&["claim", "42"]).ok();
    assert_eq!(world.bare.refs()[REFERENCE], taken);
    assert_eq!(
        world.env.run(&["claim", "abort"]).ok(),
        "issue #42 is no longer claimed\n"
    );
    assert!(!world.bare.refs().contains_key(REFERENCE));
}
