//! `mainspring claim done`: a person's word that the issue may be closed.

use mainspring_kernel::event::Chain;
use mainspring_kernel::machines::claim::verbs;
use mainspring_kernel::machines::verbs::Actor;
use mainspring_kernel::{Decision, Event, Name, Note, Voice};

use super::{CommandContext, Result};
use crate::drive::drive;
use crate::event_context::EventContext;
use crate::host::Payload;
use crate::machine::claim;

/// The pull request is merged and the user said yes: close the issue.
///
/// In an agent's shell the user must have written something after they were asked; in a
/// terminal, `--yes` is their word.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Close it without being asked again: only outside an agent
    #[arg(long)]
    yes: bool,
}

pub(super) fn run(args: &Args, cmd: &CommandContext) -> Result {
    cmd.permit(Name::Claim)?;
    let actor = cmd.actor();
    let did = cmd.commit(Name::Claim, "claim done", |context| {
        let (state, found) = claim::state(context)?;
        let step = verbs::done(&state, &actor, args.yes)?;
        let issue = verbs::claimed(&state)?.0.issue_number;
        let files = claim::changes(&found, &state, &step.state)?;
        Ok((files, format!("issue #{issue} may be closed")))
    })?;
    match actor {
        Actor::Agent(_) => Ok(format!("{did}: it is closed when you stop\n")),
        Actor::Person => close_now(cmd),
    }
}

/// No agent stops here, so the stop at which it would be closed is ours.
fn close_now(cmd: &CommandContext) -> Result {
    let (project, store) = cmd.project()?;
    let stop = Event::stop(None, Chain::First);
    let payload = Payload::played(stop, project.worktree.clone(), cmd.env.now());
    // A person typed it: that is their permission.
    let context = EventContext::new(&cmd.env, &project, &store, Some(&payload))
        .registered(Name::Claim)
        .by_command();
    let answer = drive(&context, &payload, &[Name::Claim]);
    let mut out = String::new();
    if let Decision::Stop { hold } = &answer.decision {
        out += &hold.text();
        out.push('\n');
    }
    // No agent is here that Mainspring itself would speak about.
    let ours = |note: &&Note| note.by == Voice::Machine(Name::Claim);
    for note in answer.notes.iter().filter(ours) {
        out += &format!("{}\n", note.text);
    }
    Ok(out)
}
