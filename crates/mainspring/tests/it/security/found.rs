//! How files are found: an unpacked archive or another user of the computer cannot make us
//! accept theirs.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::env::{Ran, TestEnv, finish, payload};

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A stop in this folder, in a session of its own.
fn stop_in(env: &TestEnv, folder: &Path) -> Ran {
    let fields =
        json!({ "session_id": folder.display().to_string(), "last_assistant_message": "x" });
    let event = payload(folder, "Stop", fields);
    finish(
        env.command().arg("hook").current_dir(folder),
        event.to_string().as_bytes(),
    )
}

/// The project of a command in this folder.
fn project_of(env: &TestEnv, folder: &Path) -> PathBuf {
    let status = finish(
        env.command().args(["status", "--json"]).current_dir(folder),
        b"",
    );
    PathBuf::from(status.json()["project"].as_str().unwrap())
}

/// The victim's trusted repository with a gate, and a worktree that git made.
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
    env.trust();
    (repo, tree)
}

/// A person trusts the project of this folder.
fn trust_in(env: &TestEnv, folder: &Path) {
    let mut command = env.command();
    command.args(["trust", "--yes"]).current_dir(folder);
    finish(&mut command, b"").ok();
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
    // An admin folder in the archive itself points back to the archive.
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

/// Git writes both pointers as relative paths if it is configured to.
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
    // The worktree was moved by hand, so git itself no longer knows it.
    let moved = env.root().join("moved");
    fs::rename(&tree, &moved).unwrap();
    assert_eq!(project_of(&env, &moved), moved);
}

const OTHER: u32 = 65_534;

/// Gives the file to another user; `false` if only root could.
fn give_away(path: &Path) -> bool {
    let given = std::os::unix::fs::chown(path, Some(OTHER), Some(OTHER)).is_ok();
    if !given {
        eprintln!("skipped: only root can make another user's file");
    }
    given
}

fn chmod(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A folder like `/tmp`, and a folder of the person's in it.
fn shared(env: &TestEnv) -> (PathBuf, PathBuf) {
    let (open, work) = (env.root().join("open"), env.root().join("open/work"));
    fs::create_dir_all(&work).unwrap();
    chmod(&open, 0o1777);
    (open, work)
}

const GATE: &str = "[gate]\nenabled = true\n";
const PAGE: &str = "---\nactive: true\nmode: loop\niteration: 1\nmax_iterations: 9\n---\n\nGo.\n";

#[test]
fn what_another_user_put_above_a_folder_holds_nobody_and_is_named_once() {
    for (file, text) in [
        ("mainspring.toml", GATE),
        (".claude/idle-loop.local.md", PAGE),
        (".agent-claim.json", "{}"),
        (".taskie/plans/demo/plan.md", "# Plan\n"),
    ] {
        // A repository of theirs at the same place changes nothing.
        for repository in [false, true] {
            let env = TestEnv::new();
            let (open, work) = shared(&env);
            put(&open.join(file), text);
            let marker = if file.starts_with(".taskie") {
                open.join(".taskie/plans")
            } else {
                open.join(file)
            };
            if repository {
                fs::create_dir(open.join(".git")).unwrap();
                give_away(&open.join(".git"));
            }
            if !give_away(&marker) {
                return;
            }
            for folder in [&work, &open] {
                let said = stop_in(&env, folder).let_go();
                let whose = format!("{} is ignored: it belongs to user 65534", marker.display());
                assert!(said.contains(&whose), "{file}: {said}");
                assert_eq!(stop_in(&env, folder).let_go(), "", "it was said");
            }
            assert_eq!(project_of(&env, &work), work, "{file}");
            let mut doctor = env.command();
            let examined = finish(doctor.arg("doctor").current_dir(&work), b"").stdout;
            let fix = format!("sudo chown \"$(id -un)\" {}", marker.display());
            assert!(examined.contains(&fix), "{file}: {examined}");
        }
    }
}

#[test]
fn what_everybody_can_write_above_a_folder_holds_nobody() {
    for mode in [0o666, 0o602, 0o777] {
        let env = TestEnv::new();
        let (open, work) = shared(&env);
        let file = open.join("mainspring.toml");
        put(&file, GATE);
        chmod(&file, mode);
        let said = stop_in(&env, &work).let_go();
        assert!(said.contains("can be written by everybody"), "{said}");
        let mut doctor = env.command();
        let examined = finish(doctor.arg("doctor").current_dir(&work), b"").stdout;
        let fix = format!("chmod go-w {}", file.display());
        assert!(examined.contains(&fix), "{examined}");
        chmod(&file, 0o644);
        let again = work.join("again");
        fs::create_dir(&again).unwrap();
        trust_in(&env, &again);
        let _ = stop_in(&env, &again).held();
    }
}

/// This holds even if the folder itself is the project, because the person has state for it.
#[test]
fn a_file_that_another_user_adds_to_a_project_without_a_repository_is_not_read() {
    let env = TestEnv::new();
    let (open, _) = shared(&env);
    let mut pulse = env.command();
    finish(pulse.args(["pulse", "1"]).current_dir(&open), b"").ok();
    put(&open.join("mainspring.toml"), GATE);
    if !give_away(&open.join("mainspring.toml")) {
        return;
    }
    let mut config = env.command();
    let shown = finish(config.arg("config").current_dir(&open), b"").ok();
    assert!(shown.contains("enabled = false"), "{shown}");
    assert!(shown.contains("belongs to user 65534"), "{shown}");
}

/// In a container, a project is mounted with the user ids of another system: its folder and its
/// files have one owner, who is not the user there.
#[test]
fn a_project_that_belongs_to_one_other_user_altogether_is_one() {
    for repository in [false, true] {
        let env = TestEnv::new();
        let (mounted, below) = (env.root().join("mounted"), env.root().join("mounted/src"));
        fs::create_dir_all(&below).unwrap();
        put(&mounted.join("mainspring.toml"), GATE);
        let mut all = vec![&mounted, &below];
        let (file, git) = (mounted.join("mainspring.toml"), mounted.join(".git"));
        all.push(&file);
        if repository {
            fs::create_dir(&git).unwrap();
            all.push(&git);
        }
        if !all.into_iter().all(|path| give_away(path)) {
            return;
        }
        trust_in(&env, &mounted);
        let _ = stop_in(&env, &mounted).held();
        let _ = stop_in(&env, &below).held();
    }
}

/// A repository's files count whoever owns them: a team may share it.
#[test]
fn a_repository_of_the_persons_may_hold_files_that_others_can_write() {
    let env = TestEnv::new();
    fs::create_dir(env.project().join(".git")).unwrap();
    put(&env.project().join("mainspring.toml"), GATE);
    chmod(&env.project().join("mainspring.toml"), 0o666);
    env.trust();
    let _ = env.stop("x").held();
}
