//! `mainspring replay`: make recorded decisions again, and show the first that differs.

use std::path::{Path, PathBuf};

use mainspring_kernel::journal::{Divergence, Entry, Record};

use super::records::{self, Seen};
use super::{Desk, Result, timestamp};
use crate::error::CliError;
use crate::store::journal::{Line, Reader};

/// Make the decisions of a journal again, and show the first that comes out differently.
///
/// A record holds everything that its decision was made from, so the same version makes the
/// same decision, byte for byte; another version may not, and this shows where.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A journal file; without it, this project's journal
    file: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, desk: &Desk) -> Result {
    let lines = match &args.file {
        Some(path) => from_file(path)?,
        None => records::all(desk.site()?.1.dir())?,
    };
    let mut decisions = 0_usize;
    let mut damaged = Vec::new();
    for line in lines {
        match line {
            Seen::Problem(problem) => damaged.push(problem),
            Seen::Record(record) => {
                if let Entry::Verb { .. } = record.entry {
                    continue;
                }
                record
                    .replay()
                    .map_err(|divergence| differs(&record, &divergence, decisions))?;
                decisions += 1;
            }
        }
    }
    let mut out = format!("{decisions} decisions made again: all the same\n");
    for problem in damaged {
        out += &format!("{} {problem}\n", desk.paint.warn("skipped:"));
    }
    Ok(out)
}

fn from_file(path: &Path) -> Result<Vec<Seen>> {
    let Some(reader) = Reader::open(path, 0, None)? else {
        return Err(CliError::new(format!(
            "there is no file {}",
            path.display()
        )));
    };
    let mut lines = Vec::new();
    for line in reader {
        lines.push(match line? {
            Line::Record(entry) => Seen::Record(Box::new(entry.record)),
            Line::Bad { at, problem } => {
                Seen::Problem(format!("{}, byte {at}: {problem}", path.display()))
            }
            Line::Newer { v } => Seen::Problem(format!("a record of format {v}")),
        });
    }
    if !lines.iter().any(|line| matches!(line, Seen::Record(_))) {
        return Err(
            CliError::new(format!("{} has no record of ours", path.display()))
                .hint("a journal is named journal.jsonl; `mainspring doctor` says where"),
        );
    }
    Ok(lines)
}

fn differs(record: &Record, divergence: &Divergence, before: usize) -> CliError {
    let pretty = |value| super::pretty(value).unwrap_or_default();
    let (was, now) = (pretty(&divergence.recorded), pretty(&divergence.replayed));
    let same = was
        .lines()
        .zip(now.lines())
        .take_while(|(one, other)| one == other)
        .count();
    let at = |text: &str| text.lines().nth(same).unwrap_or("").trim().to_owned();
    CliError::new(format!(
        "#{} of {} comes out differently, after {before} that did not\n  recorded {}: {}\n  now      {}: {}",
        record.seq,
        timestamp(record.at),
        records::outcome(&divergence.recorded),
        at(&was),
        records::outcome(&divergence.replayed),
        at(&now),
    ))
    .hint("the journal was written by another version, or it was changed")
}
