//! Which servers are GitHub servers, and what older ones do not know.

use std::fs;
use std::path::Path;

use mainspring_testkit::github::{self, Check};

use super::world::{World, at, world};
use crate::env::{Ran, finish};

/// It succeeded, whatever it warned of.
fn fine(ran: &Ran) {
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

/// A folder with gh's configuration, in which it is signed in to the company's server.
fn signed_in(world: &World, folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    let config = world.github.gh_config_dir();
    fs::copy(config.join("config.yml"), folder.join("config.yml")).unwrap();
    let hosts = fs::read_to_string(config.join("hosts.yml")).unwrap();
    let corp = hosts.replace("github.com:", "git.corp.example:");
    fs::write(folder.join("hosts.yml"), hosts + &corp).unwrap();
}

#[test]
fn an_enterprise_server_is_known_from_ghs_own_files_and_from_what_gh_says() {
    let origin = "https://git.corp.example/acme/widgets.git";
    let Some(world) = at("git.corp.example", origin) else {
        return;
    };
    world.env.run(&["trust", "--yes"]).ok();
    let own = world.env.root().join("own");
    signed_in(&world, &own.join("gh"));
    let claim = || {
        let mut command = world.env.command();
        command
            .args(["claim", "42"])
            .env_remove("GH_CONFIG_DIR")
            .env("XDG_CONFIG_HOME", &own);
        finish(&mut command, b"")
    };
    let (ran, runs) = world.gh_runs(claim);
    fine(&ran);
    assert_eq!(runs, 2, "its file says so, and gh is not asked");
    // We follow no link to the file, and gh does.
    let elsewhere = world.env.root().join("hosts.yml");
    fs::rename(own.join("gh/hosts.yml"), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, own.join("gh/hosts.yml")).unwrap();
    let _ = fs::remove_file(world.file());
    let (ran, runs) = world.gh_runs(claim);
    fine(&ran);
    assert_eq!(
        runs, 3,
        "gh was asked once which servers it is signed in to"
    );
}

#[test]
fn an_older_enterprise_server_is_asked_without_what_it_does_not_know() {
    let Some(world) = world() else { return };
    let head = world.with_pull_request();
    world
        .widgets()
        .set_check(&head, Check::completed("test", "FAILURE"));
    let unknown = "Field 'isInMergeQueue' doesn't exist on type 'PullRequest'";
    world.github.fault(
        github::on("ClaimPoll"),
        github::Fault::Unprocessable(unknown.into()),
    );
    world.github.take_requests();
    world.two_minutes_later();
    drop(world.idle());
    let polls = world.github.requests_of("ClaimPoll");
    let asks: Vec<bool> = polls
        .iter()
        .map(|request| request.query.as_ref().unwrap().contains("isInMergeQueue"))
        .collect();
    assert_eq!(asks, [true, false]);
    assert!(
        world
            .stop("next")
            .held()
            .starts_with("CI failed for PR #44")
    );
}
