//! `mainspring plan review`: run the review that is due without waiting for a stop, or begin a
//! fresh cycle.

use mainspring_kernel::event::Chain;
use mainspring_kernel::machines::review::{Kind, Upshot, verbs};
use mainspring_kernel::{Decision, Event, Name};

use super::change::{task_id, told};
use super::{Asker, Which, changes, remembered};
use crate::command::{CommandContext, Result};
use crate::context::Caller;
use crate::error::CliError;
use crate::hook::drive::drive_by_command;
use crate::hosts::Payload;

/// Run the review that is due, or retry a parked one, without waiting for a stop
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// Start it now. It takes minutes and costs money, so this must be given
    #[arg(long = "now", required = true)]
    _now: bool,
    #[command(flatten)]
    which: Which,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Restart(RestartArgs),
}

/// Begin a fresh cycle of reviews: all counts are zero, and the first reviewer starts at the
/// agent's next stop
#[derive(Debug, clap::Args)]
struct RestartArgs {
    /// What is reviewed; default: what was reviewed last
    kind: Option<KindArg>,
    /// For `code`: the task
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    #[command(flatten)]
    which: Which,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum KindArg {
    Plan,
    Tasks,
    Code,
    AllCode,
}

impl From<KindArg> for Kind {
    fn from(kind: KindArg) -> Self {
        match kind {
            KindArg::Plan => Self::Plan,
            KindArg::Tasks => Self::Tasks,
            KindArg::Code => Self::Code,
            KindArg::AllCode => Self::AllCode,
        }
    }
}

pub(super) fn run(args: &Args, cmd: &CommandContext) -> Result {
    match &args.verb {
        Some(Verb::Restart(args)) => restart(args, cmd),
        None => now(args, cmd),
    }
}

fn restart(args: &RestartArgs, cmd: &CommandContext) -> Result {
    let kind = args.kind.map(Kind::from);
    let task = args.task.as_deref().map(task_id).transpose()?;
    let command = match kind {
        Some(kind) => format!("plan review restart {}", kind.name()),
        None => "plan review restart".to_owned(),
    };
    let did = cmd.commit(Name::Review, &command, |context| {
        let opened = args.which.open(context)?;
        let found = opened.plan()?;
        let asker = Asker::new(cmd, context)?;
        let asked = asker.about(&opened)?;
        let step = verbs::restart(found, kind, task.as_ref(), asked)?;
        let files = changes(&opened.state_file, &opened.memories, &step.state)?;
        let did = format!("the cycle is a fresh one. {}", told(&found.id, &step.state));
        Ok((files, did))
    })?;
    Ok(format!("{did}\n"))
}

fn now(args: &Args, cmd: &CommandContext) -> Result {
    cmd.permit(Name::Review)?;
    let context = cmd.context()?;
    let opened = args.which.open(&context)?;
    let which = Which {
        plan: Some(opened.dir.id.clone()),
    };
    cmd.commit(Name::Review, "plan review --now", |context| {
        let opened = which.open(context)?;
        let step = verbs::review_now(opened.plan()?, &cmd.actor())?;
        let did = format!("the review of plan '{}' is requested", opened.dir.id);
        Ok((remembered(&opened.memories, &step.state)?, did))
    })?;
    let stop = Event::stop(cmd.env.agent_session(), Chain::First);
    let payload = Payload::played(stop, context.project.worktree.clone(), cmd.env.now());
    let context = context.seen_by(Caller::Command {
        event: Some(&payload),
        subject: Some(&opened.dir.id),
    });
    let (answer, rule) = drive_by_command(&context, &payload, Name::Review);
    let mut out = String::new();
    if let Decision::Stop { hold } = &answer.decision
        && !hold.is_empty()
    {
        out += &format!("{}\n", hold.text());
    }
    for note in &answer.notes {
        out += &format!("{}\n", note.text);
    }
    if let Upshot::Reviewed | Upshot::Passed | Upshot::Skipped = Upshot::of(&rule) {
        return Ok(out);
    }
    Err(CliError::undone("the review did not start", &out)
        .hint("`mainspring plan status` says what the plan waits for"))
}
