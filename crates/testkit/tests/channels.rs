//! Every channel leads from nothing to a first held stop, from local files.
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "a test that cannot prepare its environment has failed; one that is skipped says so"
)]

use std::path::Path;

use mainspring_testkit::channels::try_all;

fn mainspring() -> std::path::PathBuf {
    let here = std::env::current_exe().expect("this test is a file");
    let build = here.ancestors().nth(2).expect("in a build folder");
    build.join("mainspring")
}

#[test]
fn every_channel_leads_to_a_held_stop() {
    if std::env::var_os("MAINSPRING_SKIP_CHANNELS").is_some() {
        eprintln!("skipped: npm or pip is missing");
        return;
    }
    let reached = try_all(&mainspring());
    let channels: Vec<&str> = reached.iter().map(|one| one.channel).collect();
    assert_eq!(channels, ["npm", "pypi", "script"]);
}

/// The version of the crate, the newest entry of the changelog and the archives' names agree.
#[test]
fn version_and_changelog_agree() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| std::fs::read_to_string(workspace.join(path)).expect("it is there");
    let version = env!("CARGO_PKG_VERSION");
    assert!(read("Cargo.toml").contains(&format!("version = \"{version}\"")));
    let changelog = read("CHANGELOG.md");
    let newest = changelog
        .lines()
        .find_map(|line| line.strip_prefix("## "))
        .expect("an entry");
    assert!(
        newest == "Unreleased" || newest.starts_with(version),
        "the changelog begins with {newest}, and the version is {version}"
    );
}
