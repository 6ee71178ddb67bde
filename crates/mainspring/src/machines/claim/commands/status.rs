//! `mainspring claim status`.

use std::path::PathBuf;

use mainspring_kernel::Name;
use mainspring_kernel::hidden::escape_name;
use mainspring_kernel::machines::claim::State;
use mainspring_kernel::machines::claim::claim_file::ClaimFile;
use mainspring_kernel::machines::claim::memory::{ClaimMemory, Consent};
use mainspring_kernel::machines::claim::phase::{Next, Phase};
use mainspring_kernel::machines::claim::pull::{Pull, PullState};
use mainspring_kernel::machines::claim::rounds;
use mainspring_kernel::machines::claim::trouble::LookTrouble;
use mainspring_kernel::machines::claim::verbs;
use mainspring_store::ShownPath as _;
use serde_json::{Value, json};

use super::{CommandContext, Result, github_context};
use crate::context::EventContext;
use crate::machines::claim::{self, file, places, poll};

/// Show the claims of this repository: issue, branch, phase, pull request, waiting messages.
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
    let context = cmd.context()?;
    let here = claim::place(&context);
    let pull = args.now.then(|| look(cmd, &context)).transpose()?;
    let most = context.config()?.claim.max_ci_rounds;
    let mut others: Vec<PathBuf> = places::all(&context);
    others.retain(|place| *place != here);
    let own = match claim::state_at(&context, &here)? {
        (State::Unclaimed(_), _) if !others.is_empty() => None,
        (state, found) => Some(view(&state, &found, pull, most)?),
    };
    let elsewhere: Vec<View> = others
        .iter()
        .filter_map(|place| {
            let (state, found) = claim::state_at(&context, place).ok()?;
            view(&state, &found, None, most).ok()
        })
        .collect();
    if args.json {
        let mut value = own.as_ref().map_or_else(|| json!({}), View::json);
        value["others"] = elsewhere.iter().map(View::json).collect();
        return crate::command::json(&value);
    }
    let mut text = match own {
        Some(own) => own.text(),
        None => "no issue is claimed in this checkout\n".into(),
    };
    if !elsewhere.is_empty() {
        let elsewhere: Vec<String> = elsewhere.iter().map(View::text).collect();
        let elsewhere = elsewhere.join("\n");
        text += &format!("\nin other checkouts of this repository\n\n{elsewhere}");
    }
    Ok(cmd.fitted(&text))
}

/// One claim, as a person sees it.
struct View {
    claim: ClaimFile,
    memory: ClaimMemory,
    file: PathBuf,
    pull: Option<Pull>,
    /// Red CI that waits for the person.
    waits: Option<String>,
    /// What the agent has just read, and what waits.
    mail: Vec<String>,
}

fn view(
    state: &State,
    found: &claim::Found,
    pull: Option<(Pull, Option<String>)>,
    most: u32,
) -> Result<View> {
    let (claim, memory) = verbs::claimed(state)?;
    let (pull, told) = pull.unzip();
    let waiting = memory.mail.iter().map(|mail| mail.text.clone());
    Ok(View {
        mail: told.flatten().into_iter().chain(waiting).collect(),
        file: found.file.path.clone(),
        waits: rounds::waiting(&claim, &memory, most),
        claim,
        memory,
        pull,
    })
}

impl View {
    fn json(&self) -> Value {
        let trouble = self.memory.trouble.as_ref();
        json!({
            "file": self.file,
            "issue": self.claim.issue_number,
            "branch": self.claim.branch,
            "phase": self.claim.phase.as_str(),
            "status": self.claim.status,
            "pr": self.claim.pr_number,
            "held_on_server": self.memory.lease,
            "session": self.memory.owner,
            "trouble": trouble.map(LookTrouble::words),
            "mail": self.mail,
            "pull": self.pull,
        })
    }

    fn text(&self) -> String {
        let mut out = describe(&self.claim);
        // Without a look now, what the last one saw.
        let seen = &self.memory.told.said;
        let checks = match &self.pull {
            Some(pull) => words(pull),
            None if self.claim.phase == Phase::ChecksRunning => seen.clone(),
            None => String::new(),
        };
        if !checks.is_empty() {
            out += &format!("checks  {}\n", escape_name(&checks));
        }
        if self.claim.phase == Phase::MergedDetected && self.memory.consent != Consent::Spoken {
            out += "waits   for the user to say whether to close the issue\n";
        }
        if let Some(waits) = &self.waits {
            out += &format!("waits   {waits}\n");
        }
        out += &match (&self.memory.lost, &self.memory.lease) {
            (Some(by), _) => format!("server  taken over by {}\n", escape_name(by)),
            (None, Some(_)) => "server  reserved on the git server\n".into(),
            (None, None) => "server  not reserved on the git server\n".into(),
        };
        if let Some(trouble) = &self.memory.trouble {
            out += &format!("trouble {}\n", trouble.words());
        }
        for text in &self.mail {
            out += &format!("mail    {}\n", escape_name(text));
        }
        out + &format!("file    {}\n", self.file.shown())
    }
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
            Next::At(at) => format!("tried again after {}", file::iso(at)),
            Next::Never => "not tried again by itself; `mainspring claim retry` does".into(),
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

pub(super) fn words(pull: &Pull) -> String {
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
    let known = state.memory().and_then(ClaimMemory::known_failure);
    let pull = poll::poll(&github_context(context)?, pr, known.as_deref())?;
    let phrases = claim::phrases(context.config()?);
    let told = super::take_in(cmd, "claim status --now", &pull, &phrases)?;
    Ok((pull, told))
}
