//! `mainspring claim done`: a person agrees that the issue is closed.

use mainspring_kernel::event::Chain;
use mainspring_kernel::machines::claim::verbs;
use mainspring_kernel::machines::verbs::Actor;
use mainspring_kernel::{Decision, Event, Name, Note, Voice};

use super::{CommandContext, Result};
use crate::drive::drive;
use crate::event_context::EventContext;
use crate::host::Payload;
use crate::machine::claim;

/// Close the issue, after its pull request was merged and the user said yes.
///
/// In an agent's shell, the user must have written a message since they were asked. In a
/// terminal, `--yes` confirms it.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Close it now, whatever the phase; refused to agents
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
        Ok((files, format!("the user agreed to close issue #{issue}")))
    })?;
    match actor {
        Actor::Agent(_) => Ok(format!("{did}: Mainspring closes it when you stop\n")),
        Actor::Person => close_now(cmd),
    }
}

/// An issue is closed at a stop. No agent stops here, so this makes the stop.
fn close_now(cmd: &CommandContext) -> Result {
    let (project, store) = cmd.project()?;
    let stop = Event::stop(None, Chain::First);
    let payload = Payload::played(stop, project.worktree.clone(), cmd.env.now());
    // A person typed the command, which is their permission.
    let context = EventContext::new(&cmd.env, &project, &store, Some(&payload))
        .registered(Name::Claim)
        .by_command();
    let answer = drive(&context, &payload, &[Name::Claim]);
    let mut out = String::new();
    if let Decision::Stop { hold } = &answer.decision {
        out += &hold.text();
        out.push('\n');
    }
    // Other notes are about an agent, and there is none here.
    let ours = |note: &&Note| note.by == Voice::Machine(Name::Claim);
    for note in answer.notes.iter().filter(ours) {
        out += &format!("{}\n", note.text);
    }
    Ok(out)
}
