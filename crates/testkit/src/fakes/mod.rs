//! Scripted stand-ins for `claude`, `gh` and other programs, as real executables.
//!
//! ```no_run
//! use mainspring_testkit::fakes::{Fake, Fakes};
//!
//! let fakes = Fakes::install([
//!     Fake::of("gh").called_with(["pr", "create"]).once().prints("https://github.com/o/r/pull/7\n"),
//!     Fake::of("gh").called_with(["pr", "create"]).prints_error("already exists\n").exits(1),
//!     Fake::of("claude")
//!         .told("Review the plan")
//!         .writes("review-1.md", "looks good")
//!         .prints(r#"{"structured_output":{"verdict":"PASS"}}"#),
//! ]);
//! // … run something with `fakes.folder()` first on its PATH …
//! assert_eq!(fakes.calls_of("gh").len(), 1);
//! ```
//!
//! The first rule that fits is played, once its uses are up the next one. A call
//! that no rule is for exits with 97 and says so; every call is kept to the
//! byte. A fake needs nothing from the environment, so the caller may clear it.

mod call;
mod player;
mod scenario;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

pub use call::{Call, Played, Stdin};
pub use player::play;
pub use scenario::Fake;
use scenario::Scenario;

use crate::bins;

/// The names of what lies beside the fakes.
const SCENARIO: &str = "scenario.json";
const LOG: &str = "calls.jsonl";

/// A folder of fakes, alive until it is dropped.
#[derive(Debug)]
pub struct Fakes {
    folder: TempDir,
}

impl Fakes {
    pub fn install(rules: impl IntoIterator<Item = Fake>) -> Self {
        let rules: Vec<Fake> = rules.into_iter().collect();
        let folder = tempfile::tempdir().expect("a temporary directory");
        let original = bins::fake_cli();
        for rule in &rules {
            let place = folder.path().join(&rule.program);
            // Not a symbolic link: a fake knows by its own path who it is.
            if !place.exists() && fs::hard_link(&original, &place).is_err() {
                fs::copy(&original, &place).expect("a fake can be put there");
            }
        }
        let scenario = serde_json::to_vec(&Scenario { rules }).expect("rules are plain data");
        fs::write(folder.path().join(SCENARIO), scenario).expect("the folder is ours");
        Self { folder }
    }

    /// What belongs first on the caller's PATH.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A fake's own path, for callers that are configured with one.
    pub fn program(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A PATH with the fakes first and the system's programs after.
    pub fn path(&self) -> OsString {
        let mut path = self.folder.path().as_os_str().to_owned();
        path.push(":/usr/local/bin:/usr/bin:/bin");
        path
    }

    /// All calls, in order.
    pub fn calls(&self) -> Vec<Call> {
        call::read(&self.folder.path().join(LOG))
    }

    pub fn calls_of(&self, program: &str) -> Vec<Call> {
        let mut calls = self.calls();
        calls.retain(|call| call.program == program);
        calls
    }
}
