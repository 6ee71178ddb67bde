//! Processes: whether they are alive, and how to end a group of them.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};

use rustix::process::{Pid, Signal, getpgrp, kill_process, kill_process_group};

pub(crate) use super::flavour::processes::descendants;
pub use super::flavour::processes::{
    adopt_orphans, ancestor_pids, ancestors, exists, is_alive, started, variables,
};
use crate::process::end_below;

/// Does a group go on when the process that started it is killed?
pub const GROUPS_OUTLIVE_US: bool = true;

/// A child with everything that it starts.
#[derive(Debug)]
pub struct Group {
    leader: u32,
}

impl Group {
    /// Starts a child that leads a group of its own.
    pub fn start(command: &mut Command) -> io::Result<(Child, Self)> {
        let child = command.process_group(0).spawn()?;
        let leader = child.id();
        Ok((child, Self { leader }))
    }

    /// Ends what is left of the group. A process that has left it (a session of its own) lives
    /// on.
    pub fn end(&self) {
        end_group(self.leader);
    }
}

fn end_group(leader: u32) {
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

/// Ends a process that adopts orphans, and everything below it. Nobody may have waited for it
/// before, because its number could belong to another process by now.
pub fn end_tree(ancestor: u32) {
    // It ends last, because its descendants are found through it.
    end_below(ancestor);
    end_group(ancestor);
}

/// A child's exit code; if a signal ended it, the code that a shell would report.
pub fn exit_code(status: ExitStatus) -> i32 {
    status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}
