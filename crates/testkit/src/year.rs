//! A year of sessions, day by day: how large does the state get?
//!
//! Every event is a real hook. Time passes by making every file of ours a day older.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::bench::Programs;
use crate::world::World;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// What a year of fifty sessions a day may leave.
const MOST_BYTES: u64 = 20_000_000;

/// Live through a year of sessions, and weigh the state that they leave
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How many days
    #[arg(long, default_value_t = 365)]
    days: u32,
    /// Sessions in a day
    #[arg(long, default_value_t = 50)]
    sessions: u32,
    /// Decisions in a session
    #[arg(long, default_value_t = 3)]
    decisions: u32,
    /// Projects that the sessions take turns in
    #[arg(long, default_value_t = 1)]
    projects: u32,
    /// The folder with a built `mainspring`; builds nothing
    #[arg(long, value_name = "FOLDER")]
    built: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What is lived through.
#[derive(Debug, Clone, Copy)]
pub struct Plan<'a> {
    pub days: u32,
    pub sessions: u32,
    pub decisions: u32,
    pub projects: u32,
    /// The value of `state.keep`.
    pub keep: &'a str,
}

/// What it left, and what it cost.
#[derive(Debug, Default)]
pub struct Left {
    pub files: u64,
    pub bytes: u64,
    /// The most at the end of a day.
    pub most_bytes: u64,
    /// How long each hook at a session's start took, shortest first: it also sweeps old state.
    pub starts: Vec<Duration>,
}

impl Left {
    /// The start that so many of a thousand are not longer than, in milliseconds.
    fn start(&self, of_thousand: usize) -> f64 {
        let last = self.starts.len().saturating_sub(1);
        let start = self.starts.get(last * of_thousand / 1_000);
        start.map_or(0.0, |start| start.as_secs_f64() * 1_000.0)
    }
}

/// The files in a folder.
#[derive(Debug, Clone, Copy, Default)]
struct Weight {
    files: u64,
    bytes: u64,
}

#[expect(clippy::print_stdout, reason = "the figures are its output")]
pub fn run(args: &Args) -> ExitCode {
    let programs = Programs::find(args.built.as_deref());
    let begun = Instant::now();
    let left = live(
        &programs.mainspring,
        Plan {
            days: args.days,
            sessions: args.sessions,
            decisions: args.decisions,
            projects: args.projects,
            keep: "90d",
        },
    );
    let seconds = begun.elapsed().as_secs();
    if args.json {
        let figures = json!({
            "days": args.days,
            "sessions": args.days * args.sessions,
            "decisions": args.days * args.sessions * args.decisions,
            "projects": args.projects,
            "files": left.files,
            "bytes": left.bytes,
            "most_bytes": left.most_bytes,
            "limit": MOST_BYTES,
            "start_ms": {
                "median": left.start(500),
                "p99": left.start(990),
                "p999": left.start(999),
                "longest": left.start(1_000),
            },
            "seconds": seconds,
        });
        println!("{figures}");
    } else {
        println!(
            "{} days of {} sessions with {} decisions in {} projects: {} bytes in {} files at \
             the end, {} at the most (limit {MOST_BYTES}), in {seconds} s\n\
             a session's start: {:.1} ms, 99 % within {:.1}, 99.9 % within {:.1}, longest {:.1}",
            args.days,
            args.sessions,
            args.decisions,
            args.projects,
            left.bytes,
            left.files,
            left.most_bytes,
            left.start(500),
            left.start(990),
            left.start(999),
            left.start(1_000),
        );
    }
    if left.most_bytes < MOST_BYTES {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Lives through it.
pub fn live(mainspring: &Path, plan: Plan<'_>) -> Left {
    let world = World::new(mainspring);
    let settings = world.home().join(".config/mainspring/config.toml");
    let text = format!(
        "[gate]\nenabled = true\n[state]\nkeep = \"{}\"\n",
        plan.keep
    );
    crate::files::write(settings, text);
    let projects: Vec<PathBuf> = (0..plan.projects.max(1))
        .map(|number| world.root().join(format!("project-{number}")))
        .collect();
    for project in &projects {
        fs::create_dir_all(project.join(".git")).expect("a folder of ours");
    }
    let state = world.home().join(".local/state/mainspring");
    let mut left = Left::default();
    for day in 0..plan.days {
        for number in 0..plan.sessions {
            // As long as a real one.
            let id = format!("390b8429-0c35-4a4e-{day:04}-{number:012}");
            let project = &projects[number as usize % projects.len()];
            left.starts
                .push(session(&world, project, &id, plan.decisions));
        }
        let weight = weigh_and_age(&state);
        (left.files, left.bytes) = (weight.files, weight.bytes);
        left.most_bytes = left.most_bytes.max(weight.bytes);
    }
    left.starts.sort_unstable();
    left
}

/// A session starts, and its agent is held so many times. Returns how long the start took.
fn session(world: &World, project: &Path, id: &str, decisions: u32) -> Duration {
    let common = json!({ "session_id": id, "cwd": project });
    let with = |mut fields: serde_json::Value| {
        for (name, value) in common.as_object().expect("an object") {
            fields[name] = value.clone();
        }
        fields
    };
    let event = world.event("SessionStart", with(json!({ "source": "startup" })));
    let begun = Instant::now();
    world.hook(&event);
    let took = begun.elapsed();
    for number in 0..decisions {
        let fields = json!({
            "stop_hook_active": number > 0,
            "last_assistant_message": format!("Part {number} of the work is done; I go on soon."),
        });
        let said = world.hook(&world.event("Stop", with(fields)));
        assert!(said.contains("TASKMASTER"), "a decision: {said:?}");
    }
    took
}

/// Adds up all files below this folder, and makes each a day older.
fn weigh_and_age(folder: &Path) -> Weight {
    let mut all = Weight::default();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let meta = entry.metadata().expect("a file of ours");
        if meta.is_dir() {
            let below = weigh_and_age(&path);
            all.files += below.files;
            all.bytes += below.bytes;
            continue;
        }
        all.files += 1;
        all.bytes += meta.len();
        let changed = meta.modified().expect("it has a time");
        let file = File::open(&path).expect("a file of ours");
        file.set_modified(changed - DAY).expect("it is ours");
    }
    all
}
