//! What a person trusted is not taken away from them in silence: not by a file that a pull brings
//! below it, and not by an agent that deletes what the trust is bound to.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::env::{Ran, TestEnv, finish, payload};

/// Everything that makes a folder a project, if nobody trusted anything.
const BROUGHT: [&str; 4] = [
    "mainspring.toml",
    ".claude/idle-loop.local.md",
    ".taskie/plans/p/state.json",
    ".agent-claim.json",
];

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn git(env: &TestEnv, args: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=a", "-c", "user.email=a@localhost"])
        .args(args)
        .current_dir(env.project())
        .env_clear()
        .env("HOME", env.home())
        .env("PATH", "/usr/local/bin:/usr/bin:/bin");
    finish(&mut git, b"").ok();
}

/// A repository whose settings switch the gate on, as a person trusted it.
fn gated() -> TestEnv {
    let env = TestEnv::new();
    git(&env, &["init", "--quiet"]);
    let settings = env.project().join("mainspring.toml");
    put(&settings, "[gate]\nenabled = true\n");
    env.trust();
    env.stop("one").held();
    env
}

fn stop_in(env: &TestEnv, folder: &Path, session: &str) -> Ran {
    let fields = json!({ "session_id": session, "last_assistant_message": session });
    let event = payload(folder, "Stop", fields).to_string();
    env.hook_bytes(event.as_bytes())
}

#[test]
fn a_file_below_a_trusted_project_takes_no_session_away_from_it() {
    let env = gated();
    let tree = env.root().join("tree");
    git(&env, &["commit", "--quiet", "--allow-empty", "-m", "x"]);
    git(
        &env,
        &["worktree", "add", "--quiet", tree.to_str().unwrap()],
    );
    for top in [env.project(), tree] {
        let below = top.join("packages/one");
        for name in BROUGHT {
            let path = below.join(name);
            put(&path, "");
            let session = format!("{name} in {}", top.display());
            let answer = stop_in(&env, &below, &session).json();
            assert_eq!(answer["decision"], "block", "{session}: {answer}");
            let told = answer["systemMessage"].as_str().unwrap();
            let ignored = "is ignored: it is not trusted, and lies in a project of yours";
            assert!(told.contains(ignored), "{told}");
            fs::remove_dir_all(&below).unwrap();
        }
    }
}

#[test]
fn a_person_makes_a_folder_below_a_trusted_project_a_project_of_its_own() {
    let env = gated();
    let below = env.project().join("packages/one");
    put(&below.join("mainspring.toml"), "");
    let run = |args: &[&str]| finish(env.command().args(args).current_dir(&below), b"");
    let doctor = run(&["doctor"]).stdout;
    assert!(
        doctor.contains("run `mainspring trust` in its folder"),
        "{doctor}"
    );
    let said = run(&["trust", "--yes"]).ok();
    assert!(said.contains("packages/one is trusted"), "{said}");
    assert_eq!(stop_in(&env, &below, "new").let_go(), "");
    stop_in(&env, &env.project(), "top").held();
}

#[test]
fn without_its_id_a_trusted_repository_counts_no_more_and_every_stop_says_so() {
    let env = gated();
    let id = env.project().join(".git/mainspring-id");
    fs::remove_file(&id).unwrap();
    for words in ["two", "three"] {
        let said = env.stop(words).let_go();
        assert!(
            said.contains("not the project that you trusted at this path"),
            "{said}"
        );
        assert!(said.contains("mainspring-id"), "{said}");
    }
    let doctor = env.run(&["doctor"]).stdout;
    assert!(
        doctor.contains("not the project that you trusted"),
        "{doctor}"
    );
    env.trust();
    env.stop("four").held();
    // Whoever wanted another repository there ends the message.
    fs::remove_file(&id).unwrap();
    env.run(&["untrust"]).ok();
    let said = env.stop("five").let_go();
    assert!(!said.contains("at this path"), "{said}");
}

/// Nobody trusted the project, but a person has it hold every session, or hold nobody.
#[test]
fn a_file_below_a_project_that_is_not_trusted_takes_nothing_of_the_persons_away() {
    for name in BROUGHT {
        let env = TestEnv::new();
        git(&env, &["init", "--quiet"]);
        env.run(&["gate", "on", "--project"]).ok();
        let below = env.project().join("packages/one");
        put(&below.join(name), "");
        let answer = stop_in(&env, &below, "gated").json();
        assert_eq!(answer["decision"], "block", "{name}: {answer}");

        let env = TestEnv::new();
        git(&env, &["init", "--quiet"]);
        put(
            &env.home().join(".config/mainspring/config.toml"),
            "[gate]\nenabled = true\n",
        );
        env.run(&["stop"]).ok();
        let below = env.project().join("packages/one");
        put(&below.join(name), "");
        let said = stop_in(&env, &below, "stopped").let_go();
        assert!(said.contains("you stopped"), "{name}: {said}");
    }
}
