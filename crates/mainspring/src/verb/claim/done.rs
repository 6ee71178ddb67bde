//! `mainspring claim done`: a person's word that the issue may be closed.

use mainspring_kernel::machines::claim::State;
use mainspring_kernel::machines::claim::memo::{Consent, Memo};
use mainspring_kernel::machines::claim::phase::Phase;
use mainspring_kernel::{Decision, Name, Note, Voice};
use serde_json::json;

use super::{Desk, Result};
use crate::drive::drive;
use crate::error::CliError;
use crate::host::claude;
use crate::machine::{self, claim};
use crate::scene::Scene;

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

pub(super) fn run(args: &Args, desk: &Desk) -> Result {
    let session = desk.world.agent_session();
    let mut phase = String::new();
    let did = desk.commit("claim done", |scene| {
        let (state, found) = claim::state(scene)?;
        let (mut signal, memo) = super::claimed(&state)?;
        phase = signal.phase.as_str().into();
        match (&session, args.yes) {
            (None, true) => {}
            (None, false) => {
                return Err(CliError::new(format!(
                    "issue #{} would be closed",
                    signal.issue_number
                ))
                .hint("`mainspring claim done --yes` closes it"));
            }
            (Some(_), _) => heard(&signal.phase, &memo, signal.issue_number)?,
        }
        signal.phase = Phase::Done;
        let issue = signal.issue_number;
        let memo = Memo {
            owner: session.clone().or(memo.owner.clone()),
            ..memo
        };
        let next = State::Claimed { signal, memo };
        let files = claim::changes(&found, &state, &next)?;
        Ok((files, format!("issue #{issue} may be closed")))
    })?;
    if session.is_some() {
        return Ok(format!("{did}: it is closed when you stop\n"));
    }
    close_now(desk)
}

/// An agent needs a person's prompt after the merge was reported.
fn heard(phase: &Phase, memo: &Memo, issue: u64) -> Result<()> {
    let merged = matches!(phase, Phase::MergedDetected | Phase::Done);
    match memo.consent {
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
fn close_now(desk: &Desk) -> Result {
    let (site, store) = desk.site()?;
    let stop = json!({
        "hook_event_name": "Stop",
        "cwd": site.here,
        "at": desk.world.now(),
    });
    let payload = claude::decode(stop.to_string().into_bytes()).map_err(CliError::new)?;
    // A person typed it: that is their permission.
    let scene = Scene::new(&desk.world, &site, &store, Some(&payload)).registered(Name::Claim);
    let row = machine::row(Name::Claim)
        .ok_or_else(|| CliError::new("internal: claim is not built in"))?;
    let answer = drive(&scene, &payload, &[row]);
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
