//! Simulation: random lives of several sessions, a person, a clock, a server and crashes, over the
//! real kernel and the real store, in a folder of their own.
//!
//! After every event, the files are compared with an oracle that counts by itself. At the end of a
//! life every agent may stop, every record replays, and the journal contains every answer. The same
//! random seed always gives the same history.

mod life;
mod oracle;
mod outside;
mod people;
mod process;
mod project;
mod random;

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use life::Simulation;

/// Simulate random lives over the real store, checked by an oracle
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How many lives
    #[arg(long, default_value_t = 100_000)]
    seeds: u64,
    /// Only this random seed, with its history
    #[arg(long, value_name = "K")]
    seed: Option<u64>,
    /// Only a few: what `./test` runs
    #[arg(long)]
    quick: bool,
}

/// Events in one life.
const EVENTS: u32 = 40;
/// The lives that `./test` simulates.
const QUICK: u64 = 300;
/// After so many lives, a long run prints its progress and the failures.
const PROGRESS: u64 = 5_000;

#[derive(Debug, Default, Clone, Copy)]
struct Sum {
    events: u64,
    crashes: u64,
    effects: u64,
    records: u64,
    torn: u64,
}

#[derive(Debug, Default)]
struct Lived {
    seeds: u64,
    sum: Sum,
    failures: Vec<String>,
}

#[expect(clippy::print_stdout, reason = "the table is its output")]
pub fn run(args: &Args) -> ExitCode {
    if let Some(seed) = args.seed {
        let (history, result) = one(seed);
        for line in history {
            println!("{line}");
        }
        println!(
            "seed {seed}: {}",
            result.as_ref().err().map_or("all holds", |text| text)
        );
        return if result.is_ok() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        };
    }
    let seeds = if args.quick { QUICK } else { args.seeds };
    let begun = Instant::now();
    let lived = many(seeds);
    let sum = lived.sum;
    println!(
        "{seeds} seeds, {} events, {} records, {} effects, {} crashes, {} torn lines: {} failed, {:.0} s",
        sum.events,
        sum.records,
        sum.effects,
        sum.crashes,
        sum.torn,
        lived.failures.len(),
        begun.elapsed().as_secs_f64()
    );
    for failure in lived.failures.iter().take(20) {
        println!("FAILED: {failure}");
    }
    if lived.failures.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// For a test: a few hundred lives. Returns the failures as text.
pub fn quick() -> Vec<String> {
    many(QUICK).failures
}

/// For a test: the history of one random seed, which is the same every time.
pub fn history(seed: u64) -> Vec<String> {
    one(seed).0
}

fn many(seeds: u64) -> Lived {
    let next = AtomicU64::new(0);
    let all = Mutex::new(Lived::default());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds {
                        break;
                    }
                    let (simulation, result) = live(seed, None);
                    let mut all = all.lock().expect("no thread panics while it adds");
                    if let Some(lived) = simulation {
                        all.sum.events += lived.events;
                        all.sum.crashes += lived.crashes;
                        all.sum.effects += lived.effects;
                        all.sum.records += lived.records;
                        all.sum.torn += lived.torn as u64;
                    }
                    if let Err(text) = result {
                        all.failures.push(format!("seed {seed}: {text}"));
                    }
                    all.seeds += 1;
                    if all.seeds.is_multiple_of(PROGRESS) {
                        tell(&all, seeds);
                    }
                }
            });
        }
    });
    all.into_inner().expect("all threads are done")
}

/// Printed at once, so that a run that is cut off has reported what it saw.
#[expect(clippy::print_stderr, reason = "it is for whoever waits")]
fn tell(all: &Lived, seeds: u64) {
    eprintln!(
        "{} of {seeds} lived, {} events, {} failed",
        all.seeds,
        all.sum.events,
        all.failures.len()
    );
    for failure in all.failures.iter().take(3) {
        eprintln!("FAILED: {failure}");
    }
}

fn one(seed: u64) -> (Vec<String>, Result<(), String>) {
    let (simulation, result) = live(seed, Some(Vec::new()));
    let history = simulation.and_then(|lived| lived.history);
    (history.unwrap_or_default(), result)
}

fn live(seed: u64, history: Option<Vec<String>>) -> (Option<Simulation>, Result<(), String>) {
    // In memory if possible: this tests the order of operations; another test covers what the disk
    // guarantees.
    let memory = std::path::Path::new("/dev/shm");
    let folder = if memory.is_dir() {
        tempfile::tempdir_in(memory)
    } else {
        tempfile::tempdir()
    };
    let folder = match folder {
        Ok(folder) => folder,
        Err(error) => return (None, Err(error.to_string())),
    };
    match Simulation::new(seed, folder.path()) {
        Ok(mut simulation) => {
            simulation.history = history;
            let result = simulation.live(EVENTS);
            (Some(simulation), result)
        }
        Err(text) => (None, Err(text)),
    }
}
