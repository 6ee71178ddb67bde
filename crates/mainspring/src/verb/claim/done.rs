//! `mainspring claim done`: a person's word that the issue may be closed.

use mainspring_kernel::machines::claim::State;
use mainspring_kernel::machines::claim::memory::{ClaimMemory, Consent};
use mainspring_kernel::machines::claim::phase::Phase;
use mainspring_kernel::{Decision, Name, Note, Voice};
use serde_json::json;

use super::{CommandContext, Result};
use crate::drive::drive;
use crate::error::CliError;
use crate::event_context::EventContext;
use crate::host::claude;
use crate::machine::{self, claim};

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
    let session = cmd.env.agent_session();
    let mut phase = String::new();
    let did = cmd.commit("claim done", |context| {
        let (state, found) = claim::state(context)?;
        let (mut claim, memory) = super::claimed(&state)?;
        phase = claim.phase.as_str().into();
        match (&session, args.yes) {
            (None, true) => {}
            (None, false) => {
                return Err(CliError::new(format!(
                    "issue #{} would be closed",
                    claim.issue_number
                ))
                .hint("`mainspring claim done --yes` closes it"));
            }
            (Some(_), _) => heard(&claim.phase, &memory, claim.issue_number)?,
        }
        claim.phase = Phase::Done;
        let issue = claim.issue_number;
        let memory = ClaimMemory {
            owner: session.clone().or(memory.owner.clone()),
            ..memory
        };
        let next = State::Claimed { claim, memory };
        let files = claim::changes(&found, &state, &next)?;
        Ok((files, format!("issue #{issue} may be closed")))
    })?;
    if session.is_some() {
        return Ok(format!("{did}: it is closed when you stop\n"));
    }
    close_now(cmd)
}

/// An agent needs a person's prompt after the merge was reported.
fn heard(phase: &Phase, memory: &ClaimMemory, issue: u64) -> Result<()> {
    let merged = matches!(phase, Phase::MergedDetected | Phase::Done);
    match memory.consent {
        Consent::Spoken if merged => Ok(()),
        Consent::NotAsked | Consent::Asked if merged => Err(CliError::new(format!(
            "the user has not answered since the merge was reported: ask them whether to close issue #{issue}"
        ))
        .hint("their next message counts; or they run `mainspring claim done --yes` in a terminal")),
        Consent::NotAsked | Consent::Asked | Consent::Spoken => Err(CliError::new(
            "the pull request has not been seen merged yet",
        )
        .hint("`mainspring claim status --now` looks; a person can run `mainspring claim done --yes`")),
    }
}

/// No agent stops here, so the stop at which it would be closed is ours.
fn close_now(cmd: &CommandContext) -> Result {
    let (project, store) = cmd.project()?;
    let stop = json!({
        "hook_event_name": "Stop",
        "cwd": project.worktree,
        "at": cmd.env.now(),
    });
    let payload = claude::decode(stop.to_string().into_bytes()).map_err(CliError::new)?;
    // A person typed it: that is their permission.
    let context =
        EventContext::new(&cmd.env, &project, &store, Some(&payload)).registered(Name::Claim);
    let row = machine::row(Name::Claim)
        .ok_or_else(|| CliError::new("internal: claim is not built in"))?;
    let answer = drive(&context, &payload, &[row]);
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
