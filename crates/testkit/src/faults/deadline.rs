//! Every run has a time limit. A run that exceeds it is killed, and its point has failed.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// Twelve times our longest wait, which is for a lock.
pub(super) const LIMIT: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(250);

/// The running processes, each in its own group, and when they started.
static RUNNING: Mutex<Vec<Run>> = Mutex::new(Vec::new());

struct Run {
    group: Pid,
    since: Instant,
    overdue: bool,
}

/// Runs it in its own group. Returns its output, and whether it was killed because it did not end
/// by itself.
pub(super) fn output(command: &mut Command) -> (Output, bool) {
    watched(command, |child| {
        child.wait_with_output().expect("its output can be read")
    })
}

/// Starts it in its own group, which is killed if it does not end by itself. Returns whether it
/// was.
pub(super) fn watched<T>(command: &mut Command, wait: impl FnOnce(Child) -> T) -> (T, bool) {
    static WATCH: OnceLock<()> = OnceLock::new();
    WATCH.get_or_init(|| drop(std::thread::spawn(watch)));
    let child = command
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let group = Pid::from_child(&child);
    running().push(Run {
        group,
        since: Instant::now(),
        overdue: false,
    });
    let waited = wait(child);
    let mut all = running();
    let at = all.iter().position(|run| run.group == group);
    let overdue = at.is_some_and(|at| all.swap_remove(at).overdue);
    (waited, overdue)
}

/// One thread for all of them: a timer for each would cost more than most runs take.
fn watch() {
    loop {
        std::thread::sleep(LOOK);
        for run in running().iter_mut() {
            if run.since.elapsed() > LIMIT {
                run.overdue = true;
                let _ = kill_process_group(run.group, Signal::KILL);
            }
        }
    }
}

fn running() -> std::sync::MutexGuard<'static, Vec<Run>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}
