//! `mainspring claim retry` and `mainspring claim rework`: set the phase without editing the file.

use mainspring_kernel::machines::claim::verbs::{self, Refused};
use mainspring_kernel::machines::claim::{Claim, State};
use mainspring_kernel::verbs::{Actor, VerbStep};

use super::{CommandContext, Result, commit};

/// At the next stop, try again what failed at GitHub.
#[derive(Debug, clap::Args)]
pub(super) struct Retry {}

/// Go on working on the issue: the phase is `coding` again, until the next handoff.
#[derive(Debug, clap::Args)]
pub(super) struct Rework {}

pub(super) fn retry(cmd: &CommandContext) -> Result {
    let what = "is tried again at the next stop";
    change(cmd, "claim retry", verbs::retry, what)
}

pub(super) fn rework(cmd: &CommandContext) -> Result {
    change(cmd, "claim rework", verbs::rework, "is worked on again")
}

fn change(
    cmd: &CommandContext,
    command: &str,
    step: fn(&State, &Actor) -> std::result::Result<VerbStep<Claim>, Refused>,
    what: &str,
) -> Result {
    let did = commit(cmd, command, |state| {
        let issue = verbs::claimed(state)?.0.issue_number;
        let step = step(state, &cmd.actor())?;
        Ok((step.state, format!("issue #{issue} {what}")))
    })?;
    cmd.said_until_trusted(did + "\n")
}
