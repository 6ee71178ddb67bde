//! Injects faults into the real binary at every system call.
//!
//! A path is one way through a hook: a world, and an event. It is traced once. Then, for every
//! system call that it makes, it runs again in a fresh copy of the world with a fault at that
//! call: the process is killed there, or the call fails. After each fault, another event comes,
//! the first event is delivered again without a fault, and the world must be as if nothing had
//! happened: nothing torn, no reported change lost, nothing left over.
//!
//! If the fault did not fire at a point, the run fails: a test that tests nothing must not look
//! like one that finds nothing.

mod brake;
mod card;
mod check;
mod crowd;
mod deadline;
mod disk;
mod flips;
mod lab;
mod nested;
pub mod paths;
mod places;
mod power;
mod preempt;
mod scarce;
mod seeded;
#[cfg(target_arch = "x86_64")]
mod short;
mod strace;
mod sweep;
#[cfg(target_arch = "x86_64")]
mod tracer;
mod tree;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use card::{Card, Row};
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
    /// Only this part: kill, errors, nested, preempt, …
    #[arg(long, value_name = "NAME")]
    part: Option<String>,
    /// Only this error, for instance EIO
    #[arg(long, value_name = "NAME")]
    error: Option<String>,
    /// Only the calls that touch files, and one error: what `./test` runs
    #[arg(long)]
    quick: bool,
    /// Remove every protection in turn, by a patch to a copy of the tree: each removal must be
    /// found
    #[arg(long)]
    seeded: bool,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
    /// Test this binary instead of a release build
    #[arg(long, value_name = "FILE", conflicts_with = "seeded")]
    program: Option<PathBuf>,
}

/// Errors that a file system or the kernel may return.
const ERRORS: [&str; 10] = [
    "EIO", "ENOSPC", "EROFS", "EACCES", "EDQUOT", "EMFILE", "ENFILE", "EINTR", "ENOLCK", "ESTALE",
];

/// One way of breaking things.
struct Part {
    name: &'static str,
    claim: &'static str,
    does: Work,
}

#[derive(Clone, Copy)]
enum Work {
    /// On every path separately.
    Each(fn(&Subject, &Path, Depth) -> Tally),
    /// Once.
    Whole(fn(&Subject, Depth) -> Tally),
}

const PARTS: &[Part] = &[
    Part {
        name: "kill",
        claim: "killed at every call: nothing torn, lost, falsely reported or left over",
        does: Work::Each(|subject, path, depth| sweep::sweep(subject, path, &[Fault::Kill], depth)),
    },
    Part {
        name: "errors",
        claim: "ten I/O errors at every file call, once or from then on: an answer, old or new state",
        does: Work::Each(errors),
    },
    Part {
        name: "nested",
        claim: "killed again during the recovery from the first kill",
        does: Work::Each(nested::sweep),
    },
    Part {
        name: "preempt",
        claim: "paused at every call while another process runs: same result as one after the other",
        does: Work::Each(preempt::sweep),
    },
    Part {
        name: "power",
        claim: "power lost at any moment, unsynced data kept, lost, torn or zero: every answer stays true",
        does: Work::Each(power::sweep),
    },
    Part {
        name: "places",
        claim: "a FIFO, socket, device, folder or symlink in place of every file: an answer, nothing outside touched",
        does: Work::Each(places::sweep),
    },
    Part {
        name: "scarce",
        claim: "no room, descriptors, memory, variables, directory or listener: an answer, state kept",
        does: Work::Each(scarce::sweep),
    },
    // The arguments of a call are in registers, which depend on the architecture.
    #[cfg(target_arch = "x86_64")]
    Part {
        name: "short",
        claim: "reads and writes of files are short, one at a time and all of them: no difference",
        does: Work::Each(short::sweep),
    },
    Part {
        name: "flips",
        claim: "every byte of every file of ours changed: answered as before, or the person is told of that file",
        does: Work::Whole(flips::sweep),
    },
    Part {
        name: "brake",
        claim: "a person stops or pauses while a check or a reviewer runs: it ends within a second, and nothing is left",
        does: Work::Whole(brake::sweep),
    },
    Part {
        name: "crowd",
        claim: "many sessions at once, without and with kills: every hook counted once",
        does: Work::Whole(crowd::sweep),
    },
];

fn errors(subject: &Subject, path: &Path, depth: Depth) -> Tally {
    let all = ERRORS
        .iter()
        .flat_map(|error| [Fault::Error(error), Fault::ErrorsFromThenOn(error)]);
    let wanted = |fault: &Fault| match &subject.error {
        Some(only) => fault.error() == Some(only.as_str()),
        None => depth == Depth::Full || QUICK.contains(fault),
    };
    let faults: Vec<Fault> = all.filter(wanted).collect();
    sweep::sweep(subject, path, &faults, depth)
}

/// The second error is only for syncs, which must not be retried.
const QUICK: [Fault; 2] = [Fault::Error("ENOSPC"), Fault::ErrorsFromThenOn("EINTR")];

#[expect(clippy::print_stdout, reason = "the card is its output")]
pub fn run(args: &Args) -> ExitCode {
    if args.seeded {
        return run_seeded(args.only.as_deref());
    }
    let program = args.program.clone();
    let mut subject = Subject::new(&program.unwrap_or_else(|| Programs::build().mainspring));
    subject.error.clone_from(&args.error);
    let depth = if args.quick {
        Depth::Quick
    } else {
        Depth::Full
    };
    let named = |name: &str, wanted: &Option<String>| {
        wanted
            .as_ref()
            .is_none_or(|wanted| name.contains(wanted.as_str()))
    };
    let paths: Vec<&Path> = paths::ALL
        .iter()
        .filter(|path| named(path.name, &args.only))
        .collect();
    let mut card = Card {
        rows: Vec::new(),
        quick: args.quick,
    };
    for part in PARTS.iter().filter(|part| named(part.name, &args.part)) {
        let start = Instant::now();
        let row = Row {
            part: part.name,
            claim: part.claim,
            paths: paths.len(),
            tally: part.run(&subject, &paths, depth, Progress::Shown),
            seconds: start.elapsed().as_secs(),
        };
        if !args.json {
            print!("{}", row.text());
        }
        for failure in &row.tally.failures {
            println!("\n{failure}");
        }
        card.rows.push(row);
    }
    if args.json {
        println!("{:#}", card.json());
    } else {
        println!("\n{}", card.text());
    }
    exit_code(card.rows.iter().all(|row| row.tally.failures.is_empty()))
}

#[expect(clippy::print_stdout, reason = "the list is its output")]
fn run_seeded(only: Option<&str>) -> ExitCode {
    let tally = seeded::run(only, &|line| println!("{line}"));
    println!(
        "{} protections, {} failed",
        tally.points,
        tally.failures.len()
    );
    exit_code(tally.failures.is_empty())
}

fn exit_code(succeeded: bool) -> ExitCode {
    if succeeded {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Shown,
    Silent,
}

impl Part {
    /// Does its work on every path, on as many threads as there are cores.
    fn run(&self, subject: &Subject, paths: &[&Path], depth: Depth, progress: Progress) -> Tally {
        let work = match self.does {
            Work::Whole(work) => return whole(|| work(subject, depth)),
            Work::Each(work) => work,
        };
        let start = Instant::now();
        // Paths that wait for others take longest, so they start first.
        let (mut jobs, others): (Vec<&Path>, Vec<&Path>) =
            paths.iter().partition(|path| path.has_children);
        jobs.extend(others);
        let next = AtomicUsize::new(0);
        let sum = Mutex::new((Tally::default(), 0));
        std::thread::scope(|scope| {
            for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
                scope.spawn(|| {
                    while let Some(path) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let found = whole(|| work(subject, path, depth));
                        let mut sum = sum.lock().expect("no thread panics while it adds");
                        if progress == Progress::Shown {
                            say(&found.failures.join("\n"));
                        }
                        sum.0.join(found);
                        sum.1 += 1;
                        if progress == Progress::Shown {
                            let (tally, done) = &*sum;
                            say(&format!(
                                "{}: path {done} of {}, {} points, {} failed, {} s ({})",
                                self.name,
                                jobs.len(),
                                tally.points,
                                tally.failures.len(),
                                start.elapsed().as_secs(),
                                path.name,
                            ));
                        }
                    }
                });
            }
        });
        sum.into_inner().expect("all threads are done").0
    }
}

#[expect(
    clippy::print_stderr,
    reason = "a run of many minutes shows that it lives"
)]
fn say(text: &str) {
    if !text.is_empty() {
        eprintln!("{text}");
    }
}

/// A panic is a failure, and does not stop the other paths.
fn whole(work: impl FnOnce() -> Tally) -> Tally {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let words = panic.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| panic.downcast_ref::<&str>().copied());
        let mut tally = Tally::default();
        tally.add("it", Err(words.unwrap_or("panicked").to_owned()));
        tally
    })
}

/// For a test: the quick points of every path. Returns how many there were, and the failures as
/// text.
pub fn quick(mainspring: &std::path::Path) -> (usize, Vec<String>) {
    let subject = Subject::new(mainspring);
    let paths: Vec<&Path> = paths::ALL.iter().collect();
    let mut sum = Tally::default();
    // They have a test of their own.
    for part in PARTS.iter().filter(|part| part.name != "flips") {
        sum.join(part.run(&subject, &paths, Depth::Quick, Progress::Silent));
    }
    (sum.points, sum.failures)
}

/// For a test: two bits of every byte of our files, and of some bytes of the journal.
pub fn quick_flips(mainspring: &std::path::Path) -> (usize, Vec<String>) {
    let tally = flips::sweep(&Subject::new(mainspring), Depth::Quick);
    (tally.points, tally.failures)
}

/// All paths, for a test that counts them.
pub fn all() -> &'static [Path] {
    paths::ALL
}
