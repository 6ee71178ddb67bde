//! A driver for the real `gh`.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use super::GitHub;
use crate::clients::Client;
use crate::process::{Finished, PATIENCE, Running};

/// A `gh` that hangs is a failed test, not a test that never ends.
const LIMIT: Duration = PATIENCE;
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Finds `gh`: the one that `MAINSPRING_TEST_GH` names, otherwise the system's. It is skipped with
/// `MAINSPRING_SKIP_GH=1`, or if all clients are skipped.
///
/// # Panics
/// When it is not installed, with the command that installs it.
#[expect(clippy::print_stderr, reason = "a skipped test must say so")]
pub fn client() -> Client {
    if let Some(named) = std::env::var_os("MAINSPRING_TEST_GH") {
        return Client::Installed(named.into());
    }
    for switch in ["MAINSPRING_SKIP_CLIENTS", "MAINSPRING_SKIP_GH"] {
        if std::env::var_os(switch).is_some_and(|value| value == "1") {
            eprintln!("skipped: {switch}=1, so the real gh was not run");
            return Client::Skipped;
        }
    }
    let places = PATH.split(':').map(|folder| Path::new(folder).join("gh"));
    let found = places.into_iter().find(|place| place.is_file());
    Client::Installed(found.expect("the real gh is not installed: run ./test, which installs gh"))
}

fn program() -> PathBuf {
    match client() {
        Client::Installed(program) => program,
        Client::Skipped => panic!("a test that runs gh asks github::client() first"),
    }
}

/// One run of `gh` before its start: with nothing from our environment, and a home of its own.
#[derive(Debug)]
#[must_use]
pub struct Gh {
    arguments: Vec<OsString>,
    env: Vec<(String, String)>,
    home: PathBuf,
    folder: PathBuf,
    input: Vec<u8>,
    limit: Duration,
}

impl Gh {
    pub(super) fn new<'a>(github: &GitHub, arguments: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            arguments: arguments.into_iter().map(OsString::from).collect(),
            env: github.env(),
            home: github.home().to_owned(),
            folder: github.home().to_owned(),
            input: Vec::new(),
            limit: LIMIT,
        }
    }

    /// Sets a variable, or another value for it.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.retain(|(known, _)| known != name);
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn current_dir(self, folder: &Path) -> Self {
        let folder = folder.to_owned();
        Self { folder, ..self }
    }

    /// Its stdin.
    pub fn input(self, input: impl Into<Vec<u8>>) -> Self {
        let input = input.into();
        Self { input, ..self }
    }

    pub fn limit(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }

    pub fn start(&self) -> Running {
        let mut command = Command::new(program());
        command
            .args(&self.arguments)
            .env_clear()
            .env("HOME", &self.home)
            .env("PATH", PATH)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.folder);
        Running::start_with(&mut command, self.input.clone())
    }

    pub fn run(&self) -> Finished {
        self.start().wait(self.limit)
    }

    /// Runs it and returns its output; it must succeed.
    pub fn printed(&self) -> String {
        let run = self.run();
        let arguments = &self.arguments;
        assert!(run.succeeded(), "gh {arguments:?}: {}", run.stderr_text());
        run.stdout_text()
    }

    /// The same, for output in JSON.
    pub fn printed_json(&self) -> Value {
        serde_json::from_str(&self.printed()).expect("gh printed JSON")
    }
}

/// A `gh` for a PATH that records each start and then becomes the real one, so that killing it
/// kills that.
#[derive(Debug)]
pub struct CountedGh {
    folder: TempDir,
}

impl CountedGh {
    pub fn install() -> Self {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let starts = folder.path().join("starts");
        fs::create_dir(&starts).expect("the folder is ours");
        let script = format!(
            "#!/bin/sh\nnote=$(mktemp '{}/XXXXXXXXXX') && printf '%s\\0' \"$@\" >\"$note\"\nexec '{}' \"$@\"\n",
            starts.display(),
            program().display()
        );
        let shim = folder.path().join("gh");
        fs::write(&shim, script).expect("the folder is ours");
        fs::set_permissions(&shim, fs::Permissions::from_mode(0o755)).expect("the file is ours");
        Self { folder }
    }

    /// The folder that must come first on the caller's PATH.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The path for callers that are configured with one.
    pub fn program(&self) -> PathBuf {
        self.folder.path().join("gh")
    }

    /// The arguments of each start, oldest first.
    pub fn starts(&self) -> Vec<Vec<String>> {
        let entries = fs::read_dir(self.folder.path().join("starts")).expect("the folder is ours");
        let mut starts: Vec<_> = entries
            .map(|entry| {
                let path = entry.expect("a readable folder").path();
                let written = fs::metadata(&path).and_then(|metadata| metadata.modified());
                let noted = fs::read(&path).expect("a readable note");
                let words = noted.split(|byte| *byte == 0);
                let mut words: Vec<_> = words
                    .map(|word| String::from_utf8_lossy(word).into_owned())
                    .collect();
                words.pop();
                (written.expect("a file has a time"), words)
            })
            .collect();
        starts.sort();
        starts.into_iter().map(|(_, words)| words).collect()
    }
}
