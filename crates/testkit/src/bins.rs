//! The kit's own programs, for tests of any crate.
//!
//! Cargo tells a test only where its own package's programs are, and does not build another
//! package's. So they are looked for where Cargo would put them, beside the running test's profile,
//! and built there if they are missing or older than their sources.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use crate::clients::workspace;
use crate::process::Running;

const PROGRAMS: [&str; 2] = ["hook-tee", "fake-cli"];
/// Enough for a clean build of the kit on a busy machine.
const BUILD_LIMIT: Duration = Duration::from_secs(600);

/// The recorder that hooks are wrapped in.
pub fn hook_tee() -> PathBuf {
    profile().join("hook-tee")
}

/// The program that plays `claude`, `gh` and others.
pub fn fake_cli() -> PathBuf {
    profile().join("fake-cli")
}

/// The product, as it was built beside this program.
pub(crate) fn mainspring() -> PathBuf {
    profile_of_this_test().join("mainspring")
}

/// The folder with up-to-date programs.
fn profile() -> &'static Path {
    static PROFILE: OnceLock<PathBuf> = OnceLock::new();
    PROFILE.get_or_init(|| {
        let profile = profile_of_this_test();
        if !is_current(&profile) {
            // Each test is a process of its own: one builds, the others wait.
            let lock = File::create(profile.join(".testkit-bins.lock")).expect("target is ours");
            lock.lock().expect("a lock on a local file");
            if !is_current(&profile) {
                build(&profile);
            }
        }
        profile
    })
}

/// `target/…/debug` of `target/…/debug/deps/some_test-0123`.
fn profile_of_this_test() -> PathBuf {
    let test = std::env::current_exe().expect("the test has a path");
    let folder = test.parent().expect("it is in a folder");
    let profile = if folder.ends_with("deps") {
        folder.parent().expect("deps is in the profile's folder")
    } else {
        folder
    };
    profile.to_path_buf()
}

fn is_current(profile: &Path) -> bool {
    let built = PROGRAMS.map(|name| modified(&profile.join(name)));
    let sources = newest(&workspace().join("crates/testkit/src"));
    built.into_iter().all(|program| program >= sources)
}

/// The time of the newest file below `folder`.
fn newest(folder: &Path) -> Option<SystemTime> {
    let entries = fs::read_dir(folder).expect("the kit's sources are there");
    entries
        .map(|entry| entry.expect("a readable folder").path())
        .map(|path| {
            if path.is_dir() {
                newest(&path)
            } else {
                modified(&path)
            }
        })
        .max()
        .flatten()
}

fn modified(file: &Path) -> Option<SystemTime> {
    fs::metadata(file)
        .and_then(|metadata| metadata.modified())
        .ok()
}

fn build(profile: &Path) {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["build", "--quiet", "--package=mainspring-testkit"])
        .args(PROGRAMS.map(|name| format!("--bin={name}")))
        .current_dir(workspace());
    match profile.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => {}
        Some(named) => {
            command.arg("--profile").arg(named);
        }
    }
    let done = Running::start(&mut command).wait(BUILD_LIMIT);
    assert!(done.succeeded(), "{command:?}: {}", done.stderr_text());
}
