//! `mainspring plan review --now`: run the review that is due, without waiting for a stop.

use mainspring_kernel::event::Chain;
use mainspring_kernel::machines::review::verbs;
use mainspring_kernel::{Decision, Event, Name};

use super::{Which, plan, remembered};
use crate::drive::drive;
use crate::event_context::EventContext;
use crate::host::Payload;
use crate::verb::{CommandContext, Result};

/// Run the review that is due, or retry a parked one, without waiting for a stop
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Start it now. It takes minutes and costs money, so this must be given
    #[arg(long = "now", required = true)]
    _now: bool,
    #[command(flatten)]
    which: Which,
}

pub(super) fn run(args: &Args, cmd: &CommandContext) -> Result {
    cmd.permit(Name::Review)?;
    let (project, store) = cmd.project()?;
    let context = EventContext::new(&cmd.env, &project, &store, None);
    let opened = args.which.open(&context)?;
    let which = Which {
        plan: Some(opened.dir.id.clone()),
    };
    cmd.commit(Name::Review, "plan review --now", |context| {
        let opened = which.open(context)?;
        let step = verbs::review_now(&plan(&opened), &cmd.actor())?;
        let did = format!("the review of plan '{}' is requested", opened.dir.id);
        Ok((remembered(&opened.memories, &step.state)?, did))
    })?;
    let stop = Event::stop(cmd.env.agent_session(), Chain::First);
    let payload = Payload::played(stop, project.worktree.clone(), cmd.env.now());
    let context = EventContext::new(&cmd.env, &project, &store, Some(&payload))
        .by_command()
        .about_subject(&opened.dir.id);
    let answer = drive(&context, &payload, &[Name::Review]);
    let mut out = String::new();
    if let Decision::Stop { hold } = &answer.decision
        && !hold.is_empty()
    {
        out += &format!("{}\n", hold.text());
    }
    for note in &answer.notes {
        out += &format!("{}\n", note.text);
    }
    Ok(out)
}
