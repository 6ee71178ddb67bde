//! The table, for people and for programs.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use super::cases::Case;

/// A case's times in one line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Figures {
    pub(super) median: Duration,
    pub(super) p99: Duration,
}

impl Figures {
    pub(super) fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)];
        Self {
            median: at(50),
            p99: at(99),
        }
    }
}

#[derive(Debug)]
pub(super) struct Report {
    pub(super) rounds: usize,
    pub(super) binary_bytes: u64,
    pub(super) sync: Figures,
    pub(super) floor: Figures,
    pub(super) rows: Vec<(&'static Case, Figures)>,
}

impl Report {
    fn ratio(&self, figures: Figures) -> f64 {
        figures.median.as_secs_f64() / self.floor.median.as_secs_f64()
    }

    fn above(&self, figures: Figures) -> f64 {
        millis(figures.median) - millis(self.floor.median)
    }

    pub(super) fn table(&self) -> String {
        let mut out = format!(
            "{} rounds, interleaved; times in ms\n\n{:<28} {:>8} {:>8} {:>8} {:>8}  \n",
            self.rounds, "case", "median", "p99", "×floor", "+floor"
        );
        let mut row = |name: &str, figures: Figures, about: &str| {
            let _ = writeln!(
                out,
                "{name:<28} {:>8.3} {:>8.3} {:>8.2} {:>8.3}  {about}",
                millis(figures.median),
                millis(figures.p99),
                self.ratio(figures),
                self.above(figures),
            );
        };
        row("floor", self.floor, "a static program that says hello");
        for (case, figures) in &self.rows {
            row(case.name, *figures, case.about);
        }
        let _ = write!(
            out,
            "\none fdatasync: {:.3} median, {:.3} p99\nbinary: {} bytes",
            millis(self.sync.median),
            millis(self.sync.p99),
            self.binary_bytes
        );
        out
    }

    pub(super) fn json(&self) -> Value {
        let figures = |figures: Figures| {
            json!({
                "median_ms": millis(figures.median),
                "p99_ms": millis(figures.p99),
                "of_floor": self.ratio(figures),
                "above_floor_ms": self.above(figures),
            })
        };
        let cases: serde_json::Map<String, Value> = self
            .rows
            .iter()
            .map(|(case, times)| (case.name.to_owned(), figures(*times)))
            .collect();
        json!({
            "rounds": self.rounds,
            "binary_bytes": self.binary_bytes,
            "fdatasync_ms": millis(self.sync.median),
            "floor": figures(self.floor),
            "cases": cases,
        })
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
