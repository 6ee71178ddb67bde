//! Which project `gate on --project` is about outside a repository.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::env::{Ran, TestEnv, finish, payload};
use crate::gate_daily::in_folder;
use crate::sessions::{Client, held};

/// Outside a repository, nothing but our own state and the sessions tell where a project begins.
#[test]
fn outside_a_repository_a_folder_below_the_project_means_the_project() {
    let all = "for every session that has no switch of its own";
    let env = TestEnv::new();
    let project = env.project().display().to_string();
    let below = env.project().join("a/b");
    fs::create_dir_all(&below).unwrap();
    let on = ["gate", "on", "--project"];
    assert_eq!(
        in_folder(&env, &env.project(), &on).ok(),
        format!("the gate is on in {project}, {all}\n")
    );
    let again = in_folder(&env, &below, &on).ok();
    assert!(
        again.contains(&format!("on already in {project},")),
        "{again}"
    );

    // The other way round: a session is at work in the parent.
    let env = TestEnv::new();
    let project = env.project().display().to_string();
    let below = env.project().join("a/b");
    fs::create_dir_all(&below).unwrap();
    let client = Client::new();
    client.starts(&env, "s").ok();
    assert_eq!(
        in_folder(&env, &below, &on).ok(),
        format!("the gate is on in {project}, {all}\n")
    );
    held(client.stops(&env, "s", "bye"));
}

/// A folder that is in no repository, and one below it.
fn two_folders(env: &TestEnv) -> [PathBuf; 2] {
    let below = env.project().join("a/b");
    fs::create_dir_all(&below).unwrap();
    [env.project(), below]
}

/// A stop of a session in this folder.
fn stop_in(env: &TestEnv, folder: &Path, session: &str, words: &str) -> Ran {
    let fields = json!({ "session_id": session, "last_assistant_message": words });
    let event = payload(folder, "Stop", fields).to_string();
    finish(env.command().arg("hook"), event.as_bytes())
}

/// In both orders, and with nobody at work there. One switch is left, and sessions in either folder
/// heed it, also one that was held there before.
#[test]
fn a_folder_and_the_one_above_it_mean_the_same_project_whichever_was_named_first() {
    let all = "for every session that has no switch of its own";
    for [first, second] in [[0, 1], [1, 0]] {
        let env = TestEnv::new();
        let folders = two_folders(&env);
        let [top, low] = folders
            .each_ref()
            .map(|folder| folder.display().to_string());
        let gate = |at: usize, word: &str| {
            in_folder(&env, &folders[at], &["gate", word, "--project"]).ok()
        };
        let named = &folders[first].display();
        let on = gate(first, "on");
        assert_eq!(on, format!("the gate is on in {named}, {all}\n"));
        held(stop_in(&env, &folders[first], "early", "bye"));
        let joined = if first == 0 {
            format!(
                "nothing changed: the gate was on already in {top}, by `mainspring gate on --project`\n"
            )
        } else {
            format!(
                "the gate is on in {top}, {all}\n\
                 {low} belongs to it now: it had a gate of its own, which is gone\n"
            )
        };
        assert_eq!(gate(second, "on"), joined);
        held(stop_in(&env, &folders[0], "one", "bye"));
        held(stop_in(&env, &folders[1], "two", "bye"));
        assert_eq!(gate(1, "off"), format!("the gate is off in {top}, {all}\n"));
        for session in ["early", "one", "two"] {
            let folder = &folders[usize::from(session == "two")];
            assert_eq!(stop_in(&env, folder, session, "done").let_go(), "");
        }
    }
}

/// A switch in the folder above is not overruled by one below that nobody remembers.
#[test]
fn off_in_the_folder_above_ends_the_gate_of_the_one_below() {
    let env = TestEnv::new();
    let [top, low] = two_folders(&env);
    in_folder(&env, &low, &["gate", "on", "--project"]).ok();
    let said = in_folder(&env, &top, &["gate", "off", "--project"]).ok();
    let joined = format!("{} belongs to it now", low.display());
    assert!(said.contains(&joined), "{said}");
    assert_eq!(stop_in(&env, &low, "s", "bye").let_go(), "");
}

/// Nothing that somebody still needs is taken away: it is said what stays, and why.
#[test]
fn a_folder_below_with_more_than_a_gate_stays_a_project_of_its_own() {
    let env = TestEnv::new();
    let [top, low] = two_folders(&env);
    in_folder(&env, &low, &["gate", "on", "--project"]).ok();
    in_folder(&env, &low, &["loop", "start", "--prompt", "go"]).ok();
    let repository = top.join("repository");
    fs::create_dir_all(repository.join(".git")).unwrap();
    in_folder(&env, &repository, &["gate", "on", "--project"]).ok();
    let said = in_folder(&env, &top, &["gate", "on", "--project"]).ok();
    let lines: Vec<&str> = said.lines().skip(1).collect();
    let kept = format!("{} stays a project of its own: loop is on", low.display());
    assert_eq!(lines, [kept]);
    in_folder(&env, &top, &["gate", "off", "--project"]).ok();
    held(stop_in(&env, &repository, "s", "bye"));
    let loops = in_folder(&env, &low, &["loop", "status"]).ok();
    assert!(loops.contains("loop iteration 0 of 10"), "{loops}");
}
