//! Processes: whether they live, and how a group of them ends.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use rustix::process::{Pid, Signal, getpgrp, kill_process, kill_process_group};

use crate::proc;

/// Is there a process with this number? It may be a later one than was meant.
pub fn exists(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// When a process started, in clock ticks since boot: with its number, that tells it apart
/// from every other of this boot.
pub fn started(pid: u32) -> Option<u64> {
    let line = proc::read(&PathBuf::from(format!("/proc/{pid}/stat")), 4096)?;
    // The 22nd field, counted from behind the name, which may contain anything.
    let (_, fields) = line.rsplit_once(')')?;
    fields.split_whitespace().nth(19)?.parse().ok()
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

/// A child's exit code; where a signal ended it, what a shell says of that.
pub fn exit_code(status: ExitStatus) -> i32 {
    status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_lives_and_keeps_its_start() {
        let me = std::process::id();
        assert!(exists(me));
        assert!(started(me).is_some());
        assert_eq!(started(me), started(me));
        assert!(!exists(u32::MAX));
        assert_eq!(started(u32::MAX), None);
    }
}
