//! `mainspring claim list`: who has which issue, as the git server knows it.

use mainspring_kernel::Millis;
use mainspring_kernel::hidden::escape_name;
use serde_json::json;

use super::{CommandContext, Result, github_context};
use crate::error::CliError;
use crate::machines::claim::lease::{self, Holder};

/// Show every claim on the git server: issue, who, since when, last heard, phase, branch.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, cmd: &CommandContext) -> Result {
    cmd.permit(mainspring_kernel::Name::Claim)?;
    let context = cmd.context()?;
    let github = github_context(&context)?;
    let mut claims = Vec::new();
    for remote in github.claim_remotes() {
        let listed = lease::list(&github.programs.git, &remote.name);
        let listed = listed.map_err(CliError::new)?.into_iter();
        let repository = remote.repository.to_string();
        claims.extend(listed.map(|(issue, holder)| Claim {
            issue,
            holder,
            repository: repository.clone(),
        }));
    }
    claims.sort_by_key(|claim| claim.issue);
    if args.json {
        let claims: Vec<_> = claims.iter().map(Claim::json).collect();
        return crate::command::json_list("claims", &claims);
    }
    if claims.is_empty() {
        return Ok(format!(
            "no issue of {} is claimed\n",
            github.base.repository
        ));
    }
    let base = github.base.repository.to_string();
    Ok(table(&claims, &base, cmd.env.now()))
}

/// A claim, and the repository whose git server has it.
struct Claim {
    issue: u64,
    holder: Holder,
    repository: String,
}

impl Claim {
    fn json(&self) -> serde_json::Value {
        let holder = &self.holder;
        json!({
            "issue": self.issue,
            "owner": holder.owner,
            "agent": holder.agent,
            "since": crate::command::timestamp(holder.at),
            "heard": crate::command::timestamp(holder.heard),
            "phase": holder.phase,
            "branch": holder.branch,
            "generation": holder.generation,
            "repository": self.repository,
        })
    }

    /// Of a claim in a fork, the branch is named with its repository.
    fn row(&self, base: &str, now: Millis) -> [String; 6] {
        let known = |text: &str| match text {
            "" => "?".to_owned(),
            text => escape_name(text).into_owned(),
        };
        let mut branch = known(&self.holder.branch);
        if self.repository != base {
            branch += &format!(" in {}", self.repository);
        }
        [
            format!("#{}", self.issue),
            known(&self.holder.owner),
            age(self.holder.at, now),
            age(self.holder.heard, now),
            known(&self.holder.phase),
            branch,
        ]
    }
}

/// One line for each, below a heading.
fn table(claims: &[Claim], base: &str, now: Millis) -> String {
    let head = ["issue", "who", "since", "heard", "phase", "branch"].map(str::to_owned);
    let rows = claims.iter().map(|claim| claim.row(base, now));
    let rows: Vec<[String; 6]> = std::iter::once(head).chain(rows).collect();
    let widths: [usize; 6] = std::array::from_fn(|column| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    });
    let mut out = String::new();
    for row in &rows {
        let cells = row.iter().zip(widths);
        let line: Vec<String> = cells
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        out += line.join("  ").trim_end();
        out.push('\n');
    }
    out
}

/// How long ago, in the largest unit that is not zero.
fn age(at: Millis, now: Millis) -> String {
    let minutes = now.since(at).0 / 60_000;
    match (minutes / 1_440, minutes / 60, minutes) {
        (0, 0, 0) => "now".into(),
        (0, 0, minutes) => format!("{minutes} min ago"),
        (0, hours, _) => format!("{hours} h ago"),
        (days, ..) => format!("{days} d ago"),
    }
}
