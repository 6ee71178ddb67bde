//! The table, for people and for programs.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use super::count::Counts;

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

/// A line of the table.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) times: Figures,
    pub(super) counts: Counts,
}

#[derive(Debug)]
pub(super) struct Report {
    pub(super) rounds: usize,
    pub(super) binary_bytes: u64,
    pub(super) sync: Figures,
    pub(super) floor: Row,
    pub(super) rows: Vec<Row>,
    /// What could not be counted, one line each.
    pub(super) missing: Vec<&'static str>,
}

impl Report {
    fn ratio(&self, times: Figures) -> f64 {
        times.median.as_secs_f64() / self.floor.times.median.as_secs_f64()
    }

    fn above(&self, times: Figures) -> f64 {
        millis(times.median) - millis(self.floor.times.median)
    }

    fn lines(&self) -> impl Iterator<Item = &Row> {
        std::iter::once(&self.floor).chain(&self.rows)
    }

    pub(super) fn table(&self) -> String {
        let mut out = format!(
            "{} rounds, interleaved; times in ms\n\n{:<26} {:>8} {:>8} {:>7} {:>7} {:>6} {:>8} {:>9}\n",
            self.rounds, "case", "median", "p99", "×floor", "+floor", "calls", "read", "instr."
        );
        let count = |count: Option<u64>| count.map_or_else(|| "-".into(), |n| n.to_string());
        for row in self.lines() {
            let _ = writeln!(
                out,
                "{:<26} {:>8.3} {:>8.3} {:>7.2} {:>7.3} {:>6} {:>8} {:>9}  {}",
                row.name,
                millis(row.times.median),
                millis(row.times.p99),
                self.ratio(row.times),
                self.above(row.times),
                count(row.counts.calls),
                count(row.counts.bytes_read),
                count(row.counts.instructions),
                row.about,
            );
        }
        let _ = write!(
            out,
            "\none fdatasync: {:.3} median, {:.3} p99\nbinary: {} bytes",
            millis(self.sync.median),
            millis(self.sync.p99),
            self.binary_bytes
        );
        for line in &self.missing {
            let _ = write!(out, "\n{line}");
        }
        out
    }

    pub(super) fn json(&self) -> Value {
        let cases: serde_json::Map<String, Value> = self
            .lines()
            .map(|row| {
                let figures = json!({
                    "about": row.about,
                    "median_ms": millis(row.times.median),
                    "p99_ms": millis(row.times.p99),
                    "of_floor": self.ratio(row.times),
                    "above_floor_ms": self.above(row.times),
                    "counts": row.counts.json(),
                });
                (row.name.to_owned(), figures)
            })
            .collect();
        json!({
            "rounds": self.rounds,
            "binary_bytes": self.binary_bytes,
            "fdatasync_ms": millis(self.sync.median),
            "cases": cases,
        })
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
