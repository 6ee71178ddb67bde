//! `mainspring debug replay`: repeat recorded decisions, and show the first that differs.

use std::path::{Path, PathBuf};

use mainspring_kernel::deliberate::Ruling;
use mainspring_kernel::journal::{Divergence, Entry, FORMAT, Record};
use mainspring_store::journal::{JournalLine, Reader};
use mainspring_store::{ShownPath as _, atomic, limits};
use serde::Serialize;
use serde_json::Value;

use crate::command::{CommandContext, Result, timestamp};
use crate::error::CliError;
use crate::exit::Exit;
use crate::show::journal_cursor::Shown;
use crate::show::records::{self, Ending};

/// Repeat the decisions of a journal, and show the first that comes out differently.
///
/// A record holds everything that its decision was made from, so the same version makes the
/// same decision, byte for byte. Another version may decide differently, and this shows where.
/// A message that is only worded differently is not a different decision.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring debug replay                     this project's decisions\n  mainspring debug replay report.jsonl        somebody else's, from `mainspring log --json`"
)]
pub(super) struct Args {
    /// A journal, or what `mainspring log --json` printed; default: this project's journal
    file: Option<PathBuf>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// The result, for other programs.
#[derive(Default, Serialize)]
struct View {
    /// How many came out the same.
    same: usize,
    /// How many of them this version words differently.
    reworded: usize,
    /// The first that came out differently.
    differs: Option<Difference>,
    /// Lines that are not records.
    skipped: Vec<String>,
}

#[derive(Serialize)]
struct Difference {
    seq: u64,
    at: String,
    /// The outcome and the first line that differs.
    recorded: [String; 2],
    now: [String; 2],
}

pub(super) fn run(args: &Args, cmd: &CommandContext) -> Result {
    let lines = match &args.file {
        Some(path) => from_file(path)?,
        None => records::all(cmd.project()?.1.dir())?,
    };
    let mut view = View::default();
    for line in lines {
        let record = match line {
            Shown::Problem(problem) => {
                view.skipped.push(problem);
                continue;
            }
            Shown::Record(record) => record,
        };
        if let Entry::Verb { .. } = record.entry {
            continue;
        }
        if let Err(divergence) = record.replay() {
            view.differs = difference(&record, &divergence)?;
            if view.differs.is_some() {
                break;
            }
            view.reworded += 1;
        }
        view.same += 1;
    }
    if args.json {
        let text = crate::command::json(&view)?;
        return match view.differs {
            None => Ok(text),
            Some(_) => Err(CliError::shown(text, Exit::Failure)),
        };
    }
    if let Some(difference) = &view.differs {
        return Err(differs(difference, view.same));
    }
    let reworded = match view.reworded {
        0 => String::new(),
        some => format!(", {some} of them worded differently"),
    };
    let mut out = format!("repeated {} decisions: all the same{reworded}\n", view.same);
    for problem in view.skipped {
        out += &format!("{} {problem}\n", cmd.paint.warn("skipped:"));
    }
    Ok(cmd.fitted(&out))
}

fn from_file(path: &Path) -> Result<Vec<Shown>> {
    let reader = Reader::open(path, 0, None)?.ok_or_else(|| {
        CliError::no_file(path)
            .hint("`mainspring debug replay` without a file repeats this project's journal")
    })?;
    let mut lines = Vec::new();
    for line in reader {
        lines.push(match line? {
            JournalLine::Record(entry) => Shown::Record(Box::new(entry.record)),
            JournalLine::Bad { at, problem, .. } => {
                Shown::Problem(format!("{}, byte {at}: {problem}", path.shown()))
            }
            JournalLine::Newer { v } => Shown::Problem(format!("a record of format {v}")),
        });
    }
    if has_records(&lines) {
        return Ok(lines);
    }
    let lines = from_log(path)?;
    if has_records(&lines) {
        return Ok(lines);
    }
    Err(
        CliError::not_found(format!("{} holds no record of mainspring", path.shown()))
            .hint("`mainspring log --json` prints records"),
    )
}

fn has_records(lines: &[Shown]) -> bool {
    lines.iter().any(|line| matches!(line, Shown::Record(_)))
}

/// What `mainspring log --json` printed: records without checksums.
fn from_log(path: &Path) -> Result<Vec<Shown>> {
    let text = atomic::read_text(path, limits::RECORD)?.unwrap_or_default();
    let lines = text.lines().enumerate();
    let lines = lines.map(|(index, line)| match serde_json::from_str::<Record>(line) {
        Ok(record) if record.v <= FORMAT => Shown::Record(Box::new(record)),
        Ok(record) => Shown::Problem(format!("a record of format {}", record.v)),
        Err(error) => Shown::Problem(format!("{}, line {}: {error}", path.shown(), index + 1)),
    });
    Ok(lines.collect())
}

/// A ruling without its sentences. A later version may word a message better; that is not a
/// different decision. And records of format 1 have texts of people and agents in their messages,
/// which must not be shown here.
fn without_sentences(ruling: &Ruling) -> Result<Value> {
    let text = mainspring_json::text(ruling)?;
    let mut value = serde_json::from_str(&text)?;
    drop_sentences(&mut value);
    Ok(value)
}

/// A text with a space in it is a sentence: names and numbers have none.
fn drop_sentences(value: &mut Value) {
    match value {
        Value::String(text) if text.contains(' ') => *text = "…".into(),
        Value::Array(values) => values.iter_mut().for_each(drop_sentences),
        Value::Object(fields) => fields.values_mut().for_each(drop_sentences),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Where the rulings differ, if they do in more than their sentences.
fn difference(record: &Record, divergence: &Divergence) -> Result<Option<Difference>> {
    let recorded = without_sentences(&divergence.recorded)?;
    let replayed = without_sentences(&divergence.replayed)?;
    if recorded == replayed {
        return Ok(None);
    }
    let (was, now) = (
        crate::command::pretty(&recorded)?,
        crate::command::pretty(&replayed)?,
    );
    let same = was
        .lines()
        .zip(now.lines())
        .take_while(|(one, other)| one == other)
        .count();
    let at = |text: &str| text.lines().nth(same).unwrap_or("").trim().to_owned();
    Ok(Some(Difference {
        seq: record.seq,
        at: timestamp(record.at),
        recorded: [Ending::of(&divergence.recorded).word().into(), at(&was)],
        now: [Ending::of(&divergence.replayed).word().into(), at(&now)],
    }))
}

fn differs(difference: &Difference, before: usize) -> CliError {
    CliError::new(format!(
        "record #{} of {} comes out differently; {before} before it came out the same\n  recorded {}\n  now      {}",
        difference.seq,
        difference.at,
        difference.recorded.join(": "),
        difference.now.join(": "),
    ))
    .hint("another version wrote this journal, or somebody changed it")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn other_words_are_the_same_decision_and_another_number_is_not() {
        let without = |mut value: Value| {
            drop_sentences(&mut value);
            value
        };
        let recorded = json!({"held": 1, "by": "gate", "notes": [{"text": "it was held"}]});
        for (replayed, same) in [
            (
                json!({"held": 1, "by": "gate", "notes": [{"text": "you kept it"}]}),
                true,
            ),
            (
                json!({"held": 2, "by": "gate", "notes": [{"text": "it was held"}]}),
                false,
            ),
            (
                json!({"held": 1, "by": "loop", "notes": [{"text": "it was held"}]}),
                false,
            ),
            (json!({"held": 1, "by": "gate", "notes": []}), false),
            (
                json!({"held": 1, "by": "gate", "notes": [{"text": "held"}]}),
                false,
            ),
            (
                json!({"by": "gate", "notes": [{"text": "it was held"}]}),
                false,
            ),
        ] {
            let equal = without(recorded.clone()) == without(replayed.clone());
            assert_eq!(equal, same, "{replayed}");
        }
    }
}
