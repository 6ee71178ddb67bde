//! What a hook costs: medians of interleaved process starts, each against a static
//! program that says hello, in the same run.
//!
//! Every round starts every case once, so that a busy moment of the machine hits all of
//! them alike. A case adds a file and a row to [`cases::ALL`].

pub mod cases;
pub(crate) mod count;
mod report;
pub(crate) mod spawn;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use crate::clients::workspace;
use cases::{Case, World};
use count::Counters;
use report::{Figures, Report, Row};
use spawn::Spawn;

/// Time a hook's process against the floor
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How often each case is started
    #[arg(long, default_value_t = 300)]
    rounds: usize,
    /// Only cases whose name contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Rounds that warm the caches and are not counted.
const WARM_UP: usize = 20;

#[expect(clippy::print_stdout, reason = "the table is its output")]
pub fn run(args: &Args) -> ExitCode {
    let programs = Programs::build();
    let wanted = |case: &&Case| {
        args.only
            .as_ref()
            .is_none_or(|only| case.name.contains(only.as_str()))
    };
    let prepared: Vec<Prepared> = cases::ALL
        .iter()
        .filter(wanted)
        .map(|case| Prepared::new(case, &programs))
        .collect();
    let floor_world = World::new(&programs.mainspring);
    let floor = Spawn::new(&programs.floor, &[], b"", &floor_world);
    let mut floor_times = Vec::new();
    let mut times = vec![Vec::new(); prepared.len()];
    for round in 0..WARM_UP + args.rounds.max(1) {
        let floor_time = floor.time();
        // Another one is first each time: what runs behind the small floor pays for both.
        let mut round_times = vec![Duration::ZERO; prepared.len()];
        for step in 0..prepared.len() {
            let at = (round + step) % prepared.len();
            let case = &prepared[at];
            (case.case.reset)(&case.world);
            round_times[at] = case.spawn.time();
        }
        if round >= WARM_UP {
            floor_times.push(floor_time);
            for (all, one) in times.iter_mut().zip(round_times) {
                all.push(one);
            }
        }
    }
    let counters = Counters::find();
    let floor = Row {
        name: "floor",
        about: "a static program that says hello",
        times: Figures::of(floor_times),
        counts: counters.count(&floor, || {}),
    };
    let rows = prepared
        .iter()
        .zip(times)
        .map(|(prepared, times)| Row {
            name: prepared.case.name,
            about: prepared.case.about,
            times: Figures::of(times),
            counts: counters.count(&prepared.spawn, || (prepared.case.reset)(&prepared.world)),
        })
        .collect();
    let report = Report {
        rounds: args.rounds,
        binary_bytes: size(&programs.mainspring),
        sync: Figures::of(sync_times(args.rounds.max(1))),
        floor,
        rows,
        missing: counters.missing(),
    };
    if args.json {
        println!("{}", report.json());
    } else {
        println!("{}", report.table());
    }
    ExitCode::SUCCESS
}

/// A case in its own world.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) case: &'static Case,
    pub(crate) world: World,
    pub(crate) spawn: Spawn,
}

impl Prepared {
    pub(crate) fn new(case: &'static Case, programs: &Programs) -> Self {
        let world = World::new(&programs.mainspring);
        let event = (case.prepare)(&world);
        let spawn = Spawn::new(&programs.mainspring, case.args, &event, &world);
        Self { case, world, spawn }
    }
}

/// The release builds.
#[derive(Debug)]
pub struct Programs {
    pub mainspring: PathBuf,
    pub floor: PathBuf,
}

impl Programs {
    pub fn build() -> Self {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        for selection in [
            ["--package=mainspring", "--bin=mainspring"],
            ["--package=mainspring-testkit", "--bin=floor"],
        ] {
            let status = Command::new(&cargo)
                .args(["build", "--quiet", "--release"])
                .args(selection)
                .current_dir(workspace())
                .status()
                .expect("cargo runs");
            assert!(
                status.success(),
                "the release build of {selection:?} failed"
            );
        }
        let this = std::env::current_exe().expect("it has a path");
        let folder = this.parent().expect("it is in a folder").to_owned();
        Self {
            mainspring: folder.join("mainspring"),
            floor: folder.join("floor"),
        }
    }
}

fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |meta| meta.len())
}

/// What one `fdatasync` of a record's size costs where the states of the cases are.
fn sync_times(rounds: usize) -> Vec<Duration> {
    use std::io::Write;
    let dir = tempfile::tempdir().expect("a temporary folder");
    let mut file = std::fs::File::create(dir.path().join("journal")).expect("a file in it");
    let line = [b'x'; 1024];
    (0..rounds)
        .map(|_| {
            file.write_all(&line).expect("room for a line");
            let start = std::time::Instant::now();
            file.sync_data().expect("a disk that syncs");
            start.elapsed()
        })
        .collect()
}
