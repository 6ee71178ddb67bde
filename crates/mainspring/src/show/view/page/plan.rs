//! One plan: where it stands, what was found, and its reviews with their verdicts and cost.

use mainspring_kernel::machines::review::findings::{Entry, EntryState};
use mainspring_kernel::machines::review::messages::dollars;
use maud::{Markup, html};

use super::super::site::Site;
use super::{Made, Missing, Page, bits, chart, open};
use crate::machines::review as plans;
use crate::machines::review::commands::view::{self, Status};
use crate::machines::review::history;

pub(super) fn page(site: &Site, key: &str, plan: &str) -> Made {
    let (known, open) = open(site, key)?;
    let context = open.context(None);
    let opened = plans::open(&context, Some(plan))?;
    let opened = opened.ok_or_else(|| Missing(format!("There is no plan {plan} here.")))?;
    let status = view::look(&context, &opened)?;
    Ok(Page::new(
        format!("Plan {}", status.plan),
        html! {
            p.crumbs { (bits::project_link(key, &known.name())) }
            section #plan data-live aria-labelledby="plan-title" {
                h2 #plan-title { "Where it stands" }
                (facts(&status))
            }
            section #findings data-live aria-labelledby="findings-title" {
                h2 #findings-title { "Findings" }
                @if status.findings.is_empty() { p.empty { "No finding is open." } }
                @else { (findings(&status)) }
            }
            section #reviews data-live aria-labelledby="reviews-title" {
                h2 #reviews-title { "Reviews" }
                @if status.reviews.is_empty() { p.empty { "No review has run yet." } }
                @else { (chart::reviews(&status.reviews)) (table(&status)) }
            }
        },
    ))
}

fn facts(status: &Status) -> Markup {
    let most = status.max_cost.map(|most| format!(" of {}", dollars(most)));
    html! {
        dl.facts {
            dt { "stage" } dd { (status.stage) }
            @if let Some(fields) = &status.state {
                dt { "reviews" }
                dd {
                    (fields.phase_iteration.unwrap_or(0)) " of " (fields.max_reviews) ", "
                    (fields.consecutive_clean) " clean in a row, " (bits::text(&fields.review_model)) " is next"
                }
                @if let Some(task) = &fields.current_task { dt { "task" } dd { (bits::text(task)) } }
            }
            dt { "belongs to" } dd { (bits::text(status.owner.as_deref().unwrap_or("nobody"))) }
            dt { "spent" } dd { (dollars(status.spent)) (most.unwrap_or_default()) }
            dt { "next step" } dd { (bits::prose(&status.next_step)) }
        }
        @for problem in &status.problems { p.problem { (bits::prose(problem)) } }
    }
}

fn findings(status: &Status) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Open findings" {
            table {
                thead { tr { th scope="col" { "id" } th scope="col" { "severity" } th scope="col" { "place" } th scope="col" { "claim" } th scope="col" { "state" } th scope="col" { "the agent's answer" } } }
                tbody {
                    @for entry in &status.findings {
                        tr {
                            td { (bits::text(&entry.id)) } td { (entry.severity.as_str()) }
                            td { (bits::text(entry.place.as_deref().unwrap_or("–"))) } td { (bits::text(&entry.claim)) }
                            td { (state(entry)) }
                            td {
                                @match &entry.answer {
                                    Some((how, why)) => { (how.as_str()) ": " (bits::text(why)) }
                                    None => { "–" }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Where an open finding stands.
fn state(entry: &Entry) -> &'static str {
    match entry.state {
        _ if entry.is_contested() => "you decide",
        EntryState::New => "new",
        _ if entry.unfixed > 0 => "not fixed",
        _ => "open",
    }
}

fn table(status: &Status) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="All reviews" {
            table {
                thead { tr { th scope="col" { "when" } th scope="col" { "review" } th scope="col" { "model" } th scope="col" { "verdict" } th scope="col" { "findings" } th scope="col" { "took" } th scope="col" { "cost" } } }
                tbody {
                    @for past in status.reviews.iter().rev() {
                        @let verdict = history::verdict(&past.result);
                        tr {
                            td { (bits::time(past.at)) } td { (bits::text(&past.file)) } td { (bits::text(&past.model)) }
                            td { span.verdict.pass[verdict == "PASS"].fail[verdict == "FAIL"] { (verdict) } }
                            td { @if let Some(count) = past.findings { (count) } @else { "–" } }
                            td { (history::seconds(past.took)) } td { (dollars(past.cost)) }
                        }
                    }
                }
            }
        }
    }
}
