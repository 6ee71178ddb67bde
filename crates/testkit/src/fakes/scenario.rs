//! What a fake does: the file beside it, and how a test writes it.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The rules of all fakes in one folder; the first that fits is played.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Scenario {
    pub(super) rules: Vec<Fake>,
}

/// One rule: for which call, and what happens then.
#[derive(Debug, Deserialize, Serialize)]
#[must_use]
pub struct Fake {
    pub(super) program: String,
    args: Vec<String>,
    told: Option<String>,
    pub(super) uses: Uses,
    pub(super) acts: Vec<Act>,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) enum Uses {
    Always,
    AtMost(usize),
}

/// One thing a fake does, in order.
#[derive(Debug, Deserialize, Serialize)]
pub(super) enum Act {
    Print(String),
    PrintError(String),
    Write {
        path: PathBuf,
        text: String,
    },
    Sleep(Duration),
    Flood {
        bytes: usize,
    },
    LeaveChild {
        holds_pipe_for: Duration,
        group: Group,
    },
    IgnoreTermination(Duration),
    Die {
        signal: i32,
    },
    Exit(u8),
}

/// Does a child end with its parent's process group?
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) enum Group {
    Shared,
    Own,
}

impl Fake {
    /// A rule for every call of `program`, until it is narrowed. By itself it does nothing and
    /// exits with 0.
    pub fn of(program: &str) -> Self {
        Self {
            program: program.to_owned(),
            args: Vec::new(),
            told: None,
            uses: Uses::Always,
            acts: Vec::new(),
        }
    }

    /// Only if the arguments contain these words, in this order.
    pub fn called_with<'w>(mut self, words: impl IntoIterator<Item = &'w str>) -> Self {
        self.args = words.into_iter().map(str::to_owned).collect();
        self
    }

    /// Only if `text` is in an argument or in stdin, for example a piece of a prompt.
    pub fn told(mut self, text: &str) -> Self {
        self.told = Some(text.to_owned());
        self
    }

    /// Only the first time; the following calls get the next rule that fits.
    pub fn once(self) -> Self {
        self.times(1)
    }

    pub fn times(mut self, times: usize) -> Self {
        self.uses = Uses::AtMost(times);
        self
    }

    pub fn prints(self, text: impl Into<String>) -> Self {
        self.does(Act::Print(text.into()))
    }

    pub fn prints_error(self, text: impl Into<String>) -> Self {
        self.does(Act::PrintError(text.into()))
    }

    /// Writes a file and its folders. A relative path starts at the fake's working directory.
    pub fn writes(self, path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        self.does(Act::Write {
            path: path.into(),
            text: text.into(),
        })
    }

    pub fn sleeps(self, time: Duration) -> Self {
        self.does(Act::Sleep(time))
    }

    /// Prints `bytes` bytes, or as many as the reader takes.
    pub fn floods(self, bytes: usize) -> Self {
        self.does(Act::Flood { bytes })
    }

    /// Leaves a child that keeps stdout and stderr open.
    pub fn leaves_child(self, time: Duration) -> Self {
        self.does(Act::LeaveChild {
            holds_pipe_for: time,
            group: Group::Shared,
        })
    }

    /// The same, in a process group of its own: ending ours does not end it.
    pub fn leaves_escaped_child(self, time: Duration) -> Self {
        self.does(Act::LeaveChild {
            holds_pipe_for: time,
            group: Group::Own,
        })
    }

    /// Runs on until SIGKILL. Nothing follows it.
    pub fn ignores_termination(self, time: Duration) -> Self {
        self.does(Act::IgnoreTermination(time))
    }

    /// Ends by a signal. Nothing follows it.
    pub fn dies_of(self, signal: i32) -> Self {
        self.does(Act::Die { signal })
    }

    /// Ends with this status. Nothing follows it.
    pub fn exits(self, status: u8) -> Self {
        self.does(Act::Exit(status))
    }

    /// Whether the rule is for a call with these arguments and this stdin.
    pub(super) fn fits(&self, program: &str, args: &[String], stdin: &str) -> bool {
        let mut rest = args.iter();
        let told = |text: &String| {
            stdin.contains(text.as_str()) || args.iter().any(|arg| arg.contains(text.as_str()))
        };
        self.program == program
            && self.args.iter().all(|word| rest.any(|arg| arg == word))
            && self.told.as_ref().is_none_or(told)
    }

    fn does(mut self, act: Act) -> Self {
        self.acts.push(act);
        self
    }
}
