//! What grows, and whether a hook becomes slower: each curve over several sizes, interleaved,
//! compared with the floor in the same run.

mod board;
mod checks;
mod growth;
mod journal;
mod plot;
mod projects;
mod sessions;

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::floors;
use super::page;
use super::race::{Entry, race};
use super::report::{grouped, rounded};
use super::spawn::Spawn;
use super::{Floor, Programs, World};

/// One curve.
#[derive(Debug)]
pub(super) struct Curve {
    /// The name of its files.
    name: &'static str,
    title: &'static str,
    /// What grows.
    axis: &'static str,
    about: &'static str,
    measure: fn(&Lab<'_>) -> Measured,
}

const ALL: &[Curve] = &[
    growth::TRANSCRIPT,
    journal::RECORDS,
    projects::PROJECTS,
    growth::STACK,
    growth::TASKS,
    growth::BESIDE,
    growth::PLAN_FILES,
    checks::FILES,
    checks::CHECKS,
    sessions::SESSIONS,
    board::ITEMS,
];

/// The results. The first series is the one that is judged.
#[derive(Debug, Default)]
struct Measured {
    series: Vec<Series>,
}

#[derive(Debug)]
struct Series {
    name: String,
    points: Vec<(u64, f64)>,
}

impl Series {
    fn new(name: &str, points: Vec<(u64, f64)>) -> Self {
        Self {
            name: name.into(),
            points,
        }
    }

    /// Is it only for comparison?
    fn is_reference(&self) -> bool {
        self.name.starts_with("floor") || self.name.starts_with("bare")
    }

    /// The last value over the first.
    fn ratio(&self) -> Option<f64> {
        Some(self.points.last()?.1 / self.points.first()?.1)
    }
}

/// What a curve is measured with.
#[derive(Debug)]
struct Lab<'a> {
    programs: &'a Programs,
    floor: &'a Spawn,
    rounds: usize,
}

impl Lab<'_> {
    /// A hook in a world of each size, interleaved. Worlds are set up on all cores.
    fn grow(
        &self,
        sizes: &[u64],
        says: &str,
        prepare: impl Fn(&World, u64) -> Vec<u8> + Sync,
        reset: impl Fn(&World, u64),
    ) -> Measured {
        let worlds: Vec<(World, Spawn)> = std::thread::scope(|scope| {
            let prepare = &prepare;
            let threads: Vec<_> = sizes
                .iter()
                .map(|size| {
                    scope.spawn(move || {
                        let world = World::new(&self.programs.mainspring);
                        let event = prepare(&world, *size);
                        let spawn =
                            Spawn::new(&self.programs.mainspring, &["hook"], &event, &world);
                        (world, spawn)
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().expect("it was laid out"))
                .collect()
        });
        let resets: Vec<_> = worlds
            .iter()
            .zip(sizes)
            .map(|((world, _), size)| || reset(world, *size))
            .collect();
        for ((_, spawn), reset) in worlds.iter().zip(&resets) {
            reset();
            let said = spawn.said();
            assert!(said.contains(says), "{says:?} is not in {said:?}");
        }
        let entries: Vec<Entry> = worlds
            .iter()
            .zip(&resets)
            .map(|((_, spawn), reset)| Entry { spawn, reset })
            .collect();
        let raced = race(self.floor, &entries, self.rounds);
        let of = |value: &dyn Fn(usize) -> f64| -> Vec<(u64, f64)> {
            let sizes = sizes.iter().enumerate();
            sizes.map(|(at, size)| (*size, value(at))).collect()
        };
        Measured {
            series: vec![
                Series::new("median, ms", of(&|at| raced.entries[at].median_ms())),
                Series::new("p99, ms", of(&|at| raced.entries[at].p99_ms())),
                Series::new("floor, ms", of(&|_| raced.floor.median_ms())),
            ],
        }
    }
}

/// The curves that were measured.
#[derive(Debug)]
pub(super) struct Curves {
    all: Vec<(&'static Curve, Measured)>,
}

impl Curves {
    pub(super) fn measure(programs: &Programs, rounds: usize, only: &str) -> Self {
        let floor = Floor::new(programs);
        let lab = Lab {
            programs,
            floor: &floor.spawn,
            rounds,
        };
        let wanted = ALL.iter().filter(|curve| curve.name.contains(only));
        Self {
            all: wanted
                .map(|curve| (curve, (curve.measure)(&lab)))
                .filter(|(_, measured)| !measured.series.is_empty())
                .collect(),
        }
    }

    pub(super) fn json(&self) -> Value {
        let curves = self.all.iter().map(|(curve, measured)| {
            let series: Vec<Value> = measured
                .series
                .iter()
                .map(|series| {
                    let points: Vec<Value> = series
                        .points
                        .iter()
                        .map(|(size, value)| json!([size, rounded(*value)]))
                        .collect();
                    json!({
                        "name": series.name,
                        "points": points,
                        "last_over_first": series.ratio().map(rounded),
                    })
                })
                .collect();
            let value = json!({
                "title": curve.title,
                "axis": curve.axis,
                "about": curve.about,
                "series": series,
            });
            (curve.name.to_owned(), value)
        });
        Value::Object(curves.collect())
    }

    pub(super) fn table(&self) -> String {
        let mut out = String::new();
        for (curve, measured) in &self.all {
            let _ = writeln!(out, "{}: {}", curve.title, curve.about);
            for series in &measured.series {
                let _ = write!(out, "  {:<20}", series.name);
                for (size, value) in &series.points {
                    let _ = write!(out, " {}: {value:.3}", grouped(*size));
                }
                let ratio = series.ratio().unwrap_or(1.0);
                let _ = writeln!(out, "  (last ÷ first: {ratio:.2})");
            }
        }
        out.trim_end().to_owned()
    }

    /// As Markdown: a line for each, then the pictures.
    fn markdown(&self, folder: &str) -> String {
        let mut out = String::from(
            "| what grows | from | to | first | last | last ÷ first |\n|---|--:|--:|--:|--:|--:|\n",
        );
        for (curve, measured) in &self.all {
            let Some(series) = measured.series.first() else {
                continue;
            };
            if let (Some(first), Some(last)) = (series.points.first(), series.points.last()) {
                let _ = writeln!(
                    out,
                    "| {}, {} | {} | {} | {:.2} | {:.2} | {:.2} |",
                    curve.axis,
                    series.name,
                    grouped(first.0),
                    grouped(last.0),
                    first.1,
                    last.1,
                    series.ratio().unwrap_or(1.0)
                );
            }
        }
        for (curve, _) in &self.all {
            let _ = write!(
                out,
                "\n**{}.** {}\n\n![{}]({folder}/{}.svg)\n",
                curve.title, curve.about, curve.title, curve.name
            );
        }
        out
    }

    pub(super) fn keep(&self, folder: &Path) {
        page::keep_json(folder, "curves", &self.json());
        for (curve, measured) in &self.all {
            let svg = plot::svg(curve.title, curve.axis, measured);
            page::keep(folder, &format!("{}.svg", curve.name), &svg);
        }
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        page::fill(folder, "curves", &self.markdown(&name));
    }
}
