//! A chart of a plan's reviews: a bar per round, as high as its cost, in the colour of its verdict,
//! with the number of its findings on top.

use mainspring_kernel::machines::review::messages::dollars;
use maud::{Markup, html};

use super::bits;
use crate::machines::review::history::{self, Past};

/// The latest rounds that fit.
const MOST: usize = 24;
/// Room for the number of findings.
const HEAD: u64 = 16;
const HEIGHT: u64 = HEAD + 120;
const BAR: usize = 28;
const GAP: usize = 10;
const LEFT: usize = 8;
const FOOT: u64 = 34;
/// A bar can be seen even if the round cost nothing.
const LEAST: u64 = 4;

pub(super) fn reviews(past: &[Past]) -> Markup {
    let past = &past[past.len().saturating_sub(MOST)..];
    let most = past
        .iter()
        .map(|round| round.cost)
        .max()
        .unwrap_or(0)
        .max(1);
    let width = LEFT * 2 + past.len() * (BAR + GAP);
    let height = HEIGHT + FOOT;
    html! {
        figure.chart {
            figcaption { "What each round cost, and above it how many findings were open after it. The most expensive one cost " (dollars(most)) "." }
            div.scroll tabindex="0" role="region" aria-label="Chart of the rounds" {
                svg role="img" aria-label=(words(past)) width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } {
                    @for (index, round) in past.iter().enumerate() {
                        @let verdict = history::verdict(&round.result);
                        @let bar = (round.cost * (HEIGHT - HEAD - LEAST) / most).max(LEAST);
                        @let x = LEFT + index * (BAR + GAP);
                        g {
                            title { (bits::text(&round.file)) ", " (bits::text(&round.model)) ": " (verdict) ", " (dollars(round.cost)) }
                            rect.bar.pass[verdict == "PASS"].fail[verdict == "FAIL"] x=(x) y=(HEIGHT - bar) width=(BAR) height=(bar) rx="3" {}
                            @if let Some(count) = round.findings {
                                text x=(x + BAR / 2) y=(HEIGHT - bar - 4) text-anchor="middle" { (count) }
                            }
                            text x=(x + BAR / 2) y=(HEIGHT + 14) text-anchor="middle" { (round.iteration) }
                            text.mark x=(x + BAR / 2) y=(HEIGHT + 29) text-anchor="middle" { (mark(verdict)) }
                        }
                    }
                }
            }
        }
    }
}

/// So that nobody has to tell colours apart.
fn mark(verdict: &str) -> &'static str {
    match verdict {
        "PASS" => "✓",
        "FAIL" => "✗",
        _ => "–",
    }
}

/// The chart for somebody who does not see it.
fn words(past: &[Past]) -> String {
    let rounds = past.iter().map(|round| {
        let verdict = history::verdict(&round.result);
        let findings = match round.findings {
            None => String::new(),
            Some(1) => ", 1 finding".into(),
            Some(count) => format!(", {count} findings"),
        };
        format!(
            "round {}: {verdict}{findings}, {}",
            round.iteration,
            dollars(round.cost)
        )
    });
    rounds.collect::<Vec<_>>().join("; ")
}
