//! Faults, injected into the real binary at every system call.
//!
//! A path is one way through a hook: a world, and an event. It is traced once; then, for
//! every system call that it makes, it is run again in a fresh copy of the world with a
//! fault at that very call: killed there, or told an error. After each, the event is
//! delivered again, healthy, and the world must be as if nothing had happened: nothing
//! torn, nothing lost that was said, nothing left over.
//!
//! A point at which the fault did not fire fails the run: a harness that tests nothing
//! must not look like one that finds nothing.

mod check;
pub mod paths;
mod strace;
mod sweep;

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use paths::Path;
use sweep::{Fault, Tally};

use crate::bench::Programs;

/// Inject faults at every system call of every hook path
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only paths whose name contains this
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Only the calls that touch files, and one error: what `./test` runs
    #[arg(long)]
    quick: bool,
}

/// Errors that a file system or the kernel can answer with.
const ERRORS: [&str; 8] = [
    "EIO", "ENOSPC", "EROFS", "EACCES", "EMFILE", "EINTR", "ENOLCK", "ESTALE",
];

#[expect(clippy::print_stdout, reason = "the card is its output")]
pub fn run(args: &Args) -> ExitCode {
    let programs = Programs::build();
    let mut failures = Vec::new();
    println!("{:<28} {:<18} {:>7}  result", "path", "fault", "points");
    for path in paths::ALL {
        if args
            .only
            .as_ref()
            .is_some_and(|only| !path.name.contains(only.as_str()))
        {
            continue;
        }
        for fault in faults(args.quick) {
            let tally = sweep::sweep(path, fault, &programs.mainspring, args.quick);
            let result = match tally.failures.len() {
                0 => "ok".to_owned(),
                bad => format!("{bad} FAILED"),
            };
            println!(
                "{:<28} {fault:<18} {:>7}  {result}",
                path.name, tally.points
            );
            failures.extend(tally.failures);
        }
    }
    for failure in &failures {
        println!("\n{failure}");
    }
    if failures.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn faults(quick: bool) -> Vec<Fault> {
    if quick {
        return vec![Fault::Kill, Fault::Error("ENOSPC")];
    }
    let once = ERRORS.iter().map(|error| Fault::Error(error));
    let from_then_on = ERRORS.iter().map(|error| Fault::ErrorsFromThenOn(error));
    [Fault::Kill]
        .into_iter()
        .chain(once)
        .chain(from_then_on)
        .collect()
}

/// For a test: every quick point of every path, on as many threads as there are cores.
/// How many there were, and the failures in words.
pub fn quick(mainspring: &std::path::Path) -> (usize, Vec<String>) {
    let next = AtomicUsize::new(0);
    let sum = Mutex::new(Tally::default());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(path) = paths::ALL.get(next.fetch_add(1, Ordering::Relaxed)) {
                    for fault in faults(true) {
                        let found = sweep::sweep(path, fault, mainspring, true);
                        let mut sum = sum.lock().expect("no thread panics while it adds");
                        sum.points += found.points;
                        sum.failures.extend(found.failures);
                    }
                }
            });
        }
    });
    let sum = sum.into_inner().expect("all threads are done");
    (sum.points, sum.failures)
}

/// All paths, for a test that counts them.
pub fn all() -> &'static [Path] {
    paths::ALL
}
