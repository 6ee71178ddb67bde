//! Many sessions at work in one project, all stopping at once.

use std::fs;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::super::race::Figures;
use super::{Curve, Lab, Measured, Series, Spawn, World};

pub(super) const SESSIONS: Curve = Curve {
    name: "sessions",
    title: "Sessions of one project that stop at once",
    axis: "sessions at once",
    about: "Each stops again as soon as it was held. Every stop is one record under one lock; \
            afterwards every count and every record is there.",
    measure: |lab| {
        let sizes = [1, 4, 16, 64];
        let mut per_second = Vec::new();
        let mut p99 = Vec::new();
        let mut median = Vec::new();
        let mut floor = Vec::new();
        for size in sizes {
            let stops = (lab.rounds as u64 / size).max(10);
            let world = World::new(&lab.programs.mainspring);
            world.person(&["gate", "on", "--project"]);
            let (figures, throughput) =
                at_once(size, |session| stops_of(lab, &world, session, stops));
            nothing_lost(&world, size, stops);
            p99.push((size, figures.p99_ms()));
            median.push((size, figures.median_ms()));
            per_second.push((size, throughput));
            let (figures, _) = at_once(size, |_| {
                let hello = || Spawn::with_input(&lab.programs.floor, &[], ("none", b""), &world);
                (0..stops).map(|_| hello()).collect()
            });
            floor.push((size, figures.p99_ms()));
        }
        Measured {
            series: vec![
                Series::new("p99, ms", p99),
                Series::new("median, ms", median),
                Series::new("stops per second", per_second),
                Series::new("p99 of the floor, ms", floor),
            ],
        }
    },
};

/// The times of all starts of that many sessions, and how many there were per second. Everything is
/// set up before the first start.
fn at_once(sessions: u64, prepare: impl Fn(u64) -> Vec<Spawn>) -> (Figures, f64) {
    let prepared: Vec<Vec<Spawn>> = (0..sessions).map(prepare).collect();
    let times = Mutex::new(Vec::new());
    let start = Instant::now();
    std::thread::scope(|scope| {
        for starts in &prepared {
            let times = &times;
            scope.spawn(move || {
                let mine: Vec<Duration> = starts.iter().map(Spawn::time).collect();
                let mut times = times.lock().expect("no thread panics while it adds");
                times.extend(mine);
            });
        }
    });
    let seconds = start.elapsed().as_secs_f64();
    let times = times.into_inner().expect("all threads are done");
    #[expect(clippy::cast_precision_loss, reason = "a few thousand stops")]
    let throughput = times.len() as f64 / seconds;
    (Figures::of(times), throughput)
}

fn stops_of(lab: &Lab<'_>, world: &World, session: u64, stops: u64) -> Vec<Spawn> {
    (0..stops)
        .map(|stop| {
            // The same message within two seconds would be the same stop.
            let event = String::from_utf8(world.stop(&format!("Part {stop} is done.")));
            let event = event.expect("an event is text").replace(
                "\"session_id\":\"s\"",
                &format!("\"session_id\":\"session-{session}\""),
            );
            let input = format!("stdin-{session}-{stop}");
            Spawn::with_input(
                &lab.programs.mainspring,
                &["hook"],
                (&input, event.as_bytes()),
                world,
            )
        })
        .collect()
}

/// Checks every session's count, and the number of records.
fn nothing_lost(world: &World, sessions: u64, stops: u64) {
    for session in 0..sessions {
        let file = world
            .root()
            .join(format!("tmp/taskmaster/session-{session}"));
        let count = fs::read_to_string(&file).expect("a count for each session");
        assert_eq!(count.trim(), stops.to_string(), "session {session}");
    }
    let journal = fs::read_to_string(world.state().join("journal.jsonl")).expect("a journal");
    let held = journal
        .lines()
        .filter(|line| line.contains("\"outcome\":\"held\""))
        .count() as u64;
    assert_eq!(held, sessions * stops, "records of holds");
}
