//! Processes, as `ps` reports them.

use std::collections::BTreeSet;

use rustix::process::getppid;

use super::ps::{Process, Which, processes, texts};
use crate::process::{Ancestor, MOST_ANCESTORS};

/// Is there a process with this number? It may be a later one than the one that was meant.
pub fn exists(pid: u32) -> bool {
    one(pid).is_some()
}

/// When a process started, in seconds since 1970. With its number, that identifies it.
pub fn started(pid: u32) -> Option<u64> {
    Some(one(pid)?.started)
}

/// Is the process with this number the one that started then, and has it not ended? The time
/// already tells one boot from another. Where the system counts it from the boot, it may come out a
/// second later when the clock was set; no number is used again within that time.
pub fn is_alive(pid: u32, start: u64, _boot: &str) -> bool {
    started(pid).is_some_and(|found| found.abs_diff(start) <= 1)
}

/// The variables that a process was started with: no system tells in one way.
pub fn variables(_: u32) -> Option<Vec<String>> {
    None
}

fn one(pid: u32) -> Option<Process> {
    processes(Which::These(&[pid])).remove(&pid)
}

/// The ancestors of this process, the nearest first. The list ends at a process that cannot be
/// read. `ps` separates arguments by spaces, so an argument with a space is taken for two.
pub fn ancestors() -> Vec<Ancestor> {
    let pids: Vec<u32> = ancestor_pids().collect();
    let programs = texts(&pids, "comm");
    let args = texts(&pids, "args");
    let ancestor = |pid: &u32| Ancestor {
        pid: *pid,
        program: programs.get(pid).cloned().unwrap_or_default(),
        args: args.get(pid).map_or_else(Vec::new, |args| {
            args.split_whitespace().map(str::to_owned).collect()
        }),
    };
    pids.iter().map(ancestor).collect()
}

/// The numbers of the ancestors of this process, the nearest first. One question answers for all.
pub fn ancestor_pids() -> impl Iterator<Item = u32> {
    let parent = getppid().map(|pid| pid.as_raw_nonzero().get().unsigned_abs());
    let all = processes(Which::All);
    let above = move |pid: &u32| {
        let parent = all.get(pid)?.parent;
        (parent != 0).then_some(parent)
    };
    std::iter::successors(parent, above).take(MOST_ANCESTORS)
}

/// POSIX gives an orphan to the first process. [`descendants`] finds the ones that stayed in the
/// group; one that began a session of its own is lost.
pub fn adopt_orphans() {}

/// The processes below this one, and the others of its group, that have not ended.
pub(crate) fn descendants(ancestor: u32) -> Vec<u32> {
    let all = processes(Which::All);
    let group = all.get(&ancestor).map(|process| process.group);
    // Only a group that it leads has nobody else in it.
    let group = group.filter(|group| *group == ancestor);
    let mut found: BTreeSet<u32> = BTreeSet::new();
    loop {
        let more: Vec<u32> = all
            .iter()
            .filter(|(pid, process)| {
                let is_below = process.parent == ancestor || found.contains(&process.parent);
                **pid != ancestor && (is_below || Some(process.group) == group)
            })
            .map(|(pid, _)| *pid)
            .filter(|pid| !found.contains(pid))
            .collect();
        if more.is_empty() {
            return found.into_iter().collect();
        }
        found.extend(more);
    }
}
