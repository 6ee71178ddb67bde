//! The claimed issue: how far it is, and the checks of its pull request as they were last seen.

use mainspring_kernel::Millis;
use mainspring_kernel::effect::EffectStatus;
use mainspring_kernel::journal::Entry;
use mainspring_kernel::machines::MachineInput;
use mainspring_kernel::machines::claim::pull::{CheckState, Need, Pull, PullState};
use mainspring_kernel::machines::claim::verbs;
use mainspring_kernel::machines::claim::work::Outcome;
use maud::{Markup, html};

use super::super::site::{KnownProject, Site};
use super::{Made, Missing, Page, bits, open};
use crate::machines::claim;
use crate::show::journal_cursor::Shown;
use crate::show::records;

pub(super) fn page(site: &Site, key: &str) -> Made {
    let (known, open) = open(site, key)?;
    let (state, _) = claim::state(&open.context(None))?;
    let (claimed, memory) =
        verbs::claimed(&state).map_err(|refused| Missing(refused.to_string()))?;
    let seen = claimed.pr_number.and_then(|pr| last_seen(&known, pr));
    Ok(Page::new(
        format!("Issue #{}", claimed.issue_number),
        html! {
            p.crumbs { (bits::project_link(key, &known.name())) }
            section #claim data-live aria-labelledby="claim-title" {
                h2 #claim-title { "How far it is" }
                dl.facts {
                    dt { "branch" } dd { (bits::text(&claimed.branch)) }
                    dt { "phase" } dd { (claimed.phase.as_str()) }
                    dt { "board" } dd { (bits::text(&claimed.status)) }
                    @if let Some(pr) = claimed.pr_number { dt { "pull request" } dd { "#" (pr) } }
                    @if let Some(owner) = &memory.owner { dt { "session" } dd { (bits::session_link(owner)) } }
                }
                @if !memory.mail.is_empty() {
                    h3 { "Waits for the agent" }
                    ul { @for mail in &memory.mail { li { (bits::prose(&mail.text)) } } }
                }
            }
            section #checks data-live aria-labelledby="checks-title" {
                h2 #checks-title { "Checks" }
                @match &seen {
                    None => p.empty { (bits::prose("Nothing was seen of them yet. `mainspring claim status --now` asks GitHub.")) },
                    Some((at, pull)) => (checks(*at, pull)),
                }
            }
        },
    ))
}

/// The pull request as the journal last has it.
fn last_seen(known: &KnownProject, number: u64) -> Option<(Millis, Pull)> {
    let records = records::all(&known.dir).ok()?;
    records.into_iter().rev().find_map(|shown| {
        let Shown::Record(record) = shown else {
            return None;
        };
        let Entry::Turn { case, .. } = &record.entry else {
            return None;
        };
        let pull = case.inputs.iter().find_map(polled)?;
        (pull.number == number).then(|| (record.at, pull.clone()))
    })
}

fn polled(input: &MachineInput) -> Option<&Pull> {
    let MachineInput::Claim(input) = input else {
        return None;
    };
    match &input.effect_status {
        EffectStatus::Done(_, Outcome::Polled(pull)) => Some(pull),
        _ => None,
    }
}

fn checks(at: Millis, pull: &Pull) -> Markup {
    let state = match pull.state {
        PullState::Merged => "merged".to_owned(),
        PullState::Closed => "closed without being merged".to_owned(),
        PullState::Open => pull.sentence(),
    };
    html! {
        p { (bits::prose(&state)) ", as of " (bits::time(at)) }
        ul.checks {
            @for check in &pull.checks {
                @let (class, word) = word(check.state);
                li { span.verdict.(class) { (word) } " " (bits::text(&check.name)) @if check.need == Need::Required { " " span.rule { "required" } } }
            }
            @for name in &pull.awaited { li { span.verdict { "awaited" } " " (bits::text(name)) } }
        }
    }
}

const fn word(state: CheckState) -> (&'static str, &'static str) {
    match state {
        CheckState::Passed => ("pass", "passed"),
        CheckState::Failed => ("fail", "failed"),
        CheckState::Running => ("running", "running"),
    }
}
