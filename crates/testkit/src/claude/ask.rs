//! One headless run.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use super::Claude;
use crate::process::{End, PATIENCE, Running};

/// A headless run before its start.
#[derive(Debug)]
#[must_use]
pub struct Ask<'a> {
    claude: &'a Claude,
    args: Vec<OsString>,
    folder: PathBuf,
}

/// A headless run in progress.
#[derive(Debug)]
pub struct Asked<'a> {
    claude: &'a Claude,
    running: Running,
}

/// A run that is over.
#[derive(Debug)]
pub struct Run {
    pub end: End,
    /// The result object, or null where none was printed.
    pub result: Value,
    pub stdout: String,
    pub stderr: String,
    pub duration: Duration,
    /// Where the client keeps this session's entries.
    pub transcript: PathBuf,
}

impl<'a> Ask<'a> {
    pub(super) fn new(claude: &'a Claude, prompt: &str) -> Self {
        Self {
            claude,
            args: Vec::new(),
            folder: claude.project().to_path_buf(),
        }
        .args(["-p", prompt, "--output-format", "json"])
    }

    /// Goes on with the project's latest session, under the same id.
    pub fn continuing(self) -> Self {
        self.args(["--continue"])
    }

    /// Goes on with a session, under the same id.
    pub fn resuming(self, session: &str) -> Self {
        self.args(["--resume", session])
    }

    /// Goes on with a session under a new id.
    pub fn forking(self, session: &str) -> Self {
        self.args(["--resume", session, "--fork-session"])
    }

    /// Demands an answer in this schema: see `Turn::structured`.
    pub fn in_schema(self, schema: &Value) -> Self {
        self.args(["--json-schema", &schema.to_string()])
    }

    pub fn args<Arg: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = Arg>) -> Self {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Starts the client in another folder than the project: a worktree, say.
    pub fn in_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = folder.into();
        self
    }

    /// Starts the run and does not wait for it.
    pub fn start(self) -> Asked<'a> {
        let mut command = self.claude.client();
        Asked {
            claude: self.claude,
            running: Running::start(command.args(&self.args).current_dir(self.folder)),
        }
    }

    /// Runs to the end.
    pub fn run(self) -> Run {
        self.start().wait()
    }
}

impl Asked<'_> {
    pub fn id(&self) -> u32 {
        self.running.id()
    }

    /// Waits for the end.
    pub fn wait(self) -> Run {
        self.wait_for(PATIENCE)
    }

    /// Waits for the end, or kills the client after this time.
    pub fn wait_for(self, limit: Duration) -> Run {
        let finished = self.running.wait(limit);
        let stdout = finished.stdout_text();
        let result: Value = serde_json::from_str(&stdout).unwrap_or_default();
        let transcript = self
            .claude
            .transcript(result["session_id"].as_str().unwrap_or_default());
        Run {
            end: finished.end,
            stderr: finished.stderr_text(),
            duration: finished.duration,
            transcript,
            result,
            stdout,
        }
    }

    /// Kills the client, as a crash would.
    pub fn kill(self) {
        self.running.kill();
    }
}

impl Run {
    pub fn session_id(&self) -> &str {
        self.result["session_id"].as_str().unwrap_or_default()
    }

    /// The last text, as the person sees it.
    pub fn answer(&self) -> &str {
        self.result["result"].as_str().unwrap_or_default()
    }

    /// The object demanded by [`Ask::in_schema`], or null.
    pub fn structured_output(&self) -> &Value {
        &self.result["structured_output"]
    }

    /// The transcript's entries, oldest first; lines that are not JSON are left out.
    pub fn entries(&self) -> Vec<Value> {
        fs::read_to_string(&self.transcript)
            .unwrap_or_default()
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }

    /// Fails with everything the client printed unless it ended well.
    #[track_caller]
    #[expect(clippy::return_self_not_must_use, reason = "sometimes success is all")]
    pub fn expect_success(self) -> Self {
        let well = matches!(self.end, End::Exited(status) if status.success());
        assert!(well, "the client did not end well: {self:#?}");
        self
    }
}
