//! Processes: whether they are alive, and how to end a group of them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::windows::io::OwnedHandle;
use std::os::windows::process::CommandExt;
use std::process::{Child, Command, ExitStatus};

use windows_sys::Win32::System::Threading::{CREATE_NO_WINDOW, CREATE_SUSPENDED};

use super::api::{self, Process};
use super::host::boot_id;
use crate::process::{Ancestor, MOST_ANCESTORS, end_below};

/// Does a group go on when the process that started it is killed? The system ends a job with the
/// last handle to it.
pub const GROUPS_OUTLIVE_US: bool = false;

/// A child with everything that it starts, which ends at the latest with us.
#[derive(Debug)]
pub struct Group {
    job: OwnedHandle,
}

impl Group {
    /// Starts a child in a group of its own. It waits until it is in the group, so that nothing that
    /// it starts is outside.
    pub fn start(command: &mut Command) -> io::Result<(Child, Self)> {
        let job = api::new_job()?;
        let mut child = command
            .creation_flags(CREATE_SUSPENDED | CREATE_NO_WINDOW)
            .spawn()?;
        let begun = api::assign(&job, &child).and_then(|()| api::resume(&child));
        if let Err(error) = begun {
            let _ = child.kill();
            return Err(error);
        }
        Ok((child, Self { job }))
    }

    /// Ends what is left of the group.
    pub fn end(&self) {
        api::end_job(&self.job);
    }
}

/// Is there a process with this number? It may be a later one than the one that was meant.
pub fn exists(pid: u32) -> bool {
    Process::open(pid).is_some_and(|process| process.is_running())
}

/// When a process started, in units of 100 ns since 1601. With its number, that identifies it.
pub fn started(pid: u32) -> Option<u64> {
    Process::open(pid)?.started()
}

/// Is the process with this number the one that started then, in this boot, and has it not ended?
pub fn is_alive(pid: u32, start: u64, boot: &str) -> bool {
    let is_it = |process: Process| process.started() == Some(start) && process.is_running();
    boot == boot_id() && Process::open(pid).is_some_and(is_it)
}

/// The variables that a process was started with: the system does not tell.
pub fn variables(_: u32) -> Option<Vec<String>> {
    None
}

/// The ancestors of this process, the nearest first. The list ends at a process that cannot be
/// read.
pub fn ancestors() -> Vec<Ancestor> {
    let ancestor = |pid| {
        let process = Process::open(pid)?;
        Some(Ancestor {
            pid,
            program: process.program().unwrap_or_default(),
            args: process.args(),
        })
    };
    ancestor_pids().map_while(ancestor).collect()
}

/// The numbers of the ancestors of this process, the nearest first.
pub fn ancestor_pids() -> impl Iterator<Item = u32> {
    let parents: BTreeMap<u32, u32> = api::all_processes().into_iter().collect();
    // Windows does not take the number of a parent that ended from its children.
    let above = move |child: &u32| {
        parents
            .get(child)
            .copied()
            .filter(|pid| is_older(*pid, *child))
    };
    std::iter::successors(above(&std::process::id()), above).take(MOST_ANCESTORS)
}

fn is_older(parent: u32, child: u32) -> bool {
    matches!((started(parent), started(child)), (Some(parent), Some(child)) if parent <= child)
}

/// Ends everything that we started, and ourselves.
pub fn end_own_group() {
    end_below(std::process::id());
    end_process(std::process::id());
}

/// Ends one process, if it is still there.
pub fn end_process(pid: u32) {
    api::end_process(pid);
}

/// Windows keeps the number of an orphan's parent, so [`end_below`] finds it.
pub fn adopt_orphans() {}

/// Ends a process, and everything below it. Nobody may have waited for it before, because its
/// number could belong to another process by now.
pub fn end_tree(ancestor: u32) {
    end_below(ancestor);
    end_process(ancestor);
}

/// The processes below this one that have not ended.
pub(crate) fn descendants(ancestor: u32) -> BTreeSet<u32> {
    let all = api::all_processes();
    let mut found = BTreeSet::new();
    let mut next = vec![ancestor];
    while let Some(parent) = next.pop() {
        for (pid, of) in &all {
            let is_new = *of == parent && *pid != ancestor && !found.contains(pid);
            if is_new && exists(*pid) && is_older(parent, *pid) {
                found.insert(*pid);
                next.push(*pid);
            }
        }
    }
    found
}

/// A child's exit code.
pub fn exit_code(status: ExitStatus) -> i32 {
    status.code().unwrap_or(1)
}
