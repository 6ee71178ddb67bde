//! One plan: where it stands, and its reviews with their verdicts and cost.

use mainspring_kernel::machines::review::messages::dollars;
use maud::{Markup, html};

use super::super::super::plan::view::{self, Status};
use super::super::project_state::OpenProject;
use super::super::site::Site;
use super::{Made, Missing, Page, Part, bits, chart, find};
use crate::machine::review as plans;
use crate::machine::review::history;

pub(super) fn page(site: &Site, key: &str, plan: &str) -> Made {
    let known = find(site, key)?;
    let open = OpenProject::new(site, known.clone());
    let open = open.map_err(|trouble| Missing(trouble.to_string()))?;
    let context = open.context(None);
    let opened =
        plans::open(&context, Some(plan)).map_err(|trouble| Missing(trouble.to_string()))?;
    let opened = opened.ok_or_else(|| Missing(format!("There is no plan {plan} here.")))?;
    let status = view::look(&context, &opened).map_err(|error| Missing(error.cause))?;
    Ok(Page {
        title: format!("Plan {}", status.plan),
        needs: 0,
        part: Part::Other,
        body: html! {
            p.crumbs { (bits::project_link(key, &known.name())) }
            section #plan data-live aria-labelledby="plan-title" {
                h2 #plan-title { "Where it stands" }
                (facts(&status))
            }
            section #reviews data-live aria-labelledby="reviews-title" {
                h2 #reviews-title { "Reviews" }
                @if status.reviews.is_empty() { p.empty { "No review has run yet." } }
                @else { (chart::reviews(&status.reviews)) (table(&status)) }
            }
        },
    })
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

fn table(status: &Status) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="All reviews" {
            table {
                thead { tr { th scope="col" { "when" } th scope="col" { "review" } th scope="col" { "model" } th scope="col" { "verdict" } th scope="col" { "took" } th scope="col" { "cost" } } }
                tbody {
                    @for past in status.reviews.iter().rev() {
                        @let verdict = history::verdict(&past.result);
                        tr {
                            td { (bits::time(past.at)) } td { (bits::text(&past.file)) } td { (bits::text(&past.model)) }
                            td { span.verdict.pass[verdict == "PASS"].fail[verdict == "FAIL"] { (verdict) } }
                            td { (history::seconds(past.took)) } td { (dollars(past.cost)) }
                        }
                    }
                }
            }
        }
    }
}
