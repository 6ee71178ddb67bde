//! Where the code is: forks, other remotes, branches, pushes that are refused.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use mainspring_testkit::github::{BareRepo, IssueState, bare_repo};
use serde_json::json;

use super::world::{BRANCH, World, git, world};
use crate::env::Ran;

const FORK: &str = "https://github.com/octo/widgets.git";

/// A fork of the repository, as another remote of the checkout.
fn fork(world: &World, remote: &str) -> BareRepo {
    let fork = bare_repo();
    let repository = world.github.add_repository("octo", "widgets");
    repository.follow(&fork.git_dir());
    let here = fork.git_dir();
    let here = here.to_str().unwrap();
    git(
        &here_of(world),
        &[
            "push",
            "--quiet",
            "--force",
            here,
            "refs/remotes/origin/main:refs/heads/main",
        ],
    );
    world.git(&["remote", "add", remote, FORK]);
    world.git(&["config", &format!("url.{here}.insteadOf"), FORK]);
    world.git(&["fetch", "--quiet", remote]);
    fork
}

/// A clone of the fork, as `gh repo clone` lays it out.
fn cloned_fork(world: &World) -> BareRepo {
    let fork = fork(world, "fork");
    world.git(&["remote", "rename", "origin", "upstream"]);
    world.git(&["remote", "rename", "fork", "origin"]);
    world.widgets().set_permission("READ");
    fork
}

/// It succeeded, and showed on stderr where things go.
fn fine(ran: Ran) -> String {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran.stdout
}

fn here_of(world: &World) -> std::path::PathBuf {
    world.env.project()
}

#[test]
fn with_origin_a_fork_the_issue_is_upstreams_and_the_pull_request_comes_from_the_fork() {
    let Some(world) = world() else { return };
    let fork = cloned_fork(&world);
    let ran = world.env.agent("s", &["claim", "42"]);
    assert!(
        ran.stderr.contains(
            "issues  github.com/acme/widgets (upstream)\n\
             push    github.com/octo/widgets (origin)\n\
             pull    octo:claude/fix-the-race-42 into github.com/acme/widgets"
        ),
        "{}",
        ran.stderr
    );
    fine(ran);
    assert!(
        fork.refs().contains_key("refs/mainspring/claims/42"),
        "where we may push"
    );
    world.git(&["commit", "--quiet", "--allow-empty", "-m", "Work"]);
    let handoff = ["handoff", "--summary", "Fix", "--push"];
    let ran = world.env.agent("s", &handoff);
    assert!(
        ran.stderr.contains("to github.com/octo/widgets (origin)"),
        "{}",
        ran.stderr
    );
    fine(ran);
    assert!(fork.refs().contains_key(&format!("refs/heads/{BRANCH}")));
    assert!(
        !world
            .bare
            .refs()
            .contains_key(&format!("refs/heads/{BRANCH}"))
    );
    let said = world.stop("ready").held();
    assert!(
        said.contains("https://github.com/acme/widgets/pull/44"),
        "{said}"
    );
    let pull = world.widgets().pull(44);
    assert_eq!(
        (pull.head_owner.as_str(), pull.head.as_str()),
        ("octo", BRANCH)
    );
    // It is found, and not made again.
    world.edit(json!({ "phase": "ready_for_pr", "pr_number": null }));
    assert!(
        world
            .stop("again")
            .held()
            .contains("PR #44 is there already")
    );
    world.widgets().merge(44);
    drop(world.start("s", "resume"));
    drop(world.prompt("close #42"));
    assert!(world.done().ok().contains("Issue #42 closed."));
    assert!(!fork.refs().contains_key("refs/mainspring/claims/42"));
}

#[test]
fn with_origin_the_repository_a_fork_is_used_by_who_may_not_push() {
    let Some(world) = world() else { return };
    world.widgets().set_permission("READ");
    let refused = world.env.agent("s", &["claim", "42"]).failed();
    assert!(
        refused.contains("you may not push to github.com/acme/widgets"),
        "{refused}"
    );
    assert!(refused.contains("gh repo fork --remote"), "{refused}");
    let fork = fork(&world, "mine");
    fine(world.env.agent("s", &["claim", "42"]));
    world.git(&["commit", "--quiet", "--allow-empty", "-m", "Work"]);
    // The advice names the remote that is meant.
    fine(
        world
            .env
            .agent("s", &["handoff", "--summary", "Fix", "--push"]),
    );
    world.git(&[
        "commit",
        "--quiet",
        "--allow-empty",
        "--amend",
        "-m",
        "Better",
    ]);
    let said = world.stop("ready").held();
    assert!(
        said.contains(&format!("`git push --force-with-lease mine {BRANCH}`")),
        "{said}"
    );
    world.git(&["push", "--quiet", "--force-with-lease", "mine", BRANCH]);
    assert!(world.stop("pushed").held().contains("PR #44 created"));
    assert_eq!(world.widgets().pull(44).head_owner, "octo");
    assert!(fork.refs().contains_key(&format!("refs/heads/{BRANCH}")));
}

#[test]
fn the_repository_that_gh_was_told_is_the_one() {
    let Some(world) = world() else { return };
    let _fork = fork(&world, "upstream");
    world
        .github
        .repository("octo", "widgets")
        .add_issue(42, "Of the fork");
    world.git(&["config", "remote.origin.gh-resolved", "base"]);
    let said = world.env.run(&["claim", "42"]).ok();
    assert!(said.contains("Fix the race"), "{said}");
    world.env.run(&["claim", "abort"]).ok();
    world.git(&["config", "--unset", "remote.origin.gh-resolved"]);
    let said = fine(world.env.run(&["claim", "42"]));
    assert!(said.contains("Of the fork"), "{said}");
}

#[test]
fn addresses_count_as_git_resolves_them() {
    let Some(world) = world() else { return };
    let bare = world.bare.git_dir();
    // An abbreviation of git's own.
    world.git(&["config", "remote.origin.url", "gh:acme/widgets"]);
    world.git(&["config", "url.https://github.com/.insteadOf", "gh:"]);
    world.git(&["config", "remote.origin.pushurl", bare.to_str().unwrap()]);
    let said = world.env.run(&["claim", "42"]).ok();
    assert!(
        said.contains("repository github.com/acme/widgets (origin)"),
        "{said}"
    );

    // An alias of ssh's configuration.
    let ssh = world.env.root().join("bin/ssh");
    fs::create_dir_all(ssh.parent().unwrap()).unwrap();
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = -G ]; then echo 'hostname github.com'; exit; fi\n\
         for last; do :; done\nexec \"${{last%% *}}\" '{}'\n",
        bare.display()
    );
    fs::write(&ssh, script).unwrap();
    fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755)).unwrap();
    world.git(&["config", "remote.origin.url", "git@work:acme/widgets.git"]);
    world.git(&["config", "--unset", "remote.origin.pushurl"]);
    let path = format!("{}:{}", ssh.parent().unwrap().display(), world.path());
    let mut command = world.env.command();
    command
        .args(["claim", "43", "--worktree"])
        .env("PATH", path);
    let said = crate::env::finish(&mut command, b"").ok();
    assert!(said.contains("Tidy up"), "{said}");
}

#[test]
fn handing_over_takes_the_branch_that_is_checked_out() {
    let Some(world) = world() else { return };
    world.env.agent("s", &["claim", "42"]).ok();
    world.git(&["switch", "--quiet", "-c", "mine"]);
    world.git(&["commit", "--quiet", "--allow-empty", "-m", "Work"]);
    let said = world
        .env
        .agent("s", &["handoff", "--summary", "Fix", "--push"])
        .ok();
    assert!(said.contains("its branch is now mine"), "{said}");
    assert!(world.stop("ready").held().contains("PR #44 created"));
    assert_eq!(world.widgets().pull(44).head, "mine");
    // The default branch is never adopted.
    world.git(&["switch", "--quiet", "main"]);
    world.env.agent("s", &["handoff", "--summary", "Fix"]).ok();
    assert_eq!(world.claim()["branch"], "mine");
}

#[test]
fn a_push_that_is_refused_shows_gits_reason_and_the_way_out() {
    let Some(world) = world() else { return };
    world.env.agent("s", &["claim", "42"]).ok();
    world.git(&["commit", "--quiet", "--allow-empty", "-m", "Work"]);
    let handoff = ["handoff", "--summary", "Fix", "--push"];
    world.env.agent("s", &handoff).ok();
    world.git(&[
        "commit",
        "--quiet",
        "--allow-empty",
        "--amend",
        "-m",
        "Better",
    ]);
    let refused = world.env.agent("s", &handoff).failed();
    assert!(
        refused.contains("[rejected]") && !refused.contains("hint: Updates"),
        "{refused}"
    );
    assert!(
        refused.contains(&format!("`git push --force-with-lease origin {BRANCH}`")),
        "{refused}"
    );
    world.git(&["push", "--quiet", "--force-with-lease", "origin", BRANCH]);
    let other = world.bare.commit(BRANCH, "Somebody else's");
    world.git(&["commit", "--quiet", "--allow-empty", "-m", "More"]);
    let refused = world.env.agent("s", &handoff).failed();
    assert!(
        refused.contains(&format!("`git pull --rebase origin {BRANCH}`")),
        "{refused}"
    );
    assert_eq!(world.bare.refs()[&format!("refs/heads/{BRANCH}")], other);
    let hook = world.bare.git_dir().join("hooks/pre-receive");
    fs::write(&hook, "#!/bin/sh\necho no pushes on Fridays >&2\nexit 1\n").unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    world.git(&["fetch", "--quiet", "origin"]);
    world.git(&["rebase", "--quiet", &format!("origin/{BRANCH}")]);
    let refused = world.env.agent("s", &handoff).failed();
    assert!(refused.contains("no pushes on Fridays"), "{refused}");
}

#[test]
fn work_that_was_merged_by_hand_needs_no_pull_request() {
    let Some(world) = world() else { return };
    world.env.agent("s", &["claim", "42"]).ok();
    let head = world.work();
    world.git(&[
        "push",
        "--quiet",
        "origin",
        &format!("{head}:refs/heads/main"),
    ]);
    world.bare.delete(BRANCH);
    world.env.agent("s", &["handoff", "--summary", "Fix"]).ok();
    let said = world.stop("ready").held();
    assert!(said.contains("somebody merged it by hand"), "{said}");
    assert!(said.contains("Should I close issue #42?"), "{said}");
    assert_eq!(
        (world.github.prs_created(), &world.claim()["phase"]),
        (0, &json!("merged_detected"))
    );
    world.agent_says("It was merged by hand. Should I close issue #42?");
    drop(world.prompt("yes"));
    assert!(world.done().ok().contains("Issue #42 closed."));
}

#[test]
fn a_closed_pull_request_is_handed_over_again() {
    let Some(world) = world() else { return };
    world.with_pull_request();
    world.widgets().close_pull(44);
    drop(world.idle());
    let told = context(&world);
    assert!(
        told.contains("`mainspring handoff` opens another one"),
        "{told}"
    );
    assert!(told.contains("`gh pr reopen 44`"), "{told}");
    world
        .env
        .agent("s", &["handoff", "--summary", "Again"])
        .ok();
    let said = world.stop("ready").held();
    assert!(said.contains("PR #45 created"), "{said}");
}

fn context(world: &World) -> String {
    super::world::context(world.prompt("and?"))
}

#[test]
fn an_issue_that_was_reopened_gets_another_comment() {
    let Some(world) = world() else { return };
    world.with_pull_request();
    world.let_close();
    world.done().ok();
    let refused = world.env.agent("s", &["claim", "42"]).failed();
    assert!(refused.contains("`gh issue reopen 42`"), "{refused}");
    world.widgets().reopen(42);
    world.env.agent("s", &["claim", "42"]).ok();
    world.git(&["commit", "--quiet", "--allow-empty", "-m", "More"]);
    world
        .env
        .agent("s", &["handoff", "--summary", "More", "--push"])
        .ok();
    assert!(world.stop("ready").held().contains("PR #45 created"));
    world.widgets().merge(45);
    drop(world.start("s", "resume"));
    drop(world.prompt("close #42"));
    world.done().ok();
    let issue = world.widgets().issue(42);
    assert!(matches!(issue.state, IssueState::Closed { .. }));
    let said: Vec<bool> = ["#44", "#45"]
        .iter()
        .map(|pr| {
            issue
                .comments
                .iter()
                .any(|comment| comment.body.contains(pr))
        })
        .collect();
    assert_eq!((issue.comments.len(), said), (2, vec![true, true]));
}

#[test]
fn a_pull_requests_number_is_no_issues() {
    let Some(world) = world() else { return };
    world.with_pull_request();
    fs::remove_file(world.file()).unwrap();
    let refused = world.env.agent("s", &["claim", "44"]).failed();
    assert!(
        refused.contains("#44 is a pull request, not an issue"),
        "{refused}"
    );
    assert!(refused.contains("`gh pr view 44`"), "{refused}");
    assert!(
        world
            .bare
            .refs()
            .keys()
            .all(|name| !name.contains("claims"))
    );
}

#[test]
fn a_claim_in_the_fork_is_listed_and_released_from_another_clone_of_it() {
    let Some(world) = world() else { return };
    let fork = cloned_fork(&world);
    fine(world.env.agent("s", &["claim", "42"]));
    let listed = world.env.run(&["claim", "list"]).ok();
    assert!(
        listed.contains(&format!("{BRANCH} in github.com/octo/widgets")),
        "{listed}"
    );
    let list = world.env.run(&["claim", "list", "--json"]).json();
    assert_eq!(list["claims"][0]["issue"], 42, "{list}");
    assert_eq!(
        list["claims"][0]["repository"], "github.com/octo/widgets",
        "{list}"
    );
    // This clone has forgotten it, as another one never knew it.
    fs::remove_file(world.file()).unwrap();
    let state = world.env.project_state();
    fs::remove_dir_all(state).unwrap();
    world.env.run(&["trust", "--yes"]).ok();
    let said = world.env.run(&["claim", "release", "42"]).ok();
    assert_eq!(said, "issue #42 is free on the git server\n");
    assert!(!fork.refs().contains_key("refs/mainspring/claims/42"));
    let none = world.env.run(&["claim", "release", "42"]).failed();
    assert!(none.contains("nobody has claimed issue #42"), "{none}");
}
