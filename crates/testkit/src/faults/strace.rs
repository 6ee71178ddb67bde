//! strace as the injector. `when=k` counts per name of a call, so a sweep goes over names
//! and, for each, over its occurrences in the trace of a healthy run.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path as FilePath;
use std::process::{Command, Stdio};

use crate::world::World;

/// What a run printed, and how it ended.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) stdout: String,
    pub(super) code: Option<i32>,
    pub(super) trace: String,
}

/// Runs the hook on the event under strace, with what is injected.
pub(super) fn run(mainspring: &FilePath, world: &World, event: &[u8], inject: Option<&str>) -> Ran {
    let event_file = world.root().join("event");
    let trace_file = world.root().join("trace");
    fs::write(&event_file, event).expect("room for an event");
    let mut command = Command::new("strace");
    command.args(["-qq", "-o"]).arg(&trace_file);
    if let Some(inject) = inject {
        command.arg("-e").arg(format!("inject={inject}"));
    }
    let output = command
        .arg(mainspring)
        .arg("hook")
        .env_clear()
        .env("HOME", world.home())
        .env("PATH", "/usr/bin:/bin")
        .envs(world.env())
        .current_dir(world.project())
        .stdin(File::open(&event_file).expect("the event is there"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .output()
        .expect("strace runs");
    Ran {
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        code: output.status.code(),
        trace: fs::read_to_string(&trace_file).unwrap_or_default(),
    }
}

/// How often each call occurs after the program has started.
pub(super) fn calls(trace: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for line in trace.lines() {
        let Some((name, _)) = line.split_once('(') else {
            continue;
        };
        let is_name = name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if is_name && name != "execve" && !name.is_empty() {
            *counts.entry(name.to_owned()).or_insert(0) += 1;
        }
    }
    counts
}

/// Calls that touch files or the lock, or speak.
pub(super) fn touches_files(name: &str) -> bool {
    [
        "openat",
        "read",
        "pread64",
        "write",
        "pwrite64",
        "statx",
        "newfstatat",
        "fdatasync",
        "fsync",
        "rename",
        "unlink",
        "mkdir",
        "flock",
        "readlink",
        "close",
        "getdents64",
        "ftruncate",
        "syncfs",
    ]
    .contains(&name)
}
