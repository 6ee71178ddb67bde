//! Faults, injected into the real binary at every system call.
//!
//! A path is one way through a hook: a world, and an event. It is traced once; then, for
//! every system call that it makes, it is run again in a fresh copy of the world with a
//! fault at that very call: killed there, or told an error. After each, another event
//! passes by, the event is delivered again, healthy, and the world must be as if nothing
//! had happened: nothing torn, nothing lost that was said, nothing left over.
//!
//! A point at which the fault did not fire fails the run: a harness that tests nothing
//! must not look like one that finds nothing.

mod check;
mod lab;
pub mod paths;
mod strace;
mod sweep;
mod tree;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use lab::Subject;
use paths::Path;
use sweep::{Depth, Fault, Tally};

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
    /// This binary, instead of a release build
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// Errors that a file system or the kernel can answer with.
const ERRORS: [&str; 10] = [
    "EIO", "ENOSPC", "EROFS", "EACCES", "EDQUOT", "EMFILE", "ENFILE", "EINTR", "ENOLCK", "ESTALE",
];

#[expect(clippy::print_stdout, reason = "the card is its output")]
pub fn run(args: &Args) -> ExitCode {
    let program = args.program.clone();
    let subject = Subject::new(&program.unwrap_or_else(|| Programs::build().mainspring));
    let depth = if args.quick {
        Depth::Quick
    } else {
        Depth::Full
    };
    let wanted: Vec<&Path> = paths::ALL
        .iter()
        .filter(|path| {
            let only = args.only.as_ref();
            only.is_none_or(|only| path.name.contains(only.as_str()))
        })
        .collect();
    println!("{:<30} {:<18} {:>7}  result", "path", "fault", "points");
    let jobs: Vec<(&Path, Fault)> = wanted
        .iter()
        .flat_map(|path| faults(depth).into_iter().map(|fault| (*path, fault)))
        .collect();
    let tally = on_all_cores(&jobs, |(path, fault)| {
        let tally = sweep::sweep(&subject, path, *fault, depth);
        let result = match tally.failures.len() {
            0 => "ok".to_owned(),
            bad => format!("{bad} FAILED"),
        };
        println!(
            "{:<30} {fault:<18} {:>7}  {result}",
            path.name, tally.points
        );
        tally
    });
    println!("{} points", tally.points);
    for failure in &tally.failures {
        println!("\n{failure}");
    }
    if tally.failures.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn faults(depth: Depth) -> Vec<Fault> {
    if depth == Depth::Quick {
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

/// Does every job, on as many threads as there are cores.
fn on_all_cores<J: Sync>(jobs: &[J], work: impl Fn(&J) -> Tally + Sync) -> Tally {
    let next = AtomicUsize::new(0);
    let sum = Mutex::new(Tally::default());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = work(job);
                    sum.lock()
                        .expect("no thread panics while it adds")
                        .join(found);
                }
            });
        }
    });
    sum.into_inner().expect("all threads are done")
}

/// For a test: every quick point of every path. How many there were, and the failures in
/// words.
pub fn quick(mainspring: &std::path::Path) -> (usize, Vec<String>) {
    let subject = Subject::new(mainspring);
    let jobs: Vec<(&Path, Fault)> = paths::ALL
        .iter()
        .flat_map(|path| {
            faults(Depth::Quick)
                .into_iter()
                .map(move |fault| (path, fault))
        })
        .collect();
    let tally = on_all_cores(&jobs, |(path, fault)| {
        sweep::sweep(&subject, path, *fault, Depth::Quick)
    });
    (tally.points, tally.failures)
}

/// All paths, for a test that counts them.
pub fn all() -> &'static [Path] {
    paths::ALL
}
