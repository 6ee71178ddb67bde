//! `mainspring why`: why the last decision was what it was.

use mainspring_kernel::hidden::escape_name;
use mainspring_kernel::journal::Record;
use mainspring_kernel::{Kind, ids};
use mainspring_store::digest;

use super::filter::Filter;
use super::journal_cursor::Shown;
use super::model::decision::{Explained, Explanation, SIMULATED, explain};
use super::model::journal::Row;
use super::records;
use crate::command::{CommandContext, Result};
use crate::error::CliError;
use crate::machines::at_work;
use crate::people::which_session;
use crate::store::ProjectStore;

/// Explain the last stop: why the agent was held or let go, which machine decided that, what it
/// saw, and what would have changed it.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring why\n  mainspring why 12                       record #12, as `log` numbers them\n  mainspring why --event any              the last decision at any event\n  mainspring why -n 3 --machine review    the last three in which review took part"
)]
pub(crate) struct Args {
    /// Explain the record with this number, as `mainspring log` shows it
    #[arg(value_name = "RECORD", value_parser = crate::command::number,
          conflicts_with_all = ["machine", "session", "since", "event", "last"])]
    record: Option<u64>,
    #[command(flatten)]
    filter: Filter,
    /// Explain decisions at this event, such as `prompt` or `session_start`; `any` for all
    #[arg(long, value_name = "EVENT", default_value = STOP, value_parser = event_name)]
    event: String,
    /// Explain the last N decisions, the latest first
    #[arg(long, short = 'n', value_name = "N", default_value_t = 1)]
    last: usize,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// The event that people ask about.
const STOP: &str = "stop";

/// Every event.
const ANY: &str = "any";

fn event_name(text: &str) -> std::result::Result<String, String> {
    if [ANY, records::COMMAND].contains(&text) || Kind::NAMES.contains(&text) {
        return Ok(text.to_owned());
    }
    Err(format!(
        "use one of {}, {}, {ANY}",
        Kind::NAMES.join(", "),
        records::COMMAND
    ))
}

pub(crate) fn run(args: &Args, cmd: &CommandContext) -> Result {
    let (_, store) = cmd.project()?;
    if let Some(number) = args.record {
        return numbered(number, args, cmd, &store);
    }
    let filter = args.filter.resolved(cmd)?;
    let mut explained = Vec::new();
    for seen in records::all(store.dir())?.into_iter().rev() {
        let Shown::Record(record) = seen else {
            continue;
        };
        let record = record.shareable(digest::REDUCER);
        if filter.takes(&Row::of(&record), cmd.env.now())
            && let Explained::Decision(decision) = explain(&record)
            && (args.event == ANY || decision.event == args.event)
        {
            explained.push(decision);
        }
        if explained.len() >= args.last {
            break;
        }
    }
    if explained.is_empty() {
        let what = match args.event.as_str() {
            ANY => "no decision in this project's journal matches".to_owned(),
            event => format!("no decision at a {event} in this project's journal matches"),
        };
        return Err(CliError::not_found(what).hint(
            "`mainspring why --event any` explains the last decision; `mainspring log` shows all",
        ));
    }
    if args.json {
        return crate::command::json_list("decisions", &explained);
    }
    let running = at_work::all(&cmd.env, &store)?;
    let now = running.iter().map(|work| {
        let line = escape_name(&work.line_and_end()).into_owned();
        format!("{} {line}\n", cmd.paint.bold("now:"))
    });
    let texts: Vec<String> = now
        .chain(explained.iter().map(|one| render(cmd, one)))
        .chain(unrecorded(args, cmd, &store, &explained))
        .collect();
    Ok(cmd.fitted(&texts.join("\n")))
}

/// The record with this number.
fn numbered(number: u64, args: &Args, cmd: &CommandContext, store: &ProjectStore) -> Result {
    let record = records::numbered(store.dir(), number)?.ok_or_else(|| {
        CliError::not_found(format!("this project's journal has no record #{number}"))
            .hint("`mainspring log` shows the records with their numbers")
    })?;
    if !args.json {
        return Ok(cmd.fitted(&plainly(cmd, &record)));
    }
    match explain(&record) {
        Explained::Decision(one) => crate::command::json_list("decisions", &[one]),
        Explained::Command(command, _) => Err(CliError::usage(format!(
            "record #{number} is no decision, but a command: {command}"
        ))
        .hint("`mainspring log --json` prints every record")),
    }
}

/// A stop at which no machine applies leaves no record. So the one that is explained may be older
/// than the stop that the person asks about, or another session's.
fn unrecorded(
    args: &Args,
    cmd: &CommandContext,
    store: &ProjectStore,
    explained: &[Explanation],
) -> Option<String> {
    let newest = explained.first()?;
    if args.event != STOP || args.last != 1 {
        return None;
    }
    let mut other = String::new();
    if args.filter.session.is_none()
        && let Some((live, _)) = which_session::here(&cmd.env, store).first()
        && newest.session.as_deref() != Some(live.id.as_str())
    {
        let id = live.id.as_str();
        let short = escape_name(ids::short(id)).into_owned();
        other = format!(
            "This is not session {short}, which is live here: `mainspring why --session {short}`.\n"
        );
    }
    let note = "A later stop at which no machine applied is not recorded: the agent was let go.\n";
    Some(format!("{other}{}", cmd.paint.dim(note)))
}

/// One record in plain words.
pub(crate) fn plainly(cmd: &CommandContext, record: &Record) -> String {
    match explain(record) {
        Explained::Decision(one) => render(cmd, &one),
        Explained::Command(command, did) => format!("{command}: {did}\n"),
    }
}

fn render(cmd: &CommandContext, one: &Explanation) -> String {
    let paint = cmd.paint;
    let session = match &one.session {
        Some(id) => format!("session {}", ids::short(id)),
        None => "no session".into(),
    };
    let session = escape_name(&session);
    let mut out = format!(
        "{} {}\n{}\n",
        paint.bold(&match one.seq {
            SIMULATED => format!("simulated {}: {}", one.event, one.outcome),
            seq => format!("#{seq} {} {}", one.event, one.outcome),
        }),
        paint.dim(&match one.seq {
            SIMULATED => session.into_owned(),
            _ => format!("{}, {session}", which_session::ago(cmd.env.now(), one.time)),
        }),
        one.sentence,
    );
    for because in &one.machines {
        out += &format!(
            "\n  {}  {} → {}, by rule {}\n",
            paint.bold(because.machine),
            because.from,
            because.to,
            because.rule
        );
        for (label, words) in because.parts() {
            out += &format!("    {label:<10} {words}\n");
        }
    }
    for note in &one.notes {
        out += &format!("\n  {} {note}\n", paint.warn("told the person:"));
    }
    out
}
