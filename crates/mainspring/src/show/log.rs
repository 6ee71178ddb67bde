//! `mainspring log`: the journal, a line per decision.

use std::time::Duration;

use mainspring_kernel::deliberate::Ruling;
use mainspring_kernel::journal::{Entry, Record};
use mainspring_store::digest;

use super::filter::Filter;
use super::journal_cursor::Shown;
use super::records;
use crate::command::{CommandContext, Result, timestamp};
use crate::hosts::text::excerpt;
use crate::machines::review::history;
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
    let mut shown = 0;
    let lines = lines(args, cmd, store.dir(), &mut shown)?;
    let skip = lines.len().saturating_sub(args.last);
    let text: String = lines.into_iter().skip(skip).collect();
    if !args.follow {
        let empty = text.is_empty() && !args.json;
        return Ok(match (empty, shown) {
            (false, _) => text,
            (true, 0) => "nothing is recorded in this project yet\n".into(),
            (true, _) => "no record matches\n".into(),
        });
    }
    let mut text = text;
    while output::stdout(&text, cmd.paint).is_ok() {
        std::thread::sleep(GLANCE);
        text = self::lines(args, cmd, store.dir(), &mut shown)?.concat();
    }
    Ok(String::new())
}

/// The records after number `shown`.
fn lines(
    args: &Args,
    cmd: &CommandContext,
    dir: &std::path::Path,
    shown: &mut u64,
) -> Result<Vec<String>> {
    let first = *shown == 0;
    let mut lines = Vec::new();
    for seen in records::all(dir)? {
        match seen {
            Shown::Problem(problem) if first && !args.json => {
                lines.push(format!("{} {problem}\n", cmd.paint.warn("damaged:")));
            }
            Shown::Problem(_) => {}
            Shown::Record(record) if record.seq <= *shown => {}
            Shown::Record(record) => {
                *shown = record.seq;
                if args.filter.takes(&record, cmd.env.later()) {
                    lines.push(render(args, cmd, &record.shareable(digest::REDUCER))?);
                }
            }
        }
    }
    Ok(lines)
}

fn render(args: &Args, cmd: &CommandContext, record: &Record) -> Result {
    if args.json {
        let line = mainspring_json::text(record)?;
        return Ok(line + "\n");
    }
    let session = record.session().map_or("-", |id| id.as_str());
    let session: String = session.chars().take(8).collect();
    let time = cmd.paint.dim(&timestamp(record.at));
    let head = format!("{time} #{:<4} {session:<8}", record.seq);
    let line = match &record.entry {
        Entry::Verb { command, did, .. } => {
            format!(
                "{head} {:<13} mainspring {command}: {did}\n",
                records::COMMAND
            )
        }
        Entry::Turn { case, ruling } => {
            let event = records::event(case);
            let word = records::outcome(ruling);
            let word = match word {
                "held" => cmd.paint.warn(word),
                _ => word.to_owned(),
            };
            let mut details = details(ruling);
            for words in case.inputs.iter().filter_map(history::came_back) {
                details += &format!("  · {words}");
            }
            format!("{head} {event:<13} {word}{details}\n")
        }
    };
    Ok(wrap::hanging(&line, cmd.width, HANG))
}

fn details(ruling: &Ruling) -> String {
    match ruling {
        Ruling::Repeated(_) => String::new(),
        Ruling::Intends(pending) => {
            let name = pending.name();
            format!("  {name}: {}", records::effect(name))
        }
        Ruling::Settled(settlement) => {
            let mut out = String::new();
            for moved in settlement
                .transitions
                .iter()
                .filter(|moved| !moved.rule().is_empty())
            {
                out += &format!(
                    "  {}: {} → {} ({})",
                    moved.name(),
                    moved.from(),
                    moved.to(),
                    moved.rule()
                );
            }
            for note in records::told(settlement) {
                out += &format!("  · {}", excerpt(&note.text));
            }
            out
        }
    }
}
