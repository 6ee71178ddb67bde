//! `mainspring claim status`.

use mainspring_kernel::machines::claim::State;
use mainspring_kernel::machines::claim::memory::Consent;
use mainspring_kernel::machines::claim::phase::{Next, Phase};
use mainspring_kernel::machines::claim::pull::PullState;
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
    let (state, found) = claim::state(&context)?;
    let State::Claimed { claim, memory } = &state else {
        return super::claimed(&state).map(|_| String::new());
    };
    let pull = match (args.now, claim.pr_number) {
        (true, Some(pr)) => {
            let github_context = github_context(&context)?;
            Some(poll::poll(&github_context, pr).map_err(|fault| CliError::new(fault.cause))?)
        }
        (true, None) => {
            return Err(CliError::new("there is no pull request yet")
                .hint("`mainspring handoff --summary \"…\"` asks for one"));
        }
        (false, _) => None,
    };
    if args.json {
        let mail: Vec<&str> = memory.mail.iter().map(|mail| mail.text.as_str()).collect();
        return crate::verb::json(&json!({
            "file": found[0].path,
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
    let mut out = format!(
        "issue   #{}\nbranch  {}\nphase   {}\nboard   {}\n",
        claim.issue_number,
        claim.branch,
        claim.phase.as_str(),
        match &claim.last_synced_status {
            Some(synced) if *synced == claim.status => claim.status.clone(),
            Some(synced) => format!("{synced}, to become {}", claim.status),
            None => "not synced".into(),
        }
    );
    if let Phase::Failed(failure) = &claim.phase {
        let when = match failure.next {
            Next::At(at) => format!("tried again at the first stop after {}", file::iso(at)),
            Next::Never => "not tried again by itself".into(),
        };
        out += &format!(
            "failed  {}, {} times: {}; {when}\n",
            failure.during.as_str(),
            failure.attempts,
            failure.cause
        );
    }
    if let Some(pr) = claim.pr_number {
        out += &format!("PR      #{pr}\n");
    }
    if let Some(pull) = &pull {
        out += &match pull.state {
            PullState::Merged => "checks  merged\n".to_owned(),
            PullState::Closed => "checks  closed without being merged\n".to_owned(),
            PullState::Open => format!("checks  {}\n", pull.sentence()),
        };
    }
    if claim.phase == Phase::MergedDetected && memory.consent != Consent::Spoken {
        out += "waits   for the user's word on closing the issue\n";
    }
    out += match memory.lease {
        Some(_) => "server  reserved on the git server\n",
        None => "server  not reserved on the git server\n",
    };
    for mail in &memory.mail {
        out += &format!("mail    {}\n", mail.text);
    }
    out += &format!("file    {}\n", found[0].path.display());
    Ok(out)
}
