//! Where the pinned real clients are.

use std::path::{Path, PathBuf};

/// The versions are in one file, which `scripts/fetch-clients` reads too.
const PINS: &str = include_str!("../../../clients.pin");

/// The pinned version of a client.
pub fn pinned_version(client: &str) -> &'static str {
    PINS.lines()
        .find_map(|line| {
            let mut words = line.split_whitespace();
            (words.next() == Some(client)).then(|| words.nth(1))?
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
    let program = workspace()
        .join("target/clients")
        .join(format!("claude-{}", pinned_version("claude")))
        .join("node_modules/.bin/claude");
    assert!(
        program.is_file(),
        "the real client is not installed: run scripts/fetch-clients"
    );
    Client::Installed(program)
}

/// The accessibility checker that is run inside the page: its script.
///
/// # Panics
/// When it is not installed, with the command that installs it.
pub fn axe() -> String {
    let script = workspace()
        .join("target/clients")
        .join(format!("axe-{}", pinned_version("axe")))
        .join("node_modules/axe-core/axe.min.js");
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
