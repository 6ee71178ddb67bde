//! Costs that do not depend on how busy the machine is: system calls, bytes, instructions, memory.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::spawn::Spawn;

/// What one start costs. `None`: the tool that counts it is not installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) calls: Option<u64>,
    pub(crate) bytes_read: Option<u64>,
    pub(crate) instructions: Option<u64>,
    /// The peak of its memory.
    pub(crate) peak_kib: Option<u64>,
    /// Page faults without disk access.
    pub(crate) faults: Option<u64>,
}

impl Counts {
    pub(super) fn json(self) -> Value {
        json!({
            "system_calls": self.calls,
            "bytes_read": self.bytes_read,
            "instructions": self.instructions,
            "peak_kib": self.peak_kib,
            "page_faults": self.faults,
        })
    }
}

/// The installed tools that count.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counters {
    strace: bool,
    valgrind: bool,
    time: bool,
}

impl Counters {
    pub(crate) fn find() -> Self {
        Self {
            strace: is_here("strace"),
            valgrind: is_here("valgrind"),
            time: is_here("time"),
        }
    }

    /// Are the tools for the budget installed?
    pub(super) fn can_price(self) -> bool {
        self.strace && self.valgrind
    }

    /// What is left out, one line each.
    pub(crate) fn missing(self) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.strace {
            lines.push("strace is not here: system calls and bytes read are not counted".into());
        }
        if !self.valgrind {
            lines.push("valgrind is not here: instructions are not counted".into());
        }
        if !self.time {
            lines.push("GNU time is not here: memory and page faults are not counted".into());
        }
        lines
    }

    /// Counts one start with each tool, with `reset` before each.
    pub(crate) fn count(self, spawn: &Spawn, reset: impl Fn()) -> Counts {
        let trace = self.strace.then(|| {
            reset();
            trace(spawn, &["-f"])
        });
        let instructions = self.valgrind.then(|| {
            reset();
            instructions(spawn)
        });
        let memory = self.time.then(|| {
            reset();
            memory(spawn)
        });
        Counts {
            calls: trace.as_deref().map(calls),
            bytes_read: trace.as_deref().map(bytes_read),
            instructions,
            peak_kib: memory.map(|(peak, _)| peak),
            faults: memory.map(|(_, faults)| faults),
        }
    }
}

/// Is a program on the PATH?
pub(super) fn is_here(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// A line for each system call of the program, and with `-f` of its children.
pub(super) fn trace(spawn: &Spawn, how: &[&str]) -> String {
    let file = spawn.folder().join("trace");
    let path = file.to_string_lossy();
    let mut strace = vec!["strace", "-qq", "-e", "signal=none", "-o", &path];
    strace.extend(how);
    spawn.under(&strace);
    fs::read_to_string(&file).expect("strace has written it")
}

/// A line of `strace -f`: `1234  read(0, "…", 10) = 10`, or in two pieces if another process's call
/// came between.
#[derive(Debug, PartialEq, Eq)]
struct Line<'a> {
    name: &'a str,
    begins: bool,
    rest: &'a str,
}

impl<'a> Line<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let line = line.trim_start_matches(|byte: char| byte.is_ascii_digit() || byte == ' ');
        let (begins, (name, rest)) = match line.strip_prefix("<... ") {
            Some(line) => (false, line.split_once(" resumed>")?),
            None => (true, line.split_once('(')?),
        };
        let is_name = name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        (is_name && !name.is_empty()).then_some(Self { name, begins, rest })
    }

    fn result(&self) -> Option<u64> {
        self.rest.rsplit_once("= ")?.1.trim().parse().ok()
    }
}

fn calls(trace: &str) -> u64 {
    let lines = trace.lines().filter_map(Line::parse);
    lines.filter(|line| line.begins).count() as u64
}

fn bytes_read(trace: &str) -> u64 {
    trace
        .lines()
        .filter_map(Line::parse)
        .filter(|line| ["read", "pread64", "readv", "preadv"].contains(&line.name))
        .filter_map(|line| line.result())
        .sum()
}

/// The bytes of the program and its children.
fn instructions(spawn: &Spawn) -> u64 {
    let output = spawn.under(&[
        "valgrind",
        "--tool=callgrind",
        "--trace-children=yes",
        "--callgrind-out-file=/dev/null",
    ]);
    let text = String::from_utf8_lossy(&output.stderr);
    let counts: Vec<u64> = text
        .lines()
        .filter_map(|line| line.split_once("Collected :")?.1.trim().parse().ok())
        .collect();
    assert!(!counts.is_empty(), "callgrind collected nothing: {text}");
    counts.iter().sum()
}

/// The peak in KiB, and the page faults. GNU time is small, so its own memory hardly changes the
/// child's peak.
fn memory(spawn: &Spawn) -> (u64, u64) {
    let file = spawn.folder().join("memory");
    let path = file.to_string_lossy();
    spawn.under(&["time", "-f", "%M %R", "-o", &path]);
    let text = fs::read_to_string(&file).expect("time has written it");
    let (peak, faults) = text.trim().split_once(' ').expect("two numbers");
    let number = |text: &str| text.parse().expect("a number");
    (number(peak), number(faults))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "\
7  execve(\"/x\", [\"x\"], 0x7ff /* 2 vars */) = 0
7  read(0, \"{\\\"a = 9\\\"}\"..., 1024) = 12
7  openat(AT_FDCWD, \"/none\", O_RDONLY) = -1 ENOENT (No such file or directory)
7  pread64(3,  <unfinished ...>
8  exit_group(0)                           = ?
8  +++ exited with 0 +++
7  <... pread64 resumed>\"x\", 1, 0)        = 1
7  read(0, \"\", 1024)                     = 0
7  exit_group(0)                           = ?
";

    #[test]
    fn every_call_counts_once() {
        assert_eq!(calls(TRACE), 7);
    }

    #[test]
    fn only_what_was_read_counts() {
        assert_eq!(bytes_read(TRACE), 13);
    }
}
