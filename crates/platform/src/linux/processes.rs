//! Processes, as the kernel reports them below `/proc`.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use rustix::process::{getpid, getppid, set_child_subreaper};

use super::host::boot_id;
use super::proc;
use crate::process::{Ancestor, MOST_ANCESTORS};

/// Is there a process with this number? It may be a later one than the one that was meant.
pub fn exists(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// When a process started, in clock ticks since boot. With its number, that identifies it within
/// this boot.
pub fn started(pid: u32) -> Option<u64> {
    start_in(&stat(&PathBuf::from(format!("/proc/{pid}")))?)
}

/// Is the process with this number the one that started then, in this boot, and has it not ended?
pub fn is_alive(pid: u32, start: u64, boot: &str) -> bool {
    let fields = || stat(&PathBuf::from(format!("/proc/{pid}")));
    let is_it = |fields: String| start_in(&fields) == Some(start) && parent_in(&fields).is_some();
    boot == boot_id() && fields().is_some_and(is_it)
}

/// What the system reports about a process, from its state on: the fields after its name, which
/// may contain anything.
fn stat(folder: &Path) -> Option<String> {
    let line = proc::read(&folder.join("stat"), 4096)?;
    let (_, fields) = line.rsplit_once(')')?;
    Some(fields.to_owned())
}

/// The 22nd field of all.
fn start_in(stat: &str) -> Option<u64> {
    stat.split_whitespace().nth(19)?.parse().ok()
}

/// The fourth field of all, if the third does not say that the process has ended.
fn parent_in(stat: &str) -> Option<u32> {
    let mut fields = stat.split_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(parent)
}

/// The limit for the arguments of one process.
const MOST_WORDS: u64 = 16 << 10;
/// The limit for its environment; the kernel's is three times as large.
const MOST_VARIABLES: u64 = 2 << 20;

/// The ancestors of this process, the nearest first. The list ends at a process that cannot be
/// read.
pub fn ancestors() -> Vec<Ancestor> {
    let found = ancestor_pids().map(|pid| {
        let folder = PathBuf::from(format!("/proc/{pid}"));
        let program = std::fs::read_link(folder.join("exe")).unwrap_or_default();
        Ancestor {
            pid,
            program: program.to_string_lossy().into_owned(),
            args: words(&folder.join("cmdline")),
        }
    });
    found.collect()
}

/// The numbers of the ancestors of this process, the nearest first. Each is looked up when it is
/// asked for.
pub fn ancestor_pids() -> impl Iterator<Item = u32> {
    let parent = getppid().map(|pid| pid.as_raw_nonzero().get().unsigned_abs());
    let above = |pid: &u32| {
        let stat = stat(&PathBuf::from(format!("/proc/{pid}")))?;
        // The fourth field of all.
        let parent = stat.split_whitespace().nth(1)?.parse().ok()?;
        (parent != 0).then_some(parent)
    };
    std::iter::successors(parent, above).take(MOST_ANCESTORS)
}

fn words(path: &Path) -> Vec<String> {
    texts(path, MOST_WORDS)
}

/// The variables that a process was started with, each as `NAME=value`; `None` if the system does
/// not tell.
pub fn variables(pid: u32) -> Option<Vec<String>> {
    let all = texts(
        &PathBuf::from(format!("/proc/{pid}/environ")),
        MOST_VARIABLES,
    );
    (!all.is_empty()).then_some(all)
}

/// What is in a file that has a zero byte after each text.
fn texts(path: &Path, limit: u64) -> Vec<String> {
    let mut bytes = Vec::new();
    if let Ok(file) = File::open(path) {
        let _ = file.take(limit).read_to_end(&mut bytes);
    }
    let words = bytes
        .split(|byte| *byte == 0)
        .take_while(|word| !word.is_empty());
    words
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect()
}

/// Processes below this one that lose their parent become its children, whatever their group or
/// session, so that [`end_below`] finds them.
pub fn adopt_orphans() {
    let _ = set_child_subreaper(Some(getpid()));
}

/// The processes below this one that have not ended.
pub(crate) fn descendants(ancestor: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten();
    let living: Vec<(u32, u32)> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, living_parent(pid)?)))
        .collect();
    let mut found = vec![ancestor];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        let children = living.iter().filter(|(_, of)| *of == parent);
        found.extend(children.map(|(pid, _)| *pid));
        next += 1;
    }
    found.split_off(1)
}

/// The parent of a process, if that process has not ended.
fn living_parent(pid: u32) -> Option<u32> {
    parent_in(&stat(&PathBuf::from(format!("/proc/{pid}")))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_ended_is_dead_before_its_parent_waits_for_it() {
        #[expect(clippy::disallowed_methods, reason = "it is only there to be ended")]
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let (pid, start) = (child.id(), started(child.id()).unwrap());
        assert!(is_alive(pid, start, boot_id()));
        child.kill().unwrap();
        // Until its parent waits for it, a process that ended keeps its number.
        while living_parent(pid).is_some() {
            std::thread::yield_now();
        }
        assert!(!is_alive(pid, start, boot_id()));
        child.wait().unwrap();
        assert!(!is_alive(pid, start, boot_id()));
    }
}
