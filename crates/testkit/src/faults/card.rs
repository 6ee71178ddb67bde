//! The results: what was tried, how often, and what came of it; as text and as JSON.

use std::process::Command;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::sweep::Tally;
use crate::clients::workspace;

#[derive(Debug)]
pub(super) struct Row {
    pub(super) part: &'static str,
    pub(super) claim: &'static str,
    pub(super) paths: usize,
    pub(super) seconds: u64,
    pub(super) tally: Tally,
}

#[derive(Debug)]
pub(super) struct Card {
    pub(super) rows: Vec<Row>,
    pub(super) quick: bool,
}

impl Card {
    pub(super) fn text(&self) -> String {
        let mut text = format!(
            "commit {}, {}, {}{}\n",
            commit(),
            Timestamp::now().strftime("%Y-%m-%d %H:%M UTC"),
            machine(),
            if self.quick { ", quick" } else { "" }
        );
        for row in &self.rows {
            text.push_str(&row.text());
        }
        text
    }

    pub(super) fn json(&self) -> Value {
        let rows: Vec<Value> = self.rows.iter().map(Row::json).collect();
        json!({
            "commit": commit(),
            "date": Timestamp::now().to_string(),
            "machine": machine(),
            "quick": self.quick,
            "rows": rows,
        })
    }
}

impl Row {
    pub(super) fn text(&self) -> String {
        let mut text = format!(
            "{:<8} {:>7} points on {:>2} paths, {} failed, {:>4} s  {}\n",
            self.part,
            self.tally.points,
            self.paths,
            self.tally.failures.len(),
            self.seconds,
            self.claim,
        );
        for (what, count) in &self.tally.counts {
            text.push_str(&format!("         {count} {what}\n"));
        }
        for note in &self.tally.notes {
            text.push_str(&format!("         {note}\n"));
        }
        text
    }

    fn json(&self) -> Value {
        json!({
            "part": self.part,
            "claim": self.claim,
            "command": format!("mainspring-testkit faults --part {}", self.part),
            "paths": self.paths,
            "points": self.tally.points,
            "failed": self.tally.failures.len(),
            "seconds": self.seconds,
            "counts": self.tally.counts,
            "notes": self.tally.notes,
        })
    }
}

fn commit() -> String {
    let output = Command::new("git")
        .args(["describe", "--always", "--dirty", "--exclude=*"])
        .current_dir(workspace())
        .output();
    let text = output.map(|output| output.stdout).unwrap_or_default();
    match String::from_utf8_lossy(&text).trim() {
        "" => "unknown".into(),
        commit => commit.to_owned(),
    }
}

fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{cores} cores, Linux {}", kernel.trim())
}
