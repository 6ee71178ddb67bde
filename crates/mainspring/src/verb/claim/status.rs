//! `mainspring claim status`.

use mainspring_kernel::machines::claim::State;
use mainspring_kernel::machines::claim::memo::Consent;
use mainspring_kernel::machines::claim::phase::{Next, Phase};
use mainspring_kernel::machines::claim::pull::PullState;
use serde_json::json;

use super::{Desk, Result, shop};
use crate::error::CliError;
use crate::machine::claim::{self, file, poll};
use crate::scene::Scene;

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

pub(super) fn run(args: &Args, desk: &Desk) -> Result {
    let (site, store) = desk.site()?;
    let scene = Scene::new(&desk.world, &site, &store, None);
    let (state, found) = claim::state(&scene)?;
    let State::Claimed { signal, memo } = &state else {
        return super::claimed(&state).map(|_| String::new());
    };
    let pull = match (args.now, signal.pr_number) {
        (true, Some(pr)) => {
            let shop = shop(&scene)?;
            Some(poll::poll(&shop, pr).map_err(|fault| CliError::new(fault.cause))?)
        }
        (true, None) => {
            return Err(CliError::new("there is no pull request yet")
                .hint("`mainspring handoff --summary \"…\"` asks for one"));
        }
        (false, _) => None,
    };
    if args.json {
        let mail: Vec<&str> = memo.mail.iter().map(|mail| mail.text.as_str()).collect();
        return crate::verb::json(&json!({
            "file": found[0].path,
            "issue": signal.issue_number,
            "branch": signal.branch,
            "phase": signal.phase.as_str(),
            "status": signal.status,
            "pr": signal.pr_number,
            "held_on_server": memo.lease,
            "mail": mail,
            "pull": pull,
        }));
    }
    let mut out = format!(
        "issue   #{}\nbranch  {}\nphase   {}\nboard   {}\n",
        signal.issue_number,
        signal.branch,
        signal.phase.as_str(),
        match &signal.last_synced_status {
            Some(synced) if *synced == signal.status => signal.status.clone(),
            Some(synced) => format!("{synced}, to become {}", signal.status),
            None => "not synced".into(),
        }
    );
    if let Phase::Failed(failure) = &signal.phase {
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
    if let Some(pr) = signal.pr_number {
        out += &format!("PR      #{pr}\n");
    }
    if let Some(pull) = &pull {
        out += &match pull.state {
            PullState::Merged => "checks  merged\n".to_owned(),
            PullState::Closed => "checks  closed without being merged\n".to_owned(),
            PullState::Open => format!("checks  {}\n", pull.sentence()),
        };
    }
    if signal.phase == Phase::MergedDetected && memo.consent != Consent::Spoken {
        out += "waits   for the user's word on closing the issue\n";
    }
    out += match memo.lease {
        Some(_) => "server  reserved on the git server\n",
        None => "server  not reserved on the git server\n",
    };
    for mail in &memo.mail {
        out += &format!("mail    {}\n", mail.text);
    }
    out += &format!("file    {}\n", found[0].path.display());
    Ok(out)
}
