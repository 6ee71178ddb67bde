//! Where files are found: what an unpacked archive, or another user of the machine, cannot
//! make ours.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::env::{Ran, TestEnv, finish, payload};

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A stop in this folder, of a session of its own.
fn stop_in(env: &TestEnv, folder: &Path) -> Ran {
    let fields =
        json!({ "session_id": folder.display().to_string(), "last_assistant_message": "x" });
    let event = payload(folder, "Stop", fields);
    finish(
        env.command().arg("hook").current_dir(folder),
        event.to_string().as_bytes(),
    )
}

/// Which project a command in this folder is about.
fn project_of(env: &TestEnv, folder: &Path) -> PathBuf {
    let status = finish(
        env.command().args(["status", "--json"]).current_dir(folder),
        b"",
    );
    PathBuf::from(status.json()["project"].as_str().unwrap())
}

/// The victim's repository, trusted, with a gate, and one worktree of git's making.
fn victim(env: &TestEnv) -> (PathBuf, PathBuf) {
    let (repo, tree) = (env.project(), env.root().join("tree"));
    let git = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        command
            .env_clear()
            .env("HOME", env.home())
            .env("PATH", "/usr/bin:/bin")
            .args(["-c", "user.name=n", "-c", "user.email=e@example.org"])
            .args(args)
            .current_dir(&repo);
        finish(&mut command, b"")
    };
    git(&["init", "--quiet"]).ok();
    git(&["commit", "--quiet", "--allow-empty", "-m", "one"]).ok();
    git(&["worktree", "add", "--quiet", tree.to_str().unwrap()]).ok();
    env.run(&["gate", "on", "--project"]).ok();
    env.run(&["trust"]).ok();
    (repo, tree)
}

#[test]
fn an_archive_that_says_it_is_a_worktree_gets_nothing_of_the_repository_it_names() {
    let env = TestEnv::new();
    let (repo, tree) = victim(&env);
    assert_eq!(project_of(&env, &tree), repo, "git's own worktree is one");
    let _ = stop_in(&env, &tree).held();
    let mut cases = 0;
    for named in [
        format!("{}/.git/worktrees/tree", repo.display()),
        "../project/.git/worktrees/tree".to_owned(),
        format!("{}/.git/worktrees/absent", repo.display()),
        format!("{}/.git", repo.display()),
    ] {
        let archive = env.root().join(format!("archive-{cases}"));
        put(&archive.join(".git"), &format!("gitdir: {named}\n"));
        put(&archive.join(".taskie/plans/demo/plan.md"), "# Plan\n");
        assert_eq!(project_of(&env, &archive), archive, "{named}");
        let said = stop_in(&env, &archive).let_go();
        assert!(!said.contains("TASKMASTER"), "{named}: {said}");
        cases += 1;
    }
    assert_eq!(cases, 4);
    // An admin folder that the archive brings itself points back, and leads to the archive.
    let archive = env.root().join("own");
    put(
        &archive.join("work/.git"),
        "gitdir: ../.git/worktrees/work\n",
    );
    put(
        &archive.join(".git/worktrees/work/gitdir"),
        "../../../work/.git\n",
    );
    assert_eq!(project_of(&env, &archive.join("work")), archive);
}

/// Git writes both pointers as relative paths where it is told to.
#[test]
fn a_worktree_with_relative_pointers_is_one_too() {
    let env = TestEnv::new();
    let (repo, tree) = victim(&env);
    let admin = repo.join(".git/worktrees/tree");
    put(&admin.join("gitdir"), "../../../../tree/.git\n");
    put(
        &tree.join(".git"),
        "gitdir: ../project/.git/worktrees/tree\n",
    );
    assert_eq!(project_of(&env, &tree), repo);
    // The worktree was moved by hand: git itself no longer knows it either.
    let moved = env.root().join("moved");
    fs::rename(&tree, &moved).unwrap();
    assert_eq!(project_of(&env, &moved), moved);
}
