//! The folder of the fakes, with their rules and the calls that they store.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::call::{self, Call};
use super::scenario::{Fake, Scenario};
use crate::{bins, files};

/// The names of the files beside the fakes.
pub(super) const SCENARIO: &str = "scenario.json";
pub(super) const LOG: &str = "calls.jsonl";

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
            // Not a symbolic link: a fake finds its name by its own path.
            if !place.exists() && fs::hard_link(&original, &place).is_err() {
                fs::copy(&original, &place).expect("a fake can be put there");
            }
        }
        let scenario = serde_json::to_vec(&Scenario { rules }).expect("rules are plain data");
        files::write(folder.path().join(SCENARIO), scenario);
        Self { folder }
    }

    /// The folder that must come first on the caller's PATH.
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
