//! `mainspring log`: the journal, a line per decision.

use std::path::Path;
use std::time::Duration;

use mainspring_store::digest;

use super::filter::Filter;
use super::journal_cursor::{JournalCursor, Shown};
use super::model::journal::{Row, Step};
use super::records;
use crate::command::{CommandContext, Result, timestamp};
use crate::output;
use crate::wrap;

/// Show the decisions in this project, oldest first, one per line.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring log --follow\n  mainspring log --since 1h --machine gate"
)]
pub(crate) struct Args {
    #[command(flatten)]
    filter: Filter,
    /// Show at most the latest N
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    last: usize,
    /// Keep showing new decisions until Ctrl-C
    #[arg(long, short)]
    follow: bool,
    /// Print the records as JSON, one per line, without the contents of files
    #[arg(long)]
    json: bool,
}

/// Where a line goes on that does not fit the window.
const HANG: usize = 4;

/// How often a followed journal is read.
const GLANCE: Duration = Duration::from_millis(250);

pub(crate) fn run(args: &Args, cmd: &CommandContext) -> Result {
    let (_, store) = cmd.project()?;
    let args = &Args {
        filter: args.filter.resolved(cmd)?,
        ..*args
    };
    let mut reader = Reader::default();
    let lines = reader.lines(args, cmd, store.dir())?;
    let skip = lines.len().saturating_sub(args.last);
    let mut text: String = lines.into_iter().skip(skip).collect();
    if !args.follow {
        let empty = text.is_empty() && !args.json;
        return Ok(match (empty, reader.shown) {
            (false, _) => text,
            (true, 0) => "nothing is recorded in this project yet\n".into(),
            (true, _) => "no record matches\n".into(),
        });
    }
    while output::stdout(&text, cmd.paint).is_ok() {
        std::thread::sleep(GLANCE);
        text = reader.lines(args, cmd, store.dir())?.concat();
    }
    Ok(String::new())
}

#[derive(Default)]
struct Reader {
    cursor: JournalCursor,
    /// The number of the last record that was shown. It is not shown again when the journal is read
    /// anew, because old parts of it were deleted.
    shown: u64,
}

impl Reader {
    /// A line for each record that is new.
    fn lines(&mut self, args: &Args, cmd: &CommandContext, dir: &Path) -> Result<Vec<String>> {
        let (first, mut seen) = (self.shown == 0, Vec::new());
        records::exists(dir)?;
        self.cursor.read_new(dir, &mut |one| seen.push(one))?;
        let mut lines = Vec::new();
        for seen in seen {
            match seen {
                Shown::Problem(problem) if first && !args.json => {
                    lines.push(format!("{} {problem}\n", cmd.paint.warn("damaged:")));
                }
                Shown::Problem(_) => {}
                Shown::Record(record) if record.seq <= self.shown => {}
                Shown::Record(record) => {
                    self.shown = record.seq;
                    let record = record.shareable(digest::REDUCER);
                    let row = Row::of(&record);
                    if !args.filter.takes(&row, cmd.env.later()) {
                        continue;
                    }
                    lines.push(if args.json {
                        mainspring_json::text(&record)? + "\n"
                    } else {
                        render(cmd, &row)
                    });
                }
            }
        }
        Ok(lines)
    }
}

fn render(cmd: &CommandContext, row: &Row) -> String {
    let session = row.session.as_ref().map_or("-", |id| id.as_str());
    let session: String = session.chars().take(8).collect();
    let time = cmd.paint.dim(&timestamp(row.at));
    let mut line = format!("{time} #{:<4} {session:<8} {:<13} ", row.seq, row.event);
    match row.ending {
        None => line += &row.notes.concat(),
        Some(ending) => {
            line += &if row.is_held() {
                cmd.paint.warn(ending.word())
            } else {
                ending.to_string()
            };
            for step in row.steps.iter().filter(|step| !step.rule.is_empty()) {
                let Step {
                    machine,
                    from,
                    to,
                    rule,
                    ..
                } = step;
                line += &format!("  {machine}: {from} → {to} ({rule})");
            }
            for note in &row.notes {
                line += &format!("  · {note}");
            }
        }
    }
    wrap::hanging(&(line + "\n"), cmd.width, HANG)
}
