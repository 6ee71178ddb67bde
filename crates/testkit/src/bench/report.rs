//! The table, as text and as JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::count::Counts;
use super::race::Figures;

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
    /// A bare loop that creates this many files.
    pub(super) files: Vec<(usize, Figures)>,
    pub(super) floor: Row,
    pub(super) rows: Vec<Row>,
    /// What could not be counted, one line each.
    pub(super) missing: Vec<String>,
}

impl Report {
    fn ratio(&self, times: Figures) -> f64 {
        times.median_ms() / self.floor.times.median_ms()
    }

    fn above(&self, times: Figures) -> f64 {
        times.median_ms() - self.floor.times.median_ms()
    }

    fn lines(&self) -> impl Iterator<Item = &Row> {
        std::iter::once(&self.floor).chain(&self.rows)
    }

    pub(super) fn table(&self) -> String {
        let mut out = format!(
            "{} rounds, interleaved; times in ms\n\n{:<26}",
            self.rounds, "case"
        );
        for (width, name) in COLUMNS {
            let _ = write!(out, " {name:>width$}");
        }
        out.push('\n');
        for row in self.lines() {
            let _ = write!(out, "{:<26}", row.name);
            for ((width, _), cell) in COLUMNS.iter().zip(self.cells(row)) {
                let _ = write!(out, " {cell:>width$}");
            }
            let _ = writeln!(out, "  {}", row.about);
        }
        for line in self.notes() {
            let _ = write!(out, "\n{line}");
        }
        out
    }

    /// The same as Markdown.
    pub(super) fn markdown(&self) -> String {
        let mut out = String::from("| case |");
        for (_, name) in COLUMNS {
            let _ = write!(out, " {name} |");
        }
        let _ = writeln!(out, " |\n|---|{}---|", "--:|".repeat(COLUMNS.len()));
        for row in self.lines() {
            let _ = write!(out, "| {} |", row.name);
            for cell in self.cells(row) {
                let _ = write!(out, " {cell} |");
            }
            let _ = writeln!(out, " {} |", row.about);
        }
        let _ = writeln!(out, "\n{} rounds, interleaved; times in ms.", self.rounds);
        for line in self.notes() {
            let _ = writeln!(out, "- {line}");
        }
        out
    }

    fn cells(&self, row: &Row) -> [String; COLUMNS.len()] {
        let count = |count: Option<u64>| count.map_or_else(|| "–".into(), grouped);
        [
            format!("{:.3}", row.times.median_ms()),
            format!("{:.3}", row.times.p99_ms()),
            format!("{:.2}", self.ratio(row.times)),
            format!("{:.3}", self.above(row.times)),
            count(row.counts.calls),
            count(row.counts.bytes_read),
            count(row.counts.instructions.map(|count| count.div_ceil(1_000))),
            count(row.counts.peak_kib),
            count(row.counts.faults),
        ]
    }

    fn notes(&self) -> Vec<String> {
        let figures =
            |times: Figures| format!("{:.3} median, {:.3} p99", times.median_ms(), times.p99_ms());
        let mut lines = vec![format!("one fdatasync: {}", figures(self.sync))];
        for (count, times) in &self.files {
            let files = grouped(*count as u64);
            lines.push(format!(
                "a bare loop that makes {files} files and renames them: {}",
                figures(*times)
            ));
        }
        lines.push(format!("the binary: {} bytes", grouped(self.binary_bytes)));
        lines.extend(self.missing.iter().cloned());
        lines
    }

    pub(super) fn json(&self) -> Value {
        let cases: serde_json::Map<String, Value> = self
            .lines()
            .map(|row| {
                let figures = json!({
                    "about": row.about,
                    "median_ms": rounded(row.times.median_ms()),
                    "p99_ms": rounded(row.times.p99_ms()),
                    "of_floor": rounded(self.ratio(row.times)),
                    "above_floor_ms": rounded(self.above(row.times)),
                    "counts": row.counts.json(),
                });
                (row.name.to_owned(), figures)
            })
            .collect();
        let files: serde_json::Map<String, Value> = self
            .files
            .iter()
            .map(|(count, times)| (count.to_string(), json!(rounded(times.median_ms()))))
            .collect();
        json!({
            "rounds": self.rounds,
            "binary_bytes": self.binary_bytes,
            "fdatasync_ms": rounded(self.sync.median_ms()),
            "bare_files_ms": files,
            "cases": cases,
            "missing": self.missing,
        })
    }
}

/// The table's columns, with their widths in a terminal.
const COLUMNS: [(usize, &str); 9] = [
    (8, "median"),
    (8, "p99"),
    (7, "×floor"),
    (8, "+floor"),
    (6, "calls"),
    (9, "read"),
    (8, "k instr."),
    (6, "KiB"),
    (6, "faults"),
];

/// To the microsecond: further digits are noise and make the file hard to read.
pub(super) fn rounded(number: f64) -> f64 {
    (number * 1_000.0).round() / 1_000.0
}

/// `12345` as `12,345`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_by_three() {
        let all = [0, 999, 1_000, 12_345, 1_234_567].map(grouped);
        assert_eq!(all, ["0", "999", "1,000", "12,345", "1,234,567"]);
    }
}
