//! strace as the injector. `when=k` counts per name of a call, so a sweep goes over the names and,
//! for each, over its occurrences in the trace of a healthy run.

use std::collections::BTreeMap;

use super::paths::Path;

/// The options for one fault at one call, and for a trace of only that call.
#[derive(Debug)]
pub(super) struct Injection {
    trace: String,
    inject: String,
    /// Only the chosen calls stop the process. That takes `-f`, with which every process has its
    /// own count, so it is not used with children. And then no signal is sent.
    filtered: bool,
}

impl Injection {
    /// `fault` is what strace takes after the call's name.
    pub(super) fn new(path: &Path, call: &str, fault: &str) -> Self {
        Self {
            trace: format!("trace={call}"),
            inject: format!("inject={call}:{fault}"),
            filtered: !path.has_children && fault.starts_with("error="),
        }
    }

    pub(super) fn options(&self) -> Vec<&str> {
        let mut options = vec!["-y", "-e", &self.trace, "-e", &self.inject];
        if self.filtered {
            options.extend(["-f", "--seccomp-bpf"]);
        }
        options
    }
}

/// How often each call occurs after the program has started.
pub(super) fn calls(trace: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for name in trace.lines().filter_map(name) {
        if name != "execve" {
            *counts.entry(name.to_owned()).or_insert(0) += 1;
        }
    }
    counts
}

/// The name of the call in a line.
pub(super) fn name(line: &str) -> Option<&str> {
    let (name, _) = line.split_once('(')?;
    let is_name = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then_some(name)
}

/// Calls that touch files or the lock, or that print.
pub(super) fn touches_files(name: &str) -> bool {
    [
        "open",
        "openat",
        "openat2",
        "read",
        "pread64",
        "write",
        "pwrite64",
        "statx",
        "fstat",
        "newfstatat",
        "fdatasync",
        "fsync",
        "rename",
        "renameat",
        "renameat2",
        "unlink",
        "unlinkat",
        "mkdir",
        "mkdirat",
        "rmdir",
        "flock",
        "readlink",
        "close",
        "getdents64",
        "ftruncate",
        "fchmod",
        "lseek",
        "syncfs",
    ]
    .contains(&name)
}

/// Calls that change the disk, or who may write to it.
pub(super) fn changes_files(name: &str) -> bool {
    [
        "write",
        "pwrite64",
        "fdatasync",
        "fsync",
        "rename",
        "renameat",
        "renameat2",
        "unlink",
        "unlinkat",
        "mkdir",
        "mkdirat",
        "rmdir",
        "flock",
        "ftruncate",
        "fchmod",
        "syncfs",
    ]
    .contains(&name)
}

pub(super) fn syncs(name: &str) -> bool {
    ["fdatasync", "fsync", "syncfs"].contains(&name)
}
