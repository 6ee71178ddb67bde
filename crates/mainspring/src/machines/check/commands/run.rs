//! `mainspring check run`: run checks now, without waiting for a stop.

use std::path::Path;

use mainspring_kernel::authority::Grounds;
use mainspring_kernel::event::Chain;
use mainspring_kernel::machines::check::results::{Ended, EndedAs};
use mainspring_kernel::machines::check::verbs;
use mainspring_kernel::{Decision, Event, Name};

use crate::command::{CommandContext, Result};
use crate::context::Caller;
use crate::error::CliError;
use crate::exit::Exit;
use crate::hook::drive::drive;
use crate::hosts::Payload;
use crate::machines::check;
use crate::output;

/// Run the checks now, or one of them, and keep the results. Exits with 0 if all of them pass
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The check; without it, all of them
    name: Option<String>,
}

pub(super) fn run(args: &Args, cmd: &CommandContext) -> Result {
    cmd.may("check run", Grounds::Nothing)?;
    cmd.permit(Name::Check)?;
    let context = cmd.context()?;
    let checks = super::trusted(&context)?;
    let defined: Vec<_> = checks.definitions.iter().map(check::defined).collect();
    let results = check::results(&context)?;
    for one in verbs::wanted(&defined, args.name.as_deref())? {
        let last = results.last_took(&one.name);
        let last = last.map_or_else(
            || "for the first time".into(),
            |took| format!("last time {}", took.in_words()),
        );
        output::stderr(&format!("{}: running, {last}", one.name));
    }
    let stop = Event::stop(None, Chain::First);
    let payload = Payload::played(stop, context.project.worktree.clone(), cmd.env.now());
    let context = context.seen_by(Caller::Command {
        event: Some(&payload),
        subject: args.name.as_deref(),
    });
    let answer = drive(&context, &payload, &[Name::Check]).without_optional_notes();
    let mut out = String::new();
    for note in &answer.notes {
        out += &format!("{}\n", note.text);
    }
    let results = check::results(&context)?;
    let asked = verbs::wanted(&defined, args.name.as_deref())?;
    let last = |name: &str| results.of(name).map(|kept| &kept.last);
    let failed: String = asked
        .iter()
        .filter_map(|one| failure(&one.name, last(&one.name)?))
        .collect();
    let held = match &answer.decision {
        Decision::Stop { hold } if !hold.is_empty() => Some(hold.text()),
        _ => None,
    };
    match &held {
        // A pinned file has changed. What failed is worded for an agent there.
        Some(text) if failed.is_empty() => out += &format!("{text}\n"),
        Some(_) | None => out += &failed,
    }
    let passed = |name: &str| last(name).is_some_and(|last| last.result == EndedAs::Pass);
    if held.is_none() && asked.iter().all(|one| passed(&one.name)) {
        return Ok(out);
    }
    Err(CliError::shown(out, Exit::Failure))
}

/// What a person reads of a check that failed.
fn failure(name: &str, last: &Ended) -> Option<String> {
    if last.result != EndedAs::Fail {
        return None;
    }
    let said = check::log_text(Path::new(&last.log));
    let said = check::quoted_output(said.as_bytes());
    let lines = said.lines().map(|line| format!("    | {line}\n"));
    Some(format!(
        "`{name}` fails: {}, {}\n{}`mainspring check log {name}` shows its whole output\n",
        last.cause,
        last.took.in_words(),
        lines.collect::<String>()
    ))
}
