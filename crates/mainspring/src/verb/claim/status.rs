//! `mainspring claim status`.

use mainspring_kernel::Name;
use mainspring_kernel::hidden::escape_name;
use mainspring_kernel::machines::claim::claim_file::ClaimFile;
use mainspring_kernel::machines::claim::memory::Consent;
use mainspring_kernel::machines::claim::phase::{Next, Phase};
use mainspring_kernel::machines::claim::pull::{Pull, PullState};
use mainspring_kernel::machines::claim::verbs;
use mainspring_store::ShownPath as _;
use serde_json::json;

use super::{CommandContext, Result, github_context};
use crate::error::CliError;
use crate::event_context::EventContext;
use crate::machine::claim::{self, file, poll};

/// Show the claim of this checkout: issue, branch, phase, pull request, waiting messages.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Ask GitHub for the pull request's checks now
    #[arg(long)]
    now: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, cmd: &CommandContext) -> Result {
    let (project, store) = cmd.project()?;
    let context = EventContext::new(&cmd.env, &project, &store, None);
    let pull = args.now.then(|| look(cmd, &context)).transpose()?;
    let (state, found) = claim::state(&context)?;
    let (claim, memory) = verbs::claimed(&state)?;
    let told = pull.as_ref().and_then(|(_, told)| told.clone());
    let mail: Vec<&str> = memory.mail.iter().map(|mail| mail.text.as_str()).collect();
    let mail: Vec<&str> = told.as_deref().into_iter().chain(mail).collect();
    let pull = pull.map(|(pull, _)| pull);
    if args.json {
        return crate::verb::json(&json!({
            "file": found.file.path,
            "issue": claim.issue_number,
            "branch": claim.branch,
            "phase": claim.phase.as_str(),
            "status": claim.status,
            "pr": claim.pr_number,
            "held_on_server": memory.lease,
            "mail": mail,
            "pull": pull,
        }));
    }
    let mut out = describe(&claim);
    if let Some(pull) = &pull {
        out += &format!("checks  {}\n", words(pull));
    }
    if claim.phase == Phase::MergedDetected && memory.consent != Consent::Spoken {
        out += "waits   for the user to say whether to close the issue\n";
    }
    out += match memory.lease {
        Some(_) => "server  reserved on the git server\n",
        None => "server  not reserved on the git server\n",
    };
    for text in mail {
        out += &format!("mail    {}\n", escape_name(text));
    }
    out += &format!("file    {}\n", found.file.path.shown());
    Ok(out)
}

/// What the claim's file says.
fn describe(claim: &ClaimFile) -> String {
    let mut out = format!(
        "issue   #{}\nbranch  {}\nphase   {}\nboard   {}\n",
        claim.issue_number,
        escape_name(&claim.branch),
        claim.phase.as_str(),
        match &claim.last_synced_status {
            Some(synced) if *synced == claim.status => escape_name(synced).into_owned(),
            Some(synced) => {
                let next = escape_name(&claim.status);
                format!("{}, to become {next}", escape_name(synced))
            }
            None => "not synced".into(),
        }
    );
    if let Phase::Failed(failure) = &claim.phase {
        let when = match failure.next {
            Next::At(at) => format!("tried again at the first stop after {}", file::iso(at)),
            Next::Never => "not retried automatically".into(),
        };
        out += &format!(
            "failed  {}, {} times: {}; {when}\n",
            failure.during.as_str(),
            failure.attempts,
            escape_name(&failure.cause)
        );
    }
    if let Some(pr) = claim.pr_number {
        out += &format!("PR      #{pr}\n");
    }
    out
}

fn words(pull: &Pull) -> String {
    match pull.state {
        PullState::Merged => "merged".into(),
        PullState::Closed => "closed without being merged".into(),
        PullState::Open => pull.sentence(),
    }
}

/// Asks GitHub, and records the answer. Returns it with the text that the agent has now read.
fn look(cmd: &CommandContext, context: &EventContext<'_>) -> Result<(Pull, Option<String>)> {
    cmd.permit(Name::Claim)?;
    let (state, _) = claim::state(context)?;
    let pr = verbs::pull(&state)?;
    let pull = poll::poll(&github_context(context)?, pr);
    let pull = pull.map_err(|fault| CliError::new(fault.cause))?;
    let (actor, now) = (cmd.actor(), cmd.env.later());
    // If nothing changed, there is no record.
    if verbs::look(&state, &pull, &actor, now)?.0.rule.is_empty() {
        return Ok((pull, None));
    }
    let mut told = None;
    cmd.commit(Name::Claim, "claim status --now", |context| {
        let (state, found) = claim::state(context)?;
        let (step, text) = verbs::look(&state, &pull, &actor, now)?;
        told = text;
        let files = claim::changes(&found, &state, &step.state)?;
        Ok((files, format!("PR #{}: {}", pull.number, words(&pull))))
    })?;
    Ok((pull, told))
}
