//! `mainspring claim list`: who has which issue, as the git server knows it.

use mainspring_kernel::Millis;
use mainspring_kernel::hidden::escape_name;
use serde_json::json;

use super::{CommandContext, Result, github_context};
use crate::error::CliError;
use crate::event_context::EventContext;
use crate::machine::claim::lease::{self, Holder};

/// Show every claim on the git server: issue, who, since when, last heard, phase, branch.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, cmd: &CommandContext) -> Result {
    cmd.permit(mainspring_kernel::Name::Claim)?;
    let (project, store) = cmd.project()?;
    let context = EventContext::new(&cmd.env, &project, &store, None);
    let github_context = github_context(&context)?;
    let claims = lease::list(&github_context.programs.git, &github_context.base.name);
    let claims = claims.map_err(CliError::new)?;
    if args.json {
        let claims: Vec<_> = claims
            .iter()
            .map(|(issue, holder)| row(*issue, holder))
            .collect();
        return crate::verb::json_list("claims", &claims);
    }
    if claims.is_empty() {
        return Ok(format!(
            "no issue of {} is claimed\n",
            github_context.base.repository
        ));
    }
    Ok(table(&claims, cmd.env.now()))
}

fn row(issue: u64, holder: &Holder) -> serde_json::Value {
    json!({
        "issue": issue,
        "owner": holder.owner,
        "agent": holder.agent,
        "since": crate::verb::timestamp(holder.at),
        "heard": crate::verb::timestamp(holder.heard),
        "phase": holder.phase,
        "branch": holder.branch,
        "generation": holder.generation,
    })
}

fn table(claims: &[(u64, Holder)], now: Millis) -> String {
    let unknown = |text: &str| {
        if text.is_empty() {
            "?".to_owned()
        } else {
            escape_name(text).into_owned()
        }
    };
    let head = ["issue", "who", "since", "heard", "phase", "branch"].map(str::to_owned);
    let rows = claims.iter().map(|(issue, holder)| {
        [
            format!("#{issue}"),
            unknown(&holder.owner),
            age(holder.at, now),
            age(holder.heard, now),
            unknown(&holder.phase),
            unknown(&holder.branch),
        ]
    });
    let rows: Vec<[String; 6]> = std::iter::once(head).chain(rows).collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..6).map(width).collect();
    let lines: Vec<String> = rows
        .iter()
        .map(|row| {
            let cells = row.iter().zip(&widths);
            let line: Vec<String> = cells
                .map(|(cell, width)| format!("{cell:width$}"))
                .collect();
            line.join("  ").trim_end().to_owned() + "\n"
        })
        .collect();
    lines.concat()
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
