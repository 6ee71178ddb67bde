//! One decision, and why it was made.

use mainspring_kernel::journal::{Entry, Record};
use mainspring_store::digest;
use maud::{Markup, html};

use super::super::super::why::{self, Because, Explanation};
use super::super::route::to;
use super::super::site::Site;
use super::{Made, Missing, Page, Part, bits, find};
use crate::show::journal_cursor::Shown;
use crate::show::records;

pub(super) fn page(site: &Site, key: &str, seq: u64) -> Made {
    let project = find(site, key)?;
    let all = records::all(&project.dir).map_err(|error| Missing(error.cause))?;
    let record = all.into_iter().find_map(|shown| match shown {
        Shown::Record(record) if record.seq == seq => Some(record),
        Shown::Record(_) | Shown::Problem(_) => None,
    });
    let record = record.ok_or_else(|| {
        Missing(format!(
            "The journal has no record #{seq}. Old records are deleted in time."
        ))
    })?;
    let record = record.shareable(digest::REDUCER);
    let name = project.name();
    Ok(Page {
        title: format!("{name} #{seq}"),
        needs: 0,
        part: Part::Timeline,
        body: html! {
            p.crumbs {
                (bits::project_link(key, &name)) " · " (bits::time(record.at))
                @if let Some(session) = record.session() { " · session " (bits::session_link(session)) }
            }
            (explained(key, &record))
            nav.pages aria-label="Neighbours" {
                @if seq > 1 { a rel="prev" href=(at(key, seq - 1)) { "Before" } }
                a rel="next" href=(at(key, seq + 1)) { "After" }
            }
        },
    })
}

fn at(key: &str, seq: u64) -> String {
    to("decision", &[("project", key), ("seq", &seq.to_string())])
}

fn explained(key: &str, record: &Record) -> Markup {
    match &record.entry {
        Entry::Verb { command, did, .. } => html! {
            p.sentence { "Somebody ran " code { "mainspring " (bits::text(command)) } "." }
            p { (bits::prose(did)) }
        },
        Entry::Turn { case, ruling } => why_page(key, &why::explain(record, case, ruling)),
    }
}

fn why_page(key: &str, why: &Explanation) -> Markup {
    html! {
        p.sentence {
            span.event { (bits::text(&why.event)) } " "
            span.outcome.(why.outcome) { (why.outcome) } " "
            (bits::prose(&why.sentence))
        }
        @for because in &why.machines { (because_of(key, because)) }
        @if !why.notes.is_empty() {
            section aria-labelledby="told-title" {
                h2 #told-title { "What you were told" }
                ul { @for note in &why.notes { li { (bits::prose(note)) } } }
            }
        }
    }
}

fn because_of(key: &str, because: &Because) -> Markup {
    let address = to("machine", &[("project", key), ("machine", because.machine)]);
    let said = because.said.as_deref().unwrap_or_default();
    let parts = [
        ("saw", because.saw.as_str()),
        ("because", because.when.as_str()),
        ("so", because.did.as_str()),
        ("said", said),
        ("otherwise", because.otherwise.as_str()),
    ];
    html! {
        section.because aria-label=(because.machine) {
            h2 { a href=(address) { (because.machine) } " " (bits::text(&because.from)) " → " (bits::text(&because.to)) " " span.rule { "rule " (bits::text(&because.rule)) } }
            dl {
                @for (label, words) in parts.iter().filter(|(_, words)| !words.is_empty()) {
                    dt { (label) } dd { (bits::prose(words)) }
                }
            }
        }
    }
}
