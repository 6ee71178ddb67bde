//! strace as the injector. `when=k` counts per name of a call, so a sweep goes over names
//! and, for each, over its occurrences in the trace of a healthy run.

use std::collections::BTreeMap;

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

/// The call that a line is about.
pub(super) fn name(line: &str) -> Option<&str> {
    let (name, _) = line.split_once('(')?;
    let is_name = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then_some(name)
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
        "fstat",
        "newfstatat",
        "fdatasync",
        "fsync",
        "rename",
        "unlink",
        "mkdir",
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

/// Calls after which the disk, or who may write to it, is another.
pub(super) fn changes_files(name: &str) -> bool {
    [
        "write",
        "pwrite64",
        "fdatasync",
        "fsync",
        "rename",
        "unlink",
        "mkdir",
        "rmdir",
        "flock",
        "ftruncate",
        "fchmod",
        "syncfs",
    ]
    .contains(&name)
}
