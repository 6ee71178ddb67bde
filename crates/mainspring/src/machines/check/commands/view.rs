//! What each check has shown.

use mainspring_kernel::Digest;
use mainspring_kernel::hidden::{escape_name, name};
use mainspring_kernel::machines::check::messages::short;
use mainspring_kernel::machines::check::results::EndedAs;
use serde::Serialize;

use super::permit;
use crate::command::{CommandContext, Result, timestamp};
use crate::context::EventContext;
use crate::machines::check;

#[derive(Debug, clap::Args)]
pub(super) struct ViewArgs {
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// One check, for a view.
#[derive(Debug, Serialize)]
struct CheckRow {
    name: String,
    run: Vec<String>,
    when: Vec<&'static str>,
    /// The key of this tree, unless it could not be taken.
    key: Option<Digest>,
    /// `pass`, `fail`, `flaky`, `could not run`; or `unknown`, if it did not run over this tree.
    now: &'static str,
    #[serde(skip)]
    ended: Option<EndedAs>,
    /// Its pinned files that are not as they were trusted.
    changed_pins: Vec<String>,
    last: Option<Last>,
}

/// Its last run, over whatever tree.
#[derive(Debug, Serialize)]
struct Last {
    result: EndedAs,
    cause: String,
    key: Digest,
    at: String,
    took_ms: u64,
    log: String,
}

pub(super) fn run(args: &ViewArgs, cmd: &CommandContext) -> Result {
    let context = cmd.context()?;
    let (rows, problem) = rows(&context)?;
    if args.json {
        return crate::command::json_list("checks", &rows);
    }
    super::trusted(&context)?;
    let mut out = String::new();
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    for row in &rows {
        out += &line(cmd, row, width);
    }
    if let Some(problem) = problem {
        out += &format!("the keys could not be taken: {}\n", escape_name(&problem));
    }
    Ok(cmd.fitted(&out))
}

/// The rows, and why there are no keys, if there are none.
fn rows(context: &EventContext<'_>) -> Result<(Vec<CheckRow>, Option<String>)> {
    let checks = context.permission().checks(context.root())?;
    let results = check::results(context)?;
    let taken = match permit(context) {
        Ok(permit) => check::taken(context, &permit, &checks),
        Err(error) => Err(error.cause),
    };
    let (taken, problem) = match taken {
        Ok(taken) => (taken, None),
        Err(cause) => (Vec::new(), Some(cause)),
    };
    let rows = checks.definitions.iter().enumerate().map(|(at, check)| {
        let taken = taken.get(at);
        let kept = results.of(&check.name);
        let last = kept.map(|kept| &kept.last);
        let key = taken.map(|taken| taken.key.clone());
        let passed =
            taken.is_some_and(|taken| check::green(&results, &check.name, taken).is_some());
        let same = last.filter(|last| Some(&last.key) == key.as_ref());
        let ended = if passed {
            Some(EndedAs::Pass)
        } else {
            same.map(|last| last.result)
        };
        CheckRow {
            name: check.name.clone(),
            run: check.run.clone(),
            when: check.when.iter().map(|one| one.as_str()).collect(),
            now: ended.map_or("unknown", EndedAs::as_str),
            ended,
            key,
            changed_pins: taken.map_or_else(Vec::new, |taken| taken.pins.clone()),
            last: last.map(|last| Last {
                result: last.result,
                cause: last.cause.clone(),
                key: last.key.clone(),
                at: timestamp(last.at),
                took_ms: last.took.0,
                log: last.log.clone(),
            }),
        }
    });
    Ok((rows.collect(), problem))
}

fn line(cmd: &CommandContext, row: &CheckRow, width: usize) -> String {
    let paint = cmd.paint;
    let now = match row.ended {
        Some(EndedAs::Pass) => paint.good(row.now),
        None => paint.dim("not run over this tree"),
        Some(_) => paint.warn(row.now),
    };
    let mut out = format!("{:<width$}  {now}", row.name);
    if let Some(key) = &row.key {
        out += &format!("  at {}", short(key));
    }
    out += &format!("  {}\n", paint.dim(&escape_name(&row.run.join(" "))));
    for pin in &row.changed_pins {
        let pin = name(pin);
        out += &format!("  {pin} is not as you trusted it: `mainspring trust` shows the change\n");
    }
    if let Some(last) = &row.last {
        let cause = match last.cause.as_str() {
            "" => String::new(),
            cause => format!(" ({})", escape_name(cause)),
        };
        let took = mainspring_kernel::Millis(last.took_ms).in_words();
        out += &paint.dim(&format!(
            "  last: {}{cause}, {took}, {}\n  log: {}\n",
            last.result.as_str(),
            last.at,
            name(&last.log)
        ));
    }
    out
}
