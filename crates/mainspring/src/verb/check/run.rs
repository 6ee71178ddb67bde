//! `mainspring check run`: run checks now, without waiting for a stop.

use mainspring_kernel::authority::Grounds;
use mainspring_kernel::event::Chain;
use mainspring_kernel::machines::check::verbs;
use mainspring_kernel::{Decision, Event, Name};

use crate::drive::drive;
use crate::error::CliError;
use crate::event_context::EventContext;
use crate::exit::Exit;
use crate::host::Payload;
use crate::machine::check;
use crate::output;
use crate::verb::{CommandContext, Result};

/// Run the checks now, or one of them, and keep the results
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The check; without it, all of them
    name: Option<String>,
}

pub(super) fn run(args: &Args, cmd: &CommandContext) -> Result {
    cmd.may("check run", Grounds::Nothing)?;
    cmd.permit(Name::Check)?;
    let (project, store) = cmd.project()?;
    let context = EventContext::new(&cmd.env, &project, &store, None);
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
    let payload = Payload::played(stop, project.worktree.clone(), cmd.env.now());
    let context = EventContext::new(&cmd.env, &project, &store, Some(&payload)).by_command();
    let context = match &args.name {
        Some(name) => context.about_subject(name),
        None => context,
    };
    let answer = drive(&context, &payload, &[Name::Check]).without_optional_notes();
    let mut out = String::new();
    for note in &answer.notes {
        out += &format!("{}\n", note.text);
    }
    match &answer.decision {
        Decision::Stop { hold } if !hold.is_empty() => {
            out += &format!("{}\n", hold.text());
            Err(CliError::shown(out, Exit::Failure))
        }
        _ => Ok(out),
    }
}
