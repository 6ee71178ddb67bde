//! Processes: whether they are alive, and how to end a group of them.

use std::fs::File;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, getpgrp, getpid, getppid, kill_process, kill_process_group, set_child_subreaper,
};

use crate::host::boot_id;
use crate::proc;

/// How long we look for descendants of a process to end them.
const ENDING: Duration = Duration::from_secs(2);

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

/// An ancestor of this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ancestor {
    pub pid: u32,
    /// The program's file; empty if it may not be read.
    pub program: String,
    /// Its arguments, including its own name.
    pub args: Vec<String>,
}

/// The limit for ancestors: no real tree is deeper.
const MOST_ANCESTORS: usize = 64;
/// The limit for the arguments of one process.
const MOST_WORDS: u64 = 16 << 10;

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
    let mut bytes = Vec::new();
    if let Ok(file) = File::open(path) {
        let _ = file.take(MOST_WORDS).read_to_end(&mut bytes);
    }
    let words = bytes
        .split(|byte| *byte == 0)
        .take_while(|word| !word.is_empty());
    words
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect()
}

/// The child will lead a process group of its own, with everything that it starts.
pub fn lead_group(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// Ends the group that this process leads, if it is still there.
pub fn end_group(leader: u32) {
    if let Some(group) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Ends the group that we belong to, ourselves included.
pub fn end_own_group() {
    let _ = kill_process_group(getpgrp(), Signal::KILL);
}

/// Ends one process, if it is still there.
pub fn end_process(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Processes below this one that lose their parent become its children, whatever their group or
/// session, so that [`end_below`] finds them.
pub fn adopt_orphans() {
    let _ = set_child_subreaper(Some(getpid()));
}

/// Ends a process that adopts orphans, and everything below it. Nobody may have waited for it
/// before, because its number could belong to another process by now.
pub fn end_tree(ancestor: u32) {
    // It ends last, because its descendants are found through it.
    end_below(ancestor);
    end_group(ancestor);
}

/// Ends everything below a process that adopts orphans. More processes may start meanwhile, so this
/// repeats until there are none, or gives up if they start faster than they end.
pub fn end_below(ancestor: u32) {
    let start = Instant::now();
    while start.elapsed() < ENDING {
        let below = descendants(ancestor);
        if below.is_empty() {
            return;
        }
        below.into_iter().for_each(end_process);
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The processes below this one that have not ended.
fn descendants(ancestor: u32) -> Vec<u32> {
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

/// A child's exit code; if a signal ended it, the code that a shell would report.
pub fn exit_code(status: ExitStatus) -> i32 {
    status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_ancestor_is_the_process_that_started_this_one() {
        let found = ancestors();
        let parent = getppid().unwrap().as_raw_nonzero().get();
        assert_eq!(i64::from(found[0].pid), i64::from(parent));
        assert!(!found[0].args.is_empty(), "{found:?}");
    }

    #[test]
    fn this_process_lives_and_keeps_its_start() {
        let me = std::process::id();
        assert!(exists(me));
        assert!(started(me).is_some());
        assert_eq!(started(me), started(me));
        assert!(!exists(u32::MAX));
        assert_eq!(started(u32::MAX), None);
    }

    #[test]
    fn a_process_is_told_from_a_later_one_with_its_number_and_from_one_that_ended() {
        let me = std::process::id();
        let start = started(me).unwrap();
        assert!(is_alive(me, start, boot_id()));
        assert!(!is_alive(me, start + 1, boot_id()));
        assert!(!is_alive(me, start, "another boot"));
        #[expect(clippy::disallowed_methods, reason = "it is only there to be ended")]
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
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
