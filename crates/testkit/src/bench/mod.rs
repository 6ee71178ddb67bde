//! What a hook costs: medians of interleaved process starts, each compared with a static program
//! that prints hello, in the same run; and the costs that can be counted instead of timed.
//!
//! A new case adds a file and an entry in [`cases::ALL`].

mod bare;
pub mod budget;
pub mod cases;
pub(crate) mod count;
mod curves;
mod floors;
mod page;
mod programs;
mod race;
mod report;
pub(crate) mod spawn;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cases::{Case, Start, World};
use count::Counters;
use curves::Curves;
pub use programs::Programs;
use race::{Entry, race};
use report::{Report, Row};
use spawn::Spawn;

/// Measure how long a hook's process takes, compared with an empty program
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How often each case is started
    #[arg(long, default_value_t = 300)]
    rounds: usize,
    /// Only cases whose name contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    #[command(flatten)]
    place: Place,
    /// Measure how the cost grows with sizes, instead of the table
    #[arg(long)]
    curves: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Measure both, and write the figures to this folder and the table to the page of its name
    #[arg(long, value_name = "FOLDER")]
    write: Option<PathBuf>,
}

/// What is measured, and where.
#[derive(Debug, clap::Args)]
pub(crate) struct Place {
    /// Where the homes and projects are created: another disk, or /dev/shm for memory
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// Measure the `mainspring` and `floor` in this folder, and build nothing
    #[arg(long, value_name = "FOLDER")]
    built: Option<PathBuf>,
}

impl Place {
    pub(crate) fn programs(&self) -> Programs {
        if let Some(dir) = &self.dir {
            put_worlds_into(dir);
        }
        Programs::find(self.built.as_deref())
    }
}

/// From now on, worlds are created there.
pub(crate) fn put_worlds_into(dir: &Path) {
    let dir = dir.canonicalize().expect("the folder is there");
    tempfile::env::override_temp_dir(&dir).expect("nobody has chosen another one");
}

#[expect(clippy::print_stdout, reason = "the table is its output")]
pub fn run(args: &Args) -> ExitCode {
    let programs = args.place.programs().fresh();
    let mut json = serde_json::Map::new();
    let mut text = Vec::new();
    if !args.curves {
        let report = measure(&programs, args);
        if let Some(folder) = &args.write {
            page::keep_json(folder, "rows", &report.json());
            page::fill(folder, "rows", &report.markdown());
        }
        json.insert("rows".into(), report.json());
        text.push(report.table());
    }
    if args.curves || args.write.is_some() {
        let only = args.only.as_deref().unwrap_or_default();
        let curves = Curves::measure(&programs, args.rounds, only);
        if let Some(folder) = &args.write {
            curves.keep(folder);
        }
        json.insert("curves".into(), curves.json());
        text.push(curves.table());
    }
    if args.json {
        println!("{}", serde_json::Value::Object(json));
    } else {
        println!("{}", text.join("\n\n"));
    }
    ExitCode::SUCCESS
}

fn measure(programs: &Programs, args: &Args) -> Report {
    let counters = Counters::find();
    let mut missing = counters.missing();
    let mut prepared = Vec::new();
    for case in cases::ALL {
        let only = args.only.as_deref().unwrap_or_default();
        if !case.name.contains(only) && case.name != cases::RECORD.name {
            continue;
        }
        match case.start.missing() {
            Some(program) => missing.push(format!("{program} is not here: no row {:?}", case.name)),
            None => prepared.push(Prepared::new(case, programs)),
        }
    }
    let floor = Floor::new(programs);
    let resets: Vec<_> = prepared.iter().map(|case| || case.reset()).collect();
    let entries: Vec<Entry> = prepared
        .iter()
        .zip(&resets)
        .map(|(case, reset)| Entry {
            spawn: &case.spawn,
            reset,
        })
        .collect();
    let raced = race(&floor.spawn, &entries, args.rounds);
    let rows = prepared
        .iter()
        .zip(raced.entries)
        .map(|(prepared, times)| Row {
            name: prepared.case.name,
            about: prepared.case.about,
            times,
            counts: counters.count(&prepared.spawn, || prepared.reset()),
        })
        .collect();
    Report {
        rounds: args.rounds,
        binary_bytes: programs.size(),
        sync: floors::sync(args.rounds),
        files: files_of(&prepared)
            .iter()
            .map(|count| (*count, floors::files(*count, args.rounds.min(100))))
            .collect(),
        floor: Row {
            name: "floor",
            about: "a static program that says hello",
            times: raced.floor,
            counts: counters.count(&floor.spawn, || {}),
        },
        rows,
        missing,
    }
}

/// How many files a bare loop creates, for comparison with the task lists. On a disk that takes
/// minutes.
fn files_of(prepared: &[Prepared]) -> &'static [usize] {
    let lays_out = |case: &Prepared| case.case.name.ends_with("tasks laid out");
    if prepared.iter().any(lays_out) {
        &[20, 1_000]
    } else {
        &[]
    }
}

/// The floor, in a world of its own.
#[derive(Debug)]
pub(crate) struct Floor {
    pub(crate) spawn: Spawn,
    _world: World,
}

impl Floor {
    pub(crate) fn new(programs: &Programs) -> Self {
        Self::of(programs, &programs.floor)
    }

    /// A program that starts like ours, with no calls to make.
    pub(crate) fn alike(programs: &Programs) -> Self {
        Self::of(programs, &programs.bare_calls)
    }

    fn of(programs: &Programs, program: &Path) -> Self {
        let world = World::new(&programs.mainspring);
        Self {
            spawn: Spawn::new(program, &[], b"", &world),
            _world: world,
        }
    }
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
        let spawn = match case.start {
            Start::Exec(args) => Spawn::new(&programs.mainspring, args, &event, &world),
            Start::BareCalls(args) => {
                let hook = Spawn::new(&programs.mainspring, args, &event, &world);
                // The first start creates what later ones find.
                let _ = hook.said();
                (case.reset)(&world);
                let calls = bare::calls(&count::trace(&hook, &[]));
                Spawn::new(&programs.bare_calls, &[], &calls, &world)
            }
            Start::Calls => Spawn::new(&programs.bare_calls, &[], &event, &world),
            Start::Shell(args) => {
                let line = format!("'{}' {}", programs.mainspring.display(), args.join(" "));
                Spawn::new(Path::new("/bin/sh"), &["-c", &line], &event, &world)
            }
            Start::Scale { program, args, .. } => {
                Spawn::new(Path::new(program), args, &event, &world)
            }
        };
        let prepared = Self { case, world, spawn };
        prepared.check();
        prepared
    }

    /// Restores what the last start changed.
    pub(crate) fn reset(&self) {
        (self.case.reset)(&self.world);
    }

    /// A case that does not do what its name says measures nothing.
    fn check(&self) {
        self.reset();
        let said = self.spawn.said();
        if let Start::BareCalls(_) = self.case.start {
            return;
        }
        let name = self.case.name;
        if self.case.says.is_empty() {
            assert!(said.is_empty(), "{name}: it said {said}");
        } else {
            let says = self.case.says;
            assert!(said.contains(says), "{name}: {says:?} is not in {said:?}");
        }
    }
}
