//! Processes: whether they are alive, and how to end a group of them.

use std::time::{Duration, Instant};

use crate::system::process::descendants;
pub use crate::system::process::{
    GROUPS_OUTLIVE_US, Group, adopt_orphans, ancestor_pids, ancestors, end_own_group, end_process,
    end_tree, exists, exit_code, is_alive, started, variables,
};

/// The limit for ancestors: no real tree is deeper.
pub(crate) const MOST_ANCESTORS: usize = 64;

/// How long we look for descendants of a process to end them.
const ENDING: Duration = Duration::from_secs(2);

/// An ancestor of this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ancestor {
    pub pid: u32,
    /// The program's file; empty if it may not be read.
    pub program: String,
    /// Its arguments, including its own name.
    pub args: Vec<String>,
}

/// Ends everything below a process; where the system gives orphans away, it must be one that adopts
/// them. More processes may start meanwhile, so this repeats until there are none, or gives up if
/// they start faster than they end.
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
